/**
 * Waiting in real time, for what has neither an event nor a clock that a test could move: looked for again and again,
 * within a bound. No other file of the tests waits by a timer (test/tidy.test.ts).
 */
import { setTimeout as pause } from 'node:timers/promises';

const LOOK_MS = 50;
const LOOK_OFTEN_MS = 5;

/** What `look` finds, asked for again and again; fails with a name for what did not come. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  limitMs = 15_000,
): Promise<T> {
  return lookFor(what, look, { limitMs, everyMs: LOOK_MS });
}

/** For conditions that cost nothing to look at: asked often. */
export async function until(
  condition: () => boolean,
  what = 'the condition',
  limitMs = 5000,
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
    if (performance.now() > endMs) throw new Error(`did not come within ${limitMs} ms: ${what}`);
    await pause(everyMs);
  }
}
