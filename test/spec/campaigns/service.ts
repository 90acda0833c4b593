/** Campaigns on a store, with a dialer that changes states and places no calls. */
import type { AccountId } from '../../../src/base/ids.ts';
import {
  CampaignService,
  type CampaignServiceNeeds,
} from '../../../src/domain/campaign/campaign.ts';
import type { Campaign, CampaignHealth, PauseReason } from '../../../src/domain/campaign/types.ts';
import type { Store } from '../../../src/edge/store/store.ts';

/** Number that no account may use as caller ID. */
export const FOREIGN_NUMBER = '12025550199';

type DomainServices = Pick<CampaignServiceNeeds, 'accounts' | 'clock' | 'random'> & {
  readonly store: Pick<Store, 'campaigns'>;
};

class StillDialer {
  readonly #store: DomainServices['store'];
  /** Campaign reported in capacity requests. */
  active: { readonly accountId: AccountId; readonly campaign: Campaign } | undefined;
  obstacleNow: { readonly reason: PauseReason; readonly detail: string } | undefined;

  constructor(store: DomainServices['store']) {
    this.#store = store;
  }

  start = ({ id }: Campaign) => this.#store.campaigns.change(id, ['ready'], { status: 'running' });
  pause = ({ id }: Campaign, pauseReason: PauseReason) =>
    this.#store.campaigns.change(id, ['running'], { status: 'paused', pauseReason });
  resume = ({ id }: Campaign) =>
    this.#store.campaigns.change(id, ['paused'], { status: 'running', pauseReason: undefined });
  obstacle = async () => this.obstacleNow;
  changed = async () => undefined;
  agentChanged = async () => undefined;
  health = ({ startedUs }: Campaign): CampaignHealth =>
    startedUs === undefined ? 'not_started' : 'idle';
  running = async (accountId: AccountId) =>
    this.active?.accountId === accountId
      ? [
          {
            campaignId: this.active.campaign.id,
            subAccount: this.active.campaign.subAccount,
            name: this.active.campaign.name,
            status: 'running' as const,
            maxConcurrent: 5,
            running: 2,
            queued: 7,
          },
        ]
      : [];
}

export function stillCampaigns({ store, accounts, clock, random }: DomainServices) {
  const dialer = new StillDialer(store);
  const campaigns = new CampaignService({
    store: store.campaigns,
    accounts,
    calls: { mayPresent: async (_account, number) => number !== FOREIGN_NUMBER },
    webhooks: { compose: () => undefined, deliver: () => undefined },
    dialer,
    timezoneOf: () => '',
    clock,
    random,
  });
  return { campaigns, dialer };
}
