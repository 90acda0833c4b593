/** Changes a campaign's status. Each change is stored together with its event for `notify_url`. */

import type { DialerNeeds } from './dialer-needs.ts';
import type { CampaignChange } from './needs.ts';
import type { Campaign, CampaignEvent, CampaignStatus, PauseReason } from './types.ts';

/** Reasons of pauses that end automatically. */
const CLEARS_BY_ITSELF: ReadonlySet<PauseReason | undefined> = new Set<PauseReason>([
  'window_closed',
  'caller_pool_daily_limit_reached',
]);

/** The changed campaign. Undefined if its status had changed, so that the store rejected the change. */
type Changed = Promise<Campaign | undefined>;

export class Transitions {
  readonly #needs: DialerNeeds;
  readonly #onChanged: (campaign: Campaign) => void;

  constructor(needs: DialerNeeds, onChanged: (campaign: Campaign) => void) {
    this.#needs = needs;
    this.#onChanged = onChanged;
  }

  begin(campaign: Campaign, nowUs: number): Changed {
    const change = { status: 'running', startedUs: nowUs, pauseReason: undefined } as const;
    const event = { kind: 'started', atUs: nowUs } as const;
    return this.#change(campaign, ['ready', 'queued'], change, event);
  }

  queue(campaign: Campaign, nowUs: number): Changed {
    return this.#change(campaign, ['ready'], { status: 'queued', queuedUs: nowUs });
  }

  async pause(campaign: Campaign, pauseReason: PauseReason, nowUs: number): Changed {
    const event = { kind: 'paused', atUs: nowUs, reason: pauseReason } as const;
    const change = { status: 'paused', pauseReason } as const;
    const paused = await this.#change(campaign, ['running'], change, event);
    if (paused !== undefined || pauseReason !== 'manual_pause') return paused;
    if (!clearsByItself(campaign)) return undefined;
    return this.#change(campaign, ['paused'], change, event);
  }

  /** Resumes a campaign. `probation` is the initial count of consecutive failures. */
  resume(campaign: Campaign, nowUs: number, probation = 0): Changed {
    const change = {
      status: 'running',
      pauseReason: undefined,
      consecutiveFailures: probation,
    } as const;
    return this.#change(campaign, ['paused'], change, { kind: 'resumed', atUs: nowUs });
  }

  complete(campaign: Campaign, nowUs: number): Changed {
    const change = { status: 'completed', completedUs: nowUs, pauseReason: undefined } as const;
    const event = { kind: 'completed', atUs: nowUs } as const;
    return this.#change(
      campaign,
      ['running', 'paused'],
      change,
      ...failureOf(campaign, nowUs),
      event,
    );
  }

  /** Sends an event without a change. */
  notify(campaign: Campaign, event: CampaignEvent): Changed {
    return this.#change(campaign, [campaign.status], {}, event);
  }

  /** Reads the campaign again, because it differs from the one in memory: the answer to an earlier change may be lost. */
  async reread({ id }: Pick<Campaign, 'id'>): Promise<void> {
    const stored = await this.#needs.store.current(id);
    if (stored !== undefined) this.#onChanged(stored);
  }

  async #change(
    campaign: Campaign,
    from: readonly CampaignStatus[],
    change: CampaignChange,
    ...events: readonly CampaignEvent[]
  ): Changed {
    const { store, webhooks } = this.#needs;
    const notifications = events.flatMap((event) => webhooks.compose(campaign, event) ?? []);
    const changed = await store.change(campaign.id, from, change, notifications);
    if (changed === undefined) {
      await this.reread(campaign);
      return undefined;
    }
    for (const notification of notifications) webhooks.deliver(notification);
    this.#onChanged(changed);
    return changed;
  }
}

/** Returns `campaign.failed` if every contact has failed. It precedes `campaign.completed`. */
function failureOf({ counters }: Campaign, atUs: number): readonly CampaignEvent[] {
  const total = Object.values(counters).reduce((sum, count) => sum + count, 0);
  if (total === 0 || counters.failed < total) return [];
  return [{ kind: 'failed', atUs, reason: 'all_contacts_failed' }];
}

export const clearsByItself = ({ pauseReason }: Campaign): boolean =>
  CLEARS_BY_ITSELF.has(pauseReason);
