/** Result of a check of `carillon doctor`. */
type Verdict = 'ok' | 'warning' | 'problem' | 'skipped';

export interface Finding {
  readonly check: string;
  readonly verdict: Verdict;
  readonly found: string;
  /** Suggested fix of warnings and problems, and installation of optional parts. */
  readonly advice?: string;
}

export const good = (check: string, found: string): Finding => ({ check, verdict: 'ok', found });
/** A check that does not apply, or an optional part that is not installed. `advice` says how to install it. */
export const skipped = (check: string, found: string, advice?: string): Finding => ({
  check,
  verdict: 'skipped',
  found,
  ...(advice === undefined ? {} : { advice }),
});
export const warning = (check: string, found: string, advice: string): Finding => ({
  check,
  verdict: 'warning',
  found,
  advice,
});
export const problem = (check: string, found: string, advice: string): Finding => ({
  check,
  verdict: 'problem',
  found,
  advice,
});

export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Time limit of one check, so that a firewall that drops packets does not delay the other checks. */
const CHECK_LIMIT_MS = 8000;

/** As `within`, and aborts the work that is late: a pending request would keep the process running. */
export async function abortedWithin<T>(
  work: (signal: AbortSignal) => Promise<T>,
  limitMs = CHECK_LIMIT_MS,
): Promise<T> {
  const late = new AbortController();
  try {
    return await within(work(late.signal), limitMs);
  } finally {
    late.abort();
  }
}

/** Resolves with the result of `work`, or rejects after `limitMs`. */
export async function within<T>(work: Promise<T>, limitMs = CHECK_LIMIT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
