import type { Clock } from '../../base/clock.ts';
import type { CampaignStore } from './needs.ts';

/** Rows deleted in one unit of work: short enough that no call waits for it. */
const BATCH = 200;

/**
 * Deletes campaigns that have been over for too long, with their contacts and attempts, and numbers that have stood on
 * do-not-call lists for too long; call it now and then. Returns how many campaigns.
 */
export async function expireCampaigns(
  store: Pick<CampaignStore, 'overBefore' | 'erase' | 'purgeDoNotCall'>,
  clock: Clock,
  kept: { readonly campaignsMs: number; readonly doNotCallMs: number },
): Promise<number> {
  const nowUs = Math.round(clock.wallMs() * 1000);
  let erased = 0;
  for (;;) {
    const over = await store.overBefore(nowUs - kept.campaignsMs * 1000, BATCH);
    for (const id of over) while (await store.erase(id, BATCH));
    erased += over.length;
    if (over.length < BATCH) break;
  }
  while ((await store.purgeDoNotCall(nowUs - kept.doNotCallMs * 1000, BATCH)) === BATCH);
  return erased;
}
