/**
 * Implements the commands of a campaign's owner and changes of a campaign that is not running. Each is allowed only
 * in certain statuses.
 */
import { wallUs } from '../../base/clock.ts';
import type { CampaignId } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { CampaignChange } from './needs.ts';
import type { CampaignServiceNeeds } from './service-needs.ts';
import type {
  Campaign,
  CampaignEvent,
  CampaignRefusal,
  CampaignStatus,
  CampaignView,
} from './types.ts';

type Answer<T> = Promise<Result<T, CampaignRefusal>>;

/** Statuses in which the plan may be changed and contacts may be uploaded. */
export const OPEN: readonly CampaignStatus[] = ['draft', 'ready'];
/** Statuses without activity, from which a campaign may be archived. */
const AT_REST: readonly CampaignStatus[] = ['draft', 'ready', 'completed', 'cancelled'];

export class Commands {
  readonly #needs: Pick<CampaignServiceNeeds, 'store' | 'webhooks' | 'dialer' | 'clock'>;

  constructor(needs: Pick<CampaignServiceNeeds, 'store' | 'webhooks' | 'dialer' | 'clock'>) {
    this.#needs = needs;
  }

  async start(campaign: Campaign): Answer<CampaignView> {
    const started = await this.#needs.dialer.start(campaign);
    return started === undefined ? this.refused(campaign.id, 'started') : ok(this.view(started));
  }

  /** Pauses a campaign. A pause that would end automatically becomes `manual_pause`. */
  async pause(campaign: Campaign): Answer<CampaignView> {
    const paused = await this.#needs.dialer.pause(campaign, 'manual_pause');
    return paused === undefined ? this.refused(campaign.id, 'paused') : ok(this.view(paused));
  }

  async resume(campaign: Campaign): Answer<CampaignView> {
    if (campaign.status !== 'paused') return this.refused(campaign.id, 'resumed');
    const obstacle = await this.#needs.dialer.obstacle(campaign);
    if (obstacle !== undefined) return err({ kind: 'stillPaused', ...obstacle });
    const resumed = await this.#needs.dialer.resume(campaign);
    return resumed === undefined ? this.refused(campaign.id, 'resumed') : ok(this.view(resumed));
  }

  cancel(campaign: Campaign): Answer<CampaignView> {
    const atUs = wallUs(this.#needs.clock);
    const change = { status: 'cancelled', pauseReason: undefined, completedUs: atUs } as const;
    const event = { kind: 'cancelled', atUs } as const;
    return this.#change(campaign, ['queued', 'running', 'paused'], change, 'cancelled', event);
  }

  archive(campaign: Campaign): Answer<CampaignView> {
    const change = { status: 'archived', scheduledUs: undefined } as const;
    return this.#change(campaign, AT_REST, change, 'archived');
  }

  changePlan(campaign: Campaign, change: CampaignChange): Answer<CampaignView> {
    return this.#change(campaign, OPEN, change, 'changed');
  }

  /** Returns the refusal with the current status. */
  async refused(id: CampaignId, done: string): Answer<never> {
    const campaign = await this.#needs.store.get(id);
    if (campaign === undefined) return err({ kind: 'unknownCampaign' });
    const { status } = campaign;
    return err({
      kind: 'wrongState',
      status,
      detail: `a campaign that is ${status} cannot be ${done}`,
    });
  }

  view(campaign: Campaign): CampaignView {
    return { campaign, health: this.#needs.dialer.health(campaign) };
  }

  async #change(
    campaign: Campaign,
    from: readonly CampaignStatus[],
    change: CampaignChange,
    done: string,
    event?: CampaignEvent,
  ): Answer<CampaignView> {
    const { store, webhooks, dialer } = this.#needs;
    const notification = event && webhooks.compose(campaign, event);
    const notifications = notification === undefined ? [] : [notification];
    const changed = await store.change(campaign.id, from, change, notifications);
    if (changed === undefined) return this.refused(campaign.id, done);
    if (notification !== undefined) webhooks.deliver(notification);
    await dialer.changed(changed);
    return ok(this.view(changed));
  }
}
