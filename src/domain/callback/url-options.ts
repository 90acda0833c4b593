import { TOTAL_MS } from './settings.ts';

/** Failure classes of an attempt that can be retried. */
export const RETRY_REASONS = ['connect', 'read', '4xx', '5xx'] as const;
export type RetryReason = (typeof RETRY_REASONS)[number];

/** Policy of one callback URL: the defaults, modified by the URL's fragment. */
export interface CallbackPolicy {
  readonly connectTimeoutMs: number;
  readonly readTimeoutMs: number;
  /** Timeout without received data, in milliseconds. The URL option `rt` also sets it. */
  readonly stallTimeoutMs: number;
  /** Total time for all attempts and pauses, in milliseconds. */
  readonly totalMs: number;
  readonly retries: number;
  /** Pauses before the first, second … retry, in milliseconds. Later retries use the last value. */
  readonly backoffMs: readonly number[];
  readonly retryOn: ReadonlySet<RetryReason>;
}

/** Ranges of the numeric options. Values outside are clamped (dialect §6). */
const RANGES = {
  ct: [100, 10_000],
  rt: [100, 40_000],
  tt: [100, TOTAL_MS],
  rc: [0, 5],
} as const;

const RETRY_WORDS: Readonly<Record<string, readonly RetryReason[]>> = {
  ct: ['connect'],
  rt: ['read'],
  '4xx': ['4xx'],
  '5xx': ['5xx'],
  all: RETRY_REASONS,
};

/**
 * Removes the fragment `#ct=…&rt=…&tt=…&rc=…&rp=…` from a URL and applies it: connect, read and total timeout in ms,
 * retry count, and a list of ct, rt, 4xx, 5xx, all (dialect §6). Ignores unknown or malformed options. The service
 * does not send or sign the fragment.
 */
export function splitUrlOptions(
  url: string,
  defaults: CallbackPolicy,
): { readonly url: string; readonly policy: CallbackPolicy } {
  const hash = url.indexOf('#');
  if (hash < 0) return { url, policy: defaults };
  const options = new Map<string, string>();
  for (const part of url.slice(hash + 1).split('&')) {
    const equals = part.indexOf('=');
    if (equals > 0) options.set(part.slice(0, equals), part.slice(equals + 1));
  }
  const number = (name: keyof typeof RANGES, otherwise: number): number => {
    const written = options.get(name) ?? '';
    if (!/^\d{1,9}$/.test(written)) return otherwise;
    const [least, most] = RANGES[name];
    return Math.min(most, Math.max(least, Number(written)));
  };
  const policy = {
    connectTimeoutMs: number('ct', defaults.connectTimeoutMs),
    readTimeoutMs: number('rt', defaults.readTimeoutMs),
    stallTimeoutMs: number('rt', defaults.stallTimeoutMs),
    totalMs: number('tt', defaults.totalMs),
    retries: number('rc', defaults.retries),
    backoffMs: defaults.backoffMs,
    retryOn: retryReasons(options.get('rp')) ?? defaults.retryOn,
  };
  return { url: url.slice(0, hash), policy };
}

function retryReasons(list: string | undefined): ReadonlySet<RetryReason> | undefined {
  if (list === undefined) return undefined;
  const reasons = list.split(/[,|]|%2C|%7C/i).flatMap((word) => RETRY_WORDS[word] ?? []);
  return reasons.length === 0 ? undefined : new Set(reasons);
}
