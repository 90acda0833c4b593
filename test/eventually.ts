/**
 * Polls in real time, within a limit, for conditions without an event or an injectable clock.
 * No other file of the tests may wait by a timer (test/tidy.test.ts).
 */
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 50;
const LOOK_OFTEN_MS = 5;

/** Polls `look` until it returns a value, by default for 60 s. Throws an error with `what` after the limit. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  limitMs = 60_000,
): Promise<T> {
  return lookFor(what, look, { limitMs, everyMs: POLL_MS });
}

/** Polls a cheap condition every 5 ms, by default for 60 s. Throws after the limit. */
export async function until(
  condition: () => boolean,
  what = 'the condition',
  limitMs = 60_000,
): Promise<void> {
  const look = (): true | undefined => condition() || undefined;
  await lookFor(what, look, { limitMs, everyMs: LOOK_OFTEN_MS });
}

async function lookFor<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  { limitMs, everyMs }: { readonly limitMs: number; readonly everyMs: number },
): Promise<T> {
  const endMs = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > endMs) throw new Error(`${what} did not happen within ${limitMs} ms`);
    await pause(everyMs);
  }
}
