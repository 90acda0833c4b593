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
  /** A campaign is idle when it has dialled nobody for so long. */
  readonly activeMs: number;
  /** Contacts are due, nothing is full, and nobody was dialled for so long: the campaign has stalled. */
  readonly stalledMs: number;
  /** For so long: it is paused. */
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
  /** `act` is called when an account, or one of its sub-accounts, may call no more. */
  readonly onRevoked: (act: (owner: CampaignOwner) => Promise<void>) => void;
  readonly settings: DialerSettings;
}
