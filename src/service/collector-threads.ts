/** V8's own threads, which collect garbage and compile beside the main thread. */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

const THREADS = '/proc/self/task';
const NAME = 'V8Worker';
const LOWER_BY = 10;
const LEAST = 19;

/**
 * Runs them at a lower priority. They are four: where cores are few, a collection of the old generation would leave the
 * main thread, and with it all signalling, a fifth of one for as long as it lasts. The main thread helps them when it waits
 * for them. Nothing happens where threads have no names (Linux alone has them) or priorities may not be set.
 */
export function lowerCollectorThreads(): void {
  try {
    for (const thread of readdirSync(THREADS).map(Number)) {
      if (readFileSync(`${THREADS}/${thread}/comm`, 'utf8').trimEnd() === NAME)
        setPriority(thread, Math.min(LEAST, getPriority() + LOWER_BY));
    }
  } catch {
    // Not permitted here, or another system: then at the same priority as everything else.
  }
}
