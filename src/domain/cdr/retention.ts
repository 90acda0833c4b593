import { type Clock, wallUs } from '../../base/clock.ts';
import type { RetentionStore } from './needs.ts';

/** Records deleted per transaction. The store serves no other request during these few milliseconds. */
const BATCH = 50;

/**
 * Deletes call records past their retention and call logs older than `retention.logsMs`. Runs daily. Returns the number of
 * deleted records.
 */
export async function expireCalls(
  store: RetentionStore,
  clock: Clock,
  retention: { readonly callsMs: number; readonly logsMs: number },
): Promise<number> {
  const nowUs = wallUs(clock);
  let deleted = 0;
  for (;;) {
    const batch = await store.purgeCalls(nowUs, retention.callsMs, BATCH);
    deleted += batch;
    if (batch < BATCH) break;
  }
  while ((await store.purgeLogs(nowUs, retention.logsMs, BATCH)) === BATCH);
  return deleted;
}
