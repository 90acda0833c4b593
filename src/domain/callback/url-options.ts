import { TOTAL_MS } from './settings.ts';

/** Which failures of an attempt are worth another one. */
export type RetryReason = 'connect' | 'read' | '4xx' | '5xx';

/** The policy of one callback URL: the defaults, changed by the URL's own fragment. */
export interface CallbackPolicy {
  readonly connectTimeoutMs: number;
  readonly readTimeoutMs: number;
  /** Until anything comes; an `rt` of the URL counts for it too. */
  readonly stallTimeoutMs: number;
  /** All attempts and waits together. */
  readonly totalMs: number;
  readonly retries: number;
  /** Wait before the first, second … retry; later ones wait as long as the last. */
  readonly backoffMs: readonly number[];
  readonly retryOn: ReadonlySet<RetryReason>;
}

/** Accepted values of the numeric options; what lies outside is brought to the nearest (dialect §6). */
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
  all: ['connect', 'read', '4xx', '5xx'],
};

/**
 * Takes the fragment `#ct=…&rt=…&tt=…&rc=…&rp=…` off a URL and applies it: connect, read and total timeout in ms, retry count,
 * and a list of ct, rt, 4xx, 5xx, all (dialect §6). Unknown or malformed options change nothing. A fragment is never sent nor signed.
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
