import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { CallPlacing, CampaignStore, CampaignWebhooks } from './needs.ts';
import type { CampaignOwner } from './types.ts';

export interface DialerSettings {
  /** Campaigns of one account that run at once; more are queued. */
  readonly maxRunning: number;
  /** Calls to one number in a day, of all campaigns of the account. */
  readonly maxCallsPerDay: number;
  /** Without a call for so long a campaign is `idle`. */
  readonly activeMs: number;
  /** Contacts are due, no limit is full, and no call could be placed for so long: `stalled`. */
  readonly stalledMs: number;
  /** The same for so long: paused as `stalled`. */
  readonly stalledPauseMs: number;
  /** Carrier and answer URL failures in a row that pause a campaign. */
  readonly failures: number;
}

export interface DialerNeeds {
  readonly store: CampaignStore;
  readonly calls: CallPlacing;
  readonly webhooks: CampaignWebhooks;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** `act` is called when an account or sub-account has lost the right to call. */
  readonly onRevoked: (act: (owner: CampaignOwner) => Promise<void>) => void;
  readonly settings: DialerSettings;
}
