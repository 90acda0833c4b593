import type { Clock } from '../../base/clock.ts';
import type { AccountId, Random } from '../../base/ids.ts';
import type { Accounts } from '../account/account.ts';
import type { CallPlacing, CampaignStore, CampaignWebhooks } from './needs.ts';
import type { Agent, Campaign, CampaignHealth, PauseReason, RunningCampaign } from './types.ts';

/** Why a paused campaign stays paused. */
export interface Obstacle {
  readonly reason: PauseReason;
  readonly detail: string;
}

/** What the commands ask of the dialer. */
export interface DialerControl {
  /** Running, or queued while enough others run; undefined: it was not ready. */
  start(campaign: Campaign): Promise<Campaign | undefined>;
  /** Undefined: it did not run. */
  pause(campaign: Campaign, reason: PauseReason): Promise<Campaign | undefined>;
  /** Undefined: it was not paused. */
  resume(campaign: Campaign): Promise<Campaign | undefined>;
  /** Whether the cause of its pause is still there. */
  obstacle(campaign: Campaign): Promise<Obstacle | undefined>;
  /** It was changed in the store. */
  changed(campaign: Campaign): Promise<void>;
  agentChanged(agent: Agent): Promise<void>;
  health(campaign: Campaign): CampaignHealth;
  running(accountId: AccountId): Promise<readonly RunningCampaign[]>;
}

export interface CampaignServiceNeeds {
  readonly store: CampaignStore;
  readonly accounts: Pick<Accounts, 'get'>;
  readonly calls: Pick<CallPlacing, 'mayPresent'>;
  readonly webhooks: CampaignWebhooks;
  readonly dialer: DialerControl;
  /** IANA name of a number's timezone; empty: unknown. */
  readonly timezoneOf: (e164: string) => string;
  readonly clock: Clock;
  readonly random: Random;
}
