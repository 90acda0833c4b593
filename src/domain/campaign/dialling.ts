/** Chooses whom a running campaign calls next, as whom, and places the call; what comes of it decides how it goes on. */
import type { AccountId } from '../../base/ids.ts';
import type { Attempts, Caller, Placed } from './attempts.ts';
import { CallerIds } from './caller-ids.ts';
import type { DialerNeeds } from './dialer-needs.ts';
import type { LiveCampaign } from './live-campaign.ts';
import type { DueContact } from './needs.ts';
import type { Tending } from './tending.ts';
import type { Transitions } from './transitions.ts';
import type { Agent, ContactReason } from './types.ts';

/** Calls of one account between the choice of their contact and their INVITE. */
const MAX_PLACING = 16;
/** Contacts read at a time. */
const READ_AHEAD = 50;
/** Free slots of which no event tells (limits that were raised) are noticed after this long. */
export const RECHECK_MS = 1000;
/** What was read ahead is not true any more: it is read again, after a moment. */
const STALE_MS = 20;
const FOREVER = Number.POSITIVE_INFINITY;

/** What the calls of one account have in common. */
export interface AccountLimits {
  readonly accountId: AccountId;
  /** Calls between the choice of their contact and their INVITE. */
  placing: number;
  /** No slot is free before, microseconds UTC. */
  fullUntilUs: number;
}

export interface DiallingHooks {
  readonly attempts: Attempts;
  readonly tending: Tending;
  readonly transitions: Transitions;
  /** Campaigns of an account that the dialer has to do with. */
  ofAccount(accountId: AccountId): readonly LiveCampaign[];
  wake(accountId: AccountId): void;
}

export class Dialling {
  readonly #needs: DialerNeeds;
  readonly #hooks: DiallingHooks;

  constructor(needs: DialerNeeds, hooks: DiallingHooks) {
    this.#needs = needs;
    this.#hooks = hooks;
  }

  /** Places calls until nobody is due, limits are full, or `isStopped`. */
  async dial(limits: AccountLimits, isStopped: () => boolean): Promise<void> {
    while (limits.placing < MAX_PLACING && !isStopped()) {
      const nowUs = this.#nowUs();
      if (limits.fullUntilUs > nowUs) return;
      const live = this.#next(limits.accountId, nowUs);
      if (live === undefined) return;
      const agent = await this.#agentOf(live);
      const due = await this.#nextContact(live, nowUs);
      if (due === undefined || agent === undefined) continue;
      const caller = await this.#callerOf(live, due, nowUs);
      if (caller === undefined) continue;
      live.placing.add(due.contact.id);
      limits.placing += 1;
      void this.#place(limits, live, agent, due, caller);
    }
  }

  async poolOf(live: LiveCampaign): Promise<CallerIds> {
    const { store, random } = this.#needs;
    const { id, pool, timezone } = live.campaign;
    live.callerIds ??= new CallerIds(await store.numbers(id), pool, { timezone, random });
    return live.callerIds;
  }

  // ---------------------------------------------------------------- choice

  /** Of those that may dial, the one with the fewest calls; of equals, the one that has waited longest. */
  #next(accountId: AccountId, nowUs: number): LiveCampaign | undefined {
    let best: LiveCampaign | undefined;
    for (const live of this.#hooks.ofAccount(accountId)) {
      if (!live.isHungry(nowUs)) continue;
      const isBefore =
        best === undefined ||
        live.busy < best.busy ||
        (live.busy === best.busy && live.servedUs < best.servedUs);
      if (isBefore) best = live;
    }
    if (best !== undefined) best.servedUs = nowUs;
    return best;
  }

  /** Undefined: nobody is due now, and the campaign sleeps until somebody is. */
  async #nextContact(live: LiveCampaign, nowUs: number): Promise<DueContact | undefined> {
    const { attempts, tending, wake } = this.#hooks;
    for (;;) {
      const next = live.ahead.shift();
      if (next !== undefined) {
        if (!live.placing.has(next.contact.id)) return next;
        continue;
      }
      const found = await tending.due(live, nowUs, READ_AHEAD);
      if (found.length === 0) {
        if (live.isDone) wake(live.campaign.accountId);
        live.sleepUntilUs = live.placing.size > 0 ? FOREVER : await tending.nextDueUs(live, nowUs);
        return undefined;
      }
      live.ahead.push(...(await attempts.select(live, found)));
    }
  }

  async #agentOf(live: LiveCampaign): Promise<Agent | undefined> {
    live.agent ??= await this.#needs.store.agent(live.campaign.agentId);
    if (live.agent === undefined) {
      live.troubled('the agent is gone', this.#nowUs());
      live.sleepUntilUs = this.#laterUs();
    }
    return live.agent;
  }

  async #callerOf(live: LiveCampaign, due: DueContact, nowUs: number): Promise<Caller | undefined> {
    const { callerIdStrategy, fixedCallerId } = live.campaign;
    if (callerIdStrategy !== 'pool') {
      const number = callerIdStrategy === 'fixed' ? fixedCallerId : due.contact.from;
      if (number !== undefined) return { number, poolNumber: undefined };
      await this.#refuse(live, due, 'no_caller_id');
      return undefined;
    }
    const turn = (await this.poolOf(live)).take(nowUs);
    if (turn.kind === 'number') {
      return { number: turn.number, poolNumber: { id: turn.id, day: turn.day } };
    }
    live.ahead.unshift(due);
    if (turn.kind === 'wait') {
      live.untroubled();
      live.sleepUntilUs = turn.untilUs;
      return undefined;
    }
    const isDaily = turn.kind === 'dailyLimit';
    const reason = isDaily ? 'caller_pool_daily_limit_reached' : 'caller_pool_exhausted';
    await this.#hooks.transitions.pause(live.campaign, reason, this.#nowUs());
    return undefined;
  }

  // ---------------------------------------------------------------- placing

  async #place(
    limits: AccountLimits,
    live: LiveCampaign,
    agent: Agent,
    due: DueContact,
    caller: Caller,
  ): Promise<void> {
    const placed = await this.#hooks.attempts.place(live, agent, due, caller);
    live.placing.delete(due.contact.id);
    limits.placing -= 1;
    try {
      await this.#placed(limits, live, due, placed);
    } catch (error) {
      this.#needs.logger.error({ error, campaignId: live.campaign.id }, 'dialer stumbled');
    }
    this.#hooks.wake(limits.accountId);
  }

  async #placed(
    limits: AccountLimits,
    live: LiveCampaign,
    due: DueContact,
    placed: Placed,
  ): Promise<void> {
    live.sleepUntilUs = 0;
    if (placed === 'begun') {
      live.untroubled();
      return;
    }
    switch (placed.kind) {
      case 'full': {
        const { retryAfterMs = RECHECK_MS, of } = placed;
        const untilUs = this.#nowUs() + Math.ceil(retryAfterMs) * 1000;
        live.untroubled();
        live.ahead.unshift(due);
        if (of === 'account') limits.fullUntilUs = untilUs;
        else live.sleepUntilUs = untilUs;
        return;
      }
      case 'stale':
        live.ahead.length = 0;
        live.sleepUntilUs = this.#nowUs() + STALE_MS * 1000;
        return;
      case 'barred':
        return this.#refuse(live, due, 'barred');
      case 'invalidNumber':
        return this.#refuse(live, due, 'invalid_number');
      case 'unknownCallerId':
        if (live.campaign.callerIdStrategy === 'per_contact') {
          return this.#refuse(live, due, 'no_caller_id');
        }
        live.refusedWith = placed.kind;
        return;
      case 'insufficientFunds':
      case 'accountInactive':
        live.refusedWith = placed.kind;
        return;
      default:
        live.troubled(placed.kind, this.#nowUs());
        live.sleepUntilUs = this.#laterUs();
    }
  }

  #refuse(live: LiveCampaign, due: DueContact, reason: ContactReason): Promise<void> {
    const contactId = due.contact.id;
    const decision = { contactId, status: 'failed', reason, dueUs: undefined } as const;
    return this.#hooks.attempts.decide(live, [due], [decision]);
  }

  #laterUs(): number {
    return this.#nowUs() + RECHECK_MS * 1000;
  }

  #nowUs(): number {
    return Math.round(this.#needs.clock.wallMs() * 1000);
  }
}
