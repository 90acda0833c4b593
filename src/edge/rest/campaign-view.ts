/** Campaigns that use an account's capacity now; empty while there are none. */
import type { AccountId } from '../../base/ids.ts';

interface RunningCampaign {
  readonly campaign_id: string;
  readonly name: string;
  readonly status: string;
  readonly max_concurrent: number;
  readonly running: number;
  readonly queued: number;
}

export interface CampaignView {
  running(accountId: AccountId): readonly RunningCampaign[];
}
