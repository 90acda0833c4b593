/** Advances campaigns over time: scheduled start, queue, windows, pauses, stalls, expiry, completion. Finds due contacts. */
import { wallUs } from '../../base/clock.ts';
import type { AccountId } from '../../base/ids.ts';
import type { CallerIds } from './caller-ids.ts';
import type { DialerNeeds } from './dialer-needs.ts';
import type { LiveCampaign } from './live-campaign.ts';
import type { ContactDecision, DueContact } from './needs.ts';
import { clearsByItself, type Transitions } from './transitions.ts';
import type { Campaign, PauseReason } from './types.ts';
import { dayStartUs, nextDayStartUs } from './zoned-time.ts';

const FOREVER = Number.POSITIVE_INFINITY;
/** Number of contacts that expire per transaction. */
const EXPIRED_AT_ONCE = 200;
/** Number of unreadable contacts that fail per transaction. */
const UNREADABLE_AT_ONCE = 200;

export interface LifecycleHooks {
  /** Returns the number of the account's running or paused campaigns. */
  runningOf(accountId: AccountId): number;
  poolOf(live: LiveCampaign): Promise<CallerIds>;
}

const PAUSES = {
  insufficientFunds: 'balance_insufficient',
  accountInactive: 'account_inactive',
  unknownCallerId: 'consecutive_failures',
} as const satisfies Record<string, PauseReason>;

export class Lifecycle {
  readonly #needs: DialerNeeds;
  readonly #transitions: Transitions;
  readonly #hooks: LifecycleHooks;
  /** Campaigns whose start is being stored. They count as running. */
  readonly #beginning = new Set<Campaign>();

  constructor(needs: DialerNeeds, transitions: Transitions, hooks: LifecycleHooks) {
    this.#needs = needs;
    this.#transitions = transitions;
    this.#hooks = hooks;
  }

  async start(campaign: Campaign): Promise<Campaign | undefined> {
    const nowUs = wallUs(this.#needs.clock);
    return this.#isFull(campaign)
      ? this.#transitions.queue(campaign, nowUs)
      : this.#begin(campaign, nowUs);
  }

  #isFull({ accountId }: Campaign): boolean {
    const beginning = [...this.#beginning].filter((other) => other.accountId === accountId);
    const running = this.#hooks.runningOf(accountId) + beginning.length;
    return running >= this.#needs.settings.maxRunning;
  }

  async #begin(campaign: Campaign, nowUs: number): Promise<Campaign | undefined> {
    this.#beginning.add(campaign);
    try {
      return await this.#transitions.begin(campaign, nowUs);
    } finally {
      this.#beginning.delete(campaign);
    }
  }

  /** Performs the transitions that are due now. Returns the time of the next one. */
  async advance(live: LiveCampaign, nowUs: number): Promise<number> {
    const { campaign } = live;
    switch (campaign.status) {
      case 'ready':
        if ((campaign.scheduledUs ?? FOREVER) > nowUs) return campaign.scheduledUs ?? FOREVER;
        await this.start(campaign);
        return FOREVER;
      case 'queued':
        if (!this.#isFull(campaign)) await this.#begin(campaign, nowUs);
        return FOREVER;
      case 'running':
        return this.#running(live, nowUs);
      case 'paused':
        return this.#paused(live, nowUs);
      default:
        return FOREVER;
    }
  }

  async #running(live: LiveCampaign, nowUs: number): Promise<number> {
    const { campaign } = live;
    if (live.refusedWith !== undefined) return this.#refused(live, nowUs);
    if (campaign.consecutiveFailures >= this.#needs.settings.failures) {
      return this.#pause(live, 'consecutive_failures', nowUs);
    }
    if ((campaign.expiresUs ?? FOREVER) <= nowUs) return this.#expire(live, nowUs);
    if (live.isDone && live.placing.size === 0) {
      await this.#transitions.complete(campaign, nowUs);
      return FOREVER;
    }
    live.timezones ??= await this.#timezonesOf(campaign);
    const isClosed = live.timezones.length > 0 && live.openTimezones(nowUs).length === 0;
    if (isClosed) return this.#pause(live, 'window_closed', nowUs);
    const stallUs = await this.#stall(live, nowUs);
    return Math.min(live.windowChangeUs(nowUs), campaign.expiresUs ?? FOREVER, stallUs);
  }

  async #refused(live: LiveCampaign, nowUs: number): Promise<number> {
    const why = live.refusedWith;
    live.refusedWith = undefined;
    if (why !== undefined && why in PAUSES) {
      return this.#pause(live, PAUSES[why as keyof typeof PAUSES], nowUs);
    }
    live.blocked(why ?? 'unavailable', nowUs);
    live.sleepUntilUs = nowUs + 1_000_000;
    return live.sleepUntilUs;
  }

  async #pause(live: LiveCampaign, reason: PauseReason, nowUs: number): Promise<number> {
    await this.#transitions.pause(live.campaign, reason, nowUs);
    return live.campaign.status === 'paused' ? this.#paused(live, nowUs) : FOREVER;
  }

  async #paused(live: LiveCampaign, nowUs: number): Promise<number> {
    const { campaign } = live;
    const expiresUs = campaign.expiresUs ?? FOREVER;
    if (expiresUs <= nowUs) return this.#expire(live, nowUs);
    if (!clearsByItself(campaign)) return expiresUs;
    if (campaign.pauseReason === 'window_closed') {
      live.timezones ??= await this.#timezonesOf(campaign);
      const isOpen = live.timezones.length === 0 || live.openTimezones(nowUs).length > 0;
      if (!isOpen) return Math.min(expiresUs, live.windowChangeUs(nowUs));
    } else if (!(await this.#hooks.poolOf(live)).isNewDay(nowUs)) {
      return Math.min(expiresUs, nextDayStartUs(nowUs, campaign.timezone));
    }
    await this.#transitions.resume(campaign, nowUs);
    return FOREVER;
  }

  /** Expires waiting contacts. Live calls continue to their end. */
  async #expire(live: LiveCampaign, nowUs: number): Promise<number> {
    const { store } = this.#needs;
    const { id } = live.campaign;
    for (;;) {
      const waiting = await store.waiting(id, EXPIRED_AT_ONCE);
      if (waiting.length === 0) break;
      const decisions = waiting.map(
        (contactId): ContactDecision => ({
          contactId,
          status: 'expired',
          reason: 'campaign_expired',
          dueUs: undefined,
        }),
      );
      live.campaign = (await store.decide(id, decisions, [])) ?? live.campaign;
    }
    if (live.isDone) await this.#transitions.complete(live.campaign, nowUs);
    return FOREVER;
  }

  /** Reports a stall after `stalledMs` and pauses the campaign after `stalledPauseMs`. Returns the next of these times. */
  async #stall(live: LiveCampaign, nowUs: number): Promise<number> {
    const { stalledMs, stalledPauseMs } = this.#needs.settings;
    const { campaign, blockedSinceUs: sinceUs } = live;
    if (sinceUs === undefined) return FOREVER;
    const lastedUs = nowUs - sinceUs;
    if (lastedUs >= stalledPauseMs * 1000) {
      live.unblocked();
      return this.#pause(live, 'stalled', nowUs);
    }
    if (lastedUs < stalledMs * 1000) return sinceUs + stalledMs * 1000;
    if (!live.isStallReported) {
      live.isStallReported = true;
      await this.#transitions.notify(campaign, {
        kind: 'stalled',
        atUs: nowUs,
        reason: live.blockedBy,
        lastDialUs: campaign.lastDialUs,
        stalledMs: lastedUs / 1000,
      });
    }
    return sinceUs + stalledPauseMs * 1000;
  }

  // ---------------------------------------------------------------- due contacts

  async due(live: LiveCampaign, nowUs: number, limit: number): Promise<readonly DueContact[]> {
    const { store } = this.#needs;
    const { id, timezone: own } = live.campaign;
    const found: DueContact[] = [];
    for (const timezone of live.openTimezones(nowUs)) {
      if (found.length >= limit) break;
      const dayStart = dayStartUs(nowUs, own);
      const query = { campaignId: id, timezone, nowUs, dayStartUs: dayStart, limit };
      found.push(...(await store.due(query)));
    }
    return found.filter(({ contact }) => !live.placing.has(contact.id));
  }

  /** Fails contacts that are due but cannot be read. Returns whether there were any. */
  async failUnreadable(live: LiveCampaign, nowUs: number): Promise<boolean> {
    const { store, logger } = this.#needs;
    const { id: campaignId } = live.campaign;
    const changed = await store.failUnreadable({ campaignId, nowUs, limit: UNREADABLE_AT_ONCE });
    if (changed === undefined) return false;
    logger.error({ campaignId }, 'contacts that cannot be read were marked as failed');
    live.campaign = changed;
    return true;
  }

  /** Returns the next time at which a contact is due and its window is open. */
  async nextDueUs(live: LiveCampaign, nowUs: number): Promise<number> {
    live.unblocked();
    const zones = await this.#needs.store.dueZones(live.campaign.id);
    live.timezones = zones.map(({ timezone }) => timezone);
    const due = zones.map(({ timezone, dueUs }) => {
      const { open, untilUs } = live.windowOf(timezone, nowUs);
      return open ? dueUs : Math.max(dueUs, untilUs ?? FOREVER);
    });
    return Math.min(FOREVER, ...due);
  }

  async #timezonesOf({ id }: Campaign): Promise<readonly string[]> {
    return (await this.#needs.store.dueZones(id)).map(({ timezone }) => timezone);
  }
}
