import type { Clock } from '../../base/clock.ts';
import type { AccountId, Random } from '../../base/ids.ts';
import type { Accounts } from '../account/account.ts';
import type { CallPlacing, CampaignStore, CampaignWebhooks } from './needs.ts';
import type { Agent, Campaign, CampaignHealth, PauseReason, RunningCampaign } from './types.ts';

/** Reason why a paused campaign cannot resume. */
export interface Obstacle {
  readonly reason: PauseReason;
  readonly detail: string;
}

/** Dialer operations used by the commands. */
export interface DialerControl {
  /** Starts a campaign; it runs, or is queued while the maximum runs. Returns undefined if it was not ready. */
  start(campaign: Campaign): Promise<Campaign | undefined>;
  /** Pauses a campaign. Returns undefined if it was not running. */
  pause(campaign: Campaign, reason: PauseReason): Promise<Campaign | undefined>;
  /** Resumes a campaign. Returns undefined if it was not paused. */
  resume(campaign: Campaign): Promise<Campaign | undefined>;
  /** Returns the cause of the campaign's pause if it still exists. */
  obstacle(campaign: Campaign): Promise<Obstacle | undefined>;
  /** Notifies the dialer of a campaign that changed in the store. Resolves when the dialer uses the new values. */
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
  /** Returns the IANA timezone of a number. Empty if unknown. */
  readonly timezoneOf: (e164: string) => string;
  readonly clock: Clock;
  readonly random: Random;
}
