/** V8's worker threads for garbage collection and compilation. */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

const THREADS = '/proc/self/task';
const NAME = 'V8Worker';
const LOWER_BY = 10;
const LEAST = 19;

/**
 * Lowers the priority of V8's four worker threads. On few cores, an old-generation collection would otherwise leave
 * the main thread, and thus signaling, a fifth of one core. The main thread helps the workers when it waits for them.
 * Does nothing where threads have no names (other than Linux) or priorities cannot be set.
 */
export function lowerCollectorThreads(): void {
  try {
    for (const thread of readdirSync(THREADS).map(Number)) {
      if (readFileSync(`${THREADS}/${thread}/comm`, 'utf8').trimEnd() === NAME)
        setPriority(thread, Math.min(LEAST, getPriority() + LOWER_BY));
    }
  } catch {
    // Not permitted here, or another system: the priority stays unchanged.
  }
}
