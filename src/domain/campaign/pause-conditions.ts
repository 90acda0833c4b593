/** Checks whether the cause of a pause still exists (spec: Campaign pause reasons). */
import { wallUs } from '../../base/clock.ts';
import { CallerIds } from './caller-ids.ts';
import type { DialerNeeds } from './dialer-needs.ts';
import { LiveCampaign } from './live-campaign.ts';
import { PoolHolds } from './pool-holds.ts';
import type { Obstacle } from './service-needs.ts';
import type { Campaign } from './types.ts';

export class PauseConditions {
  readonly #needs: DialerNeeds;

  constructor(needs: DialerNeeds) {
    this.#needs = needs;
  }

  async of(campaign: Campaign): Promise<Obstacle | undefined> {
    const { pauseReason: reason } = campaign;
    switch (reason) {
      case 'window_closed':
        return this.#window(campaign, reason);
      case 'caller_pool_exhausted':
      case 'caller_pool_daily_limit_reached':
        return this.#pool(campaign, reason);
      case 'account_inactive':
      case 'balance_insufficient': {
        const isPoorPause = reason === 'balance_insufficient';
        const number = isPoorPause ? await this.#nextNumber(campaign) : undefined;
        const found = await this.#needs.calls.obstacle(campaign, number);
        if (found === 'accountInactive') return { reason, detail: 'the account is not active' };
        const isPoor = isPoorPause && found === 'insufficientFunds';
        return isPoor ? { reason, detail: 'the balance is too low for a call' } : undefined;
      }
      default:
        return undefined;
    }
  }

  async #window(campaign: Campaign, reason: Obstacle['reason']): Promise<Obstacle | undefined> {
    const nowUs = wallUs(this.#needs.clock);
    const live = new LiveCampaign(campaign);
    live.timezones = (await this.#needs.store.dueZones(campaign.id)).map(
      ({ timezone }) => timezone,
    );
    if (live.timezones.length === 0 || live.openTimezones(nowUs).length > 0) return undefined;
    const opensUs = live.windowChangeUs(nowUs);
    const when = Number.isFinite(opensUs) ? new Date(opensUs / 1000).toISOString() : 'never again';
    return { reason, detail: `the window opens ${when}` };
  }

  /** Returns the number that is called next. Undefined if no contact waits. */
  async #nextNumber({ id }: Campaign): Promise<string | undefined> {
    const { store, clock } = this.#needs;
    const nowUs = wallUs(clock);
    for (const { timezone } of await store.dueZones(id)) {
      const [due] = await store.due({ campaignId: id, timezone, nowUs, dayStartUs: 0, limit: 1 });
      if (due !== undefined) return due.contact.to;
    }
    const [waiting] = await store.waiting(id, 1);
    return waiting === undefined ? undefined : (await store.contact(waiting))?.to;
  }

  async #pool(campaign: Campaign, reason: Obstacle['reason']): Promise<Obstacle | undefined> {
    const { store, random, clock } = this.#needs;
    const { pool, timezone } = campaign;
    const numbers = await store.numbers(campaign.id);
    const holds = new PoolHolds();
    const callerIds = new CallerIds(numbers, pool, { timezone, random, holds });
    const { kind } = callerIds.peek(wallUs(clock));
    if (kind === 'exhausted') return { reason, detail: 'the pool has no usable number left' };
    return kind === 'dailyLimit'
      ? { reason, detail: 'every number of the pool has reached its daily limit' }
      : undefined;
  }
}
