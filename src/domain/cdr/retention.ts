import type { Clock } from '../../base/clock.ts';
import type { RetentionStore } from './needs.ts';

/** Records deleted in one unit of work: a few milliseconds, in which nothing else is served. */
const BATCH = 50;

/**
 * Deletes call records that are kept too long, and call logs older than `kept.logsMs`; call it daily. Returns
 * how many records.
 */
export async function expireCalls(
  store: RetentionStore,
  clock: Clock,
  kept: { readonly callsMs: number; readonly logsMs: number },
): Promise<number> {
  const nowUs = Math.round(clock.wallMs() * 1000);
  let deleted = 0;
  for (;;) {
    const batch = await store.purgeCalls(nowUs, kept.callsMs, BATCH);
    deleted += batch;
    if (batch < BATCH) break;
  }
  while ((await store.purgeLogs(nowUs, kept.logsMs, BATCH)) === BATCH);
  return deleted;
}
