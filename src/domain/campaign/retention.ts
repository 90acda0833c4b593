import { type Clock, wallUs } from '../../base/clock.ts';
import type { CampaignStore } from './needs.ts';

/** Number of rows deleted per transaction. Short enough that no call is delayed. */
const BATCH = 200;

/**
 * Deletes finished campaigns past their retention with their contacts and attempts, and old do-not-call entries. Runs
 * periodically. Returns the number of deleted campaigns.
 */
export async function expireCampaigns(
  store: Pick<CampaignStore, 'overBefore' | 'erase' | 'purgeDoNotCall'>,
  clock: Clock,
  retention: { readonly campaignsMs: number; readonly doNotCallMs: number },
): Promise<number> {
  const nowUs = wallUs(clock);
  let erased = 0;
  for (;;) {
    const over = await store.overBefore(nowUs - retention.campaignsMs * 1000, BATCH);
    for (const id of over) while (await store.erase(id, BATCH));
    erased += over.length;
    if (over.length < BATCH) break;
  }
  while ((await store.purgeDoNotCall(nowUs - retention.doNotCallMs * 1000, BATCH)) === BATCH);
  return erased;
}
