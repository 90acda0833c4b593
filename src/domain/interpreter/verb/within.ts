import { unlessAborted } from '../../../base/abort.ts';
import type { VerbContext } from '../needs.ts';

/** Returns the result of `work`, or undefined after `ms`. Rejects with the signal's reason. */
export async function within<T>(
  ms: number,
  { needs, signal }: Pick<VerbContext, 'needs' | 'signal'>,
  work: Promise<T>,
): Promise<T | undefined> {
  const over = new AbortController();
  const timeout = needs.clock.sleep(ms, AbortSignal.any([signal, over.signal]));
  try {
    return await unlessAborted(signal, Promise.race([work, timeout.then(() => undefined)]));
  } finally {
    over.abort();
  }
}
