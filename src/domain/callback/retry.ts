/** Implements the retry policy: attempts with pauses between them, within one total time limit. */
import { linkedTo } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { err, type Result } from '../../base/result.ts';
import type { ExchangeFailure } from './exchange.ts';
import type { HttpResponse } from './needs.ts';
import type { CallbackPolicy } from './url-options.ts';

/** Makes one attempt of at most `readTimeoutMs`. `signal` aborts it when the total time ends. */
export type AttemptOnce = (
  readTimeoutMs: number,
  signal: AbortSignal,
) => Promise<Result<HttpResponse, ExchangeFailure>>;

export interface RetryRun {
  readonly policy: CallbackPolicy;
  /** Number of attempts that an earlier process made. */
  readonly attemptsBefore: number;
  readonly signal: AbortSignal;
  readonly once: AttemptOnce;
  /** Called after each failed attempt with the number of attempts so far. */
  readonly failed?: (attempts: number) => void;
}

/** Returns the first success or the last failure. Rejects with the signal's reason when aborted. */
export async function withRetries(
  clock: Clock,
  run: RetryRun,
): Promise<Result<HttpResponse, ExchangeFailure>> {
  const { policy, signal } = run;
  const deadlineMs = clock.monotonicMs() + policy.totalMs;
  const { controller, release } = linkedTo(signal);
  let isTimeUp = false;
  const cancel = clock.at(deadlineMs, () => {
    isTimeUp = true;
    controller.abort(new Error('total time has ended'));
  });
  try {
    let attempts = run.attemptsBefore;
    for (;;) {
      const leftMs = deadlineMs - clock.monotonicMs();
      const result = await run.once(Math.min(policy.readTimeoutMs, leftMs), controller.signal);
      signal.throwIfAborted();
      if (result.ok) return result;
      attempts += 1;
      run.failed?.(attempts);
      const failure = isTimeUp ? totalTimeOver(policy) : result.error;
      const reason = failure.retryReason;
      const waitMs = policy.backoffMs[Math.min(attempts, policy.backoffMs.length) - 1] ?? 0;
      const worthIt =
        attempts <= policy.retries &&
        reason !== undefined &&
        policy.retryOn.has(reason) &&
        clock.monotonicMs() + waitMs < deadlineMs;
      if (!worthIt) return err(failure);
      await clock.sleep(waitMs, signal);
    }
  } finally {
    cancel();
    release();
  }
}

const totalTimeOver = (policy: CallbackPolicy): ExchangeFailure => ({
  detail: `no answer within ${policy.totalMs} ms in all`,
  cause: 'timeout',
  retryReason: undefined,
});
