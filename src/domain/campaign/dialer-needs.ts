import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { CallPlacing, CampaignStore, CampaignWebhooks } from './needs.ts';
import type { CampaignOwner } from './types.ts';

interface DialerSettings {
  /** Maximum number of concurrently running campaigns per account. More are queued. */
  readonly maxRunning: number;
  /** Maximum number of calls per day to one number, over all campaigns of the account. */
  readonly maxCallsPerDay: number;
  /** Time without a call after which a campaign is `idle`, in milliseconds. */
  readonly activeMs: number;
  /**
   * Time without a placed call, although contacts are due and no limit is full, after which a campaign is `stalled`.
   * Milliseconds.
   */
  readonly stalledMs: number;
  /** Time after which a stalled campaign is paused as `stalled`, in milliseconds. */
  readonly stalledPauseMs: number;
  /** Number of consecutive carrier and answer URL failures that pauses a campaign. */
  readonly failures: number;
}

export interface DialerNeeds {
  readonly store: CampaignStore;
  readonly calls: CallPlacing;
  readonly webhooks: CampaignWebhooks;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Registers a callback that runs when an account or sub-account loses the right to call. */
  readonly onRevoked: (act: (owner: CampaignOwner) => Promise<void>) => void;
  readonly settings: DialerSettings;
}
