/** Chooses the next contact and caller ID of a running campaign, places the call, and handles a refusal. */
import { wallUs } from '../../base/clock.ts';
import { isUnreadable } from '../../base/errors.ts';
import type { AccountId } from '../../base/ids.ts';
import type { Attempts, Caller, Placed } from './attempts.ts';
import { CallerIds, type Turn } from './caller-ids.ts';
import type { DialerNeeds } from './dialer-needs.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { LiveCampaign } from './live-campaign.ts';
import type { DueContact } from './needs.ts';
import type { Transitions } from './transitions.ts';
import type { Agent, ContactReason } from './types.ts';

/** Maximum number of calls per account between the choice of their contact and their INVITE. */
const MAX_PLACING = 16;
/** Number of contacts read per query. */
const READ_AHEAD = 50;
/** Retry interval after a refusal that no event resolves, for example a raised limit. */
export const RECHECK_MS = 1000;
/** Pause before contacts that changed since they were read are read again, in milliseconds. */
const STALE_MS = 20;
const FOREVER = Number.POSITIVE_INFINITY;

/** State shared by the campaigns of one account. */
export interface AccountLimits {
  readonly accountId: AccountId;
  /** Number of calls between the choice of their contact and their INVITE. */
  placing: number;
  /** No call is tried before this time (microseconds UTC). */
  fullUntilUs: number;
}

export interface DiallingHooks {
  readonly attempts: Attempts;
  readonly lifecycle: Lifecycle;
  readonly transitions: Transitions;
  /** Returns the account's campaigns that are ready, queued, running or paused. */
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

  /** Places calls until no contact is due, a limit is full, or `isStopped` returns true. */
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
    const { holds } = live;
    live.callerIds ??= new CallerIds(await store.numbers(id), pool, { timezone, random, holds });
    return live.callerIds;
  }

  // ---------------------------------------------------------------- choice

  /** Returns the campaign with the fewest calls among those that want one. On a tie, the one served longest ago. */
  #next(accountId: AccountId, nowUs: number): LiveCampaign | undefined {
    let best: LiveCampaign | undefined;
    for (const live of this.#hooks.ofAccount(accountId)) {
      if (!live.wantsCall(nowUs)) continue;
      const isBefore =
        best === undefined ||
        live.busy < best.busy ||
        (live.busy === best.busy && live.servedUs < best.servedUs);
      if (isBefore) best = live;
    }
    if (best !== undefined) best.servedUs = nowUs;
    return best;
  }

  /** Returns the next contact. Undefined if none is due; the campaign then sleeps until one is. */
  async #nextContact(live: LiveCampaign, nowUs: number): Promise<DueContact | undefined> {
    const { attempts, lifecycle, wake } = this.#hooks;
    for (;;) {
      const next = live.ahead.shift();
      if (next !== undefined) {
        if (!live.placing.has(next.contact.id)) return next;
        continue;
      }
      const found = await lifecycle.due(live, nowUs, READ_AHEAD);
      if (found.length === 0) {
        const knewTimezones = live.timezones !== undefined;
        live.sleepUntilUs =
          live.placing.size > 0 ? FOREVER : await lifecycle.nextDueUs(live, nowUs);
        if (knewTimezones && live.sleepUntilUs <= nowUs) {
          // A contact that is due and was not returned cannot be read, or became due in between.
          if (await lifecycle.failUnreadable(live, nowUs)) continue;
          live.sleepUntilUs = nowUs + STALE_MS * 1000;
        }
        if (live.isDone) wake(live.campaign.accountId);
        // No contact waits and no call runs: the counters changed outside of the dialer, by an erasure of personal data.
        else if (live.sleepUntilUs === FOREVER && live.busy === 0)
          await this.#hooks.transitions.reread(live.campaign);
        return undefined;
      }
      live.ahead.push(...(await attempts.select(live, found)));
    }
  }

  async #agentOf(live: LiveCampaign): Promise<Agent | undefined> {
    try {
      live.agent ??= await this.#needs.store.agent(live.campaign.agentId);
      if (live.agent === undefined) live.blocked('the agent was deleted', this.#nowUs());
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      live.blocked('the agent cannot be read', this.#nowUs());
    }
    if (live.agent === undefined) live.sleepUntilUs = this.#laterUs();
    return live.agent;
  }

  async #callerOf(live: LiveCampaign, due: DueContact, nowUs: number): Promise<Caller | undefined> {
    const { callerIdStrategy, fixedCallerId } = live.campaign;
    if (callerIdStrategy !== 'pool') {
      const number = callerIdStrategy === 'fixed' ? fixedCallerId : due.contact.from;
      if (number !== undefined) return { number, use: undefined };
      await this.#refuse(live, due, 'no_caller_id');
      return undefined;
    }
    const turn = await this.#poolTurn(live, nowUs);
    if (turn.kind === 'number') return { number: turn.use.number, use: turn.use };
    live.ahead.unshift(due);
    if (turn.kind === 'wait' || turn.kind === 'held') {
      live.unblocked();
      live.waitsForPool = turn.kind === 'held';
      live.sleepUntilUs = turn.untilUs;
      return undefined;
    }
    const isDaily = turn.kind === 'dailyLimit';
    const reason = isDaily ? 'caller_pool_daily_limit_reached' : 'caller_pool_exhausted';
    await this.#hooks.transitions.pause(live.campaign, reason, this.#nowUs());
    return undefined;
  }

  /**
   * Returns the next pool turn. Rereads the counters before it reports a used-up pool, because cached counters may
   * count a use twice.
   */
  async #poolTurn(live: LiveCampaign, nowUs: number): Promise<Turn> {
    const wasRead = live.callerIds !== undefined;
    const turn = (await this.poolOf(live)).take(nowUs);
    if (!wasRead || (turn.kind !== 'exhausted' && turn.kind !== 'dailyLimit')) return turn;
    live.callerIds = undefined;
    return (await this.poolOf(live)).take(nowUs);
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
      this.#needs.logger.error({ error, campaignId: live.campaign.id }, 'dialer run failed');
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
      live.unblocked();
      return;
    }
    switch (placed.kind) {
      case 'full': {
        const { retryAfterMs = RECHECK_MS, of } = placed;
        const untilUs = this.#nowUs() + Math.ceil(retryAfterMs) * 1000;
        live.unblocked();
        live.ahead.unshift(due);
        if (of === 'account') limits.fullUntilUs = untilUs;
        else live.sleepUntilUs = untilUs;
        return;
      }
      case 'stale':
        live.ahead.length = 0;
        live.callerIds = undefined;
        live.sleepUntilUs = this.#nowUs() + STALE_MS * 1000;
        return this.#hooks.transitions.reread(live.campaign);
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
        live.blocked(placed.kind, this.#nowUs());
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
    return wallUs(this.#needs.clock);
  }
}
