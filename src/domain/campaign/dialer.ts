/**
 * Places the calls of running campaigns as slots are free. Woken by what happens (a call ended, a command, a free slot,
 * a moment that was waited for); one round of an account at a time. What it has in mind can be made anew from the store.
 */
import type { AccountId, CampaignId } from '../../base/ids.ts';
import { Attempts, type Caller, type Placed } from './attempts.ts';
import { CallerIds } from './caller-ids.ts';
import type { DialerNeeds } from './dialer-needs.ts';
import { LiveCampaign } from './live-campaign.ts';
import type { CampaignCallEnd, DueContact } from './needs.ts';
import { Obstacles } from './obstacles.ts';
import type { DialerControl, Obstacle } from './service-needs.ts';
import { Tending } from './tending.ts';
import { Transitions } from './transitions.ts';
import type {
  Agent,
  Campaign,
  CampaignHealth,
  CampaignOwner,
  CampaignStatus,
  ContactReason,
  PauseReason,
  RunningCampaign,
} from './types.ts';

/** Calls of one account between the choice of their contact and their INVITE. */
const MAX_PLACING = 16;
/** Contacts read at a time. */
const READ_AHEAD = 50;
/** Free slots of which no event tells (limits that were raised) is noticed after this long. */
const RECHECK_MS = 1000;
/** What was read ahead is not true any more: it is read again, and never at once in a circle. */
const STALE_MS = 20;
/** A wall clock that was set is noticed after this long. */
const LONGEST_WAIT_MS = 600_000;
const FOREVER = Number.POSITIVE_INFINITY;

const CONCERNS: ReadonlySet<CampaignStatus> = new Set(['ready', 'queued', 'running', 'paused']);

interface AccountRounds {
  readonly accountId: AccountId;
  busy: boolean;
  again: boolean;
  placing: number;
  /** No slot is free before, microseconds UTC. */
  fullUntilUs: number;
  cancel: () => void;
}

export class Dialer implements DialerControl {
  readonly #needs: DialerNeeds;
  readonly #transitions: Transitions;
  readonly #attempts: Attempts;
  readonly #obstacles: Obstacles;
  readonly #tending: Tending;
  readonly #live = new Map<CampaignId, LiveCampaign>();
  readonly #accounts = new Map<AccountId, AccountRounds>();
  #stopped = false;

  constructor(needs: DialerNeeds) {
    this.#needs = needs;
    this.#transitions = new Transitions(needs, (campaign) => this.#keep(campaign));
    this.#attempts = new Attempts(needs, { ended: (...given) => this.#ended(...given) });
    this.#obstacles = new Obstacles(needs);
    this.#tending = new Tending(needs, this.#transitions, {
      runningOf: (accountId) => this.#runningOf(accountId),
      poolOf: (live) => this.#poolOf(live),
    });
    needs.calls.onFree(() => this.#slotIsFree());
    needs.onRevoked((owner) => this.#revoked(owner));
  }

  /** Closes what an earlier process left, and goes on. Before any call is placed, and after open calls were closed. */
  async resumeAll(): Promise<void> {
    await this.#attempts.recover();
    for (const campaign of await this.#needs.store.unfinished()) this.#keep(campaign);
  }

  /** Nobody is dialled any more. Calls that live end as they do; what is not written is closed at the next start. */
  stop(): void {
    this.#stopped = true;
    for (const { cancel } of this.#accounts.values()) cancel();
  }

  // ---------------------------------------------------------------- commands

  async start(campaign: Campaign): Promise<Campaign | undefined> {
    return this.#tending.start(campaign);
  }

  pause(campaign: Campaign, reason: PauseReason): Promise<Campaign | undefined> {
    return this.#transitions.pause(campaign, reason, this.#nowUs());
  }

  /** Of one that failed again and again, the next failure pauses it again. */
  resume(campaign: Campaign): Promise<Campaign | undefined> {
    const wasFailing = campaign.pauseReason === 'consecutive_failures';
    const probation = wasFailing ? this.#needs.settings.failures - 1 : 0;
    return this.#transitions.resume(campaign, this.#nowUs(), probation);
  }

  obstacle(campaign: Campaign): Promise<Obstacle | undefined> {
    return this.#obstacles.of(campaign);
  }

  changed({ id, accountId }: Campaign): void {
    this.#needs.store
      .get(id)
      .then((campaign) => {
        if (campaign === undefined) return;
        this.#live.get(id)?.forget();
        this.#keep(campaign);
      })
      .catch((error: unknown) => {
        this.#needs.logger.error({ error, accountId, campaignId: id }, 'campaign not read');
      });
  }

  agentChanged(agent: Agent): void {
    for (const live of this.#live.values()) {
      if (live.campaign.agentId === agent.id) live.agent = agent;
    }
  }

  health(campaign: Campaign): CampaignHealth {
    const live = this.#live.get(campaign.id) ?? new LiveCampaign(campaign);
    return live.health(this.#nowUs(), this.#needs.settings);
  }

  running(accountId: AccountId): readonly RunningCampaign[] {
    return this.#ofAccount(accountId)
      .filter(({ campaign, calls }) => calls > 0 || TAKES_CAPACITY.has(campaign.status))
      .map(({ campaign, calls }) => ({
        campaignId: campaign.id,
        name: campaign.name,
        status: campaign.status,
        maxConcurrent: campaign.maxConcurrent,
        running: calls,
        queued: campaign.counters.pending + campaign.counters.retry_pending,
      }));
  }

  // ---------------------------------------------------------------- waking

  /** What the dialer has to do with, as the store has it. */
  #keep(campaign: Campaign): void {
    const known = this.#live.get(campaign.id);
    if (!CONCERNS.has(campaign.status) && (known === undefined || known.calls === 0)) {
      this.#live.delete(campaign.id);
    } else if (known === undefined) {
      this.#live.set(campaign.id, new LiveCampaign(campaign));
    } else {
      if (known.campaign.status !== campaign.status) known.forget();
      known.campaign = campaign;
    }
    this.#wake(campaign.accountId);
  }

  #ended(campaign: Campaign, refused: CampaignCallEnd['refused']): void {
    const live = this.#live.get(campaign.id);
    if (live === undefined) return;
    if (live.calls === 0 && !CONCERNS.has(campaign.status)) this.#live.delete(campaign.id);
    live.sleepUntilUs = 0;
    if (refused !== undefined) live.refusedWith = refused;
    this.#wake(campaign.accountId);
  }

  #slotIsFree(): void {
    for (const rounds of this.#accounts.values()) {
      rounds.fullUntilUs = 0;
      this.#wake(rounds.accountId);
    }
  }

  async #revoked({ accountId, subAccount }: CampaignOwner): Promise<void> {
    for (const { campaign, isRunning } of this.#ofAccount(accountId)) {
      const isMeant = subAccount === undefined || campaign.subAccount === subAccount;
      if (isRunning && isMeant) await this.pause(campaign, 'account_inactive');
    }
  }

  #wake(accountId: AccountId): void {
    if (this.#stopped) return;
    let rounds = this.#accounts.get(accountId);
    if (rounds === undefined) {
      rounds = {
        accountId,
        busy: false,
        again: false,
        placing: 0,
        fullUntilUs: 0,
        cancel: () => undefined,
      };
      this.#accounts.set(accountId, rounds);
    }
    rounds.again = true;
    if (rounds.busy) return;
    rounds.busy = true;
    void this.#round(rounds).finally(() => {
      rounds.busy = false;
      if (rounds.again) this.#wake(accountId);
    });
  }

  /** Never rejects. */
  async #round(rounds: AccountRounds): Promise<void> {
    const { accountId } = rounds;
    rounds.cancel();
    let wakeUs = FOREVER;
    try {
      while (rounds.again && !this.#stopped) {
        rounds.again = false;
        wakeUs = FOREVER;
        for (const live of this.#ofAccount(accountId)) {
          wakeUs = Math.min(wakeUs, await this.#tending.tend(live, this.#nowUs()));
        }
        await this.#dial(rounds);
      }
    } catch (error) {
      this.#needs.logger.error({ error, accountId }, 'dialer stumbled');
      for (const live of this.#ofAccount(accountId))
        live.troubled('the store failed', this.#nowUs());
      wakeUs = this.#nowUs() + RECHECK_MS * 1000;
    }
    this.#wakeAt(rounds, wakeUs);
  }

  #wakeAt(rounds: AccountRounds, tendUs: number): void {
    const nowUs = this.#nowUs();
    const wakes = this.#ofAccount(rounds.accountId)
      .filter(({ isRunning }) => isRunning)
      .map(({ sleepUntilUs }) => sleepUntilUs);
    const dueUs = Math.min(tendUs, ...[rounds.fullUntilUs, ...wakes].filter((us) => us > nowUs));
    if (this.#stopped || this.#live.size === 0) return;
    const { clock } = this.#needs;
    const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(0, (dueUs - nowUs) / 1000));
    rounds.cancel = clock.at(clock.monotonicMs() + waitMs, () => this.#wake(rounds.accountId));
  }

  // ---------------------------------------------------------------- dialling

  async #dial(rounds: AccountRounds): Promise<void> {
    while (rounds.placing < MAX_PLACING && !this.#stopped) {
      const nowUs = this.#nowUs();
      if (rounds.fullUntilUs > nowUs) return;
      const live = this.#next(rounds.accountId, nowUs);
      if (live === undefined) return;
      const agent = await this.#agentOf(live);
      const due = await this.#nextContact(live, nowUs);
      if (due === undefined || agent === undefined) continue;
      const caller = await this.#callerOf(live, due, nowUs);
      if (caller === undefined) continue;
      live.placing.add(due.contact.id);
      rounds.placing += 1;
      void this.#place(rounds, live, agent, due, caller);
    }
  }

  /** Of those that may dial, the one with the fewest calls; of equals, the one that has waited longest. */
  #next(accountId: AccountId, nowUs: number): LiveCampaign | undefined {
    let best: LiveCampaign | undefined;
    for (const live of this.#ofAccount(accountId)) {
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

  /** Undefined: nobody is due now, and it sleeps until somebody is. */
  async #nextContact(live: LiveCampaign, nowUs: number): Promise<DueContact | undefined> {
    for (;;) {
      const next = live.ahead.shift();
      if (next !== undefined) {
        if (!live.placing.has(next.contact.id)) return next;
        continue;
      }
      const found = await this.#tending.due(live, nowUs, READ_AHEAD);
      if (found.length === 0) {
        if (live.isDone) this.#wake(live.campaign.accountId);
        live.sleepUntilUs =
          live.placing.size > 0 ? FOREVER : await this.#tending.nextDueUs(live, nowUs);
        return undefined;
      }
      live.ahead.push(...(await this.#attempts.select(live, found)));
    }
  }

  async #callerOf(live: LiveCampaign, due: DueContact, nowUs: number): Promise<Caller | undefined> {
    const { callerIdStrategy, fixedCallerId } = live.campaign;
    if (callerIdStrategy !== 'pool') {
      const number = callerIdStrategy === 'fixed' ? fixedCallerId : due.contact.from;
      if (number !== undefined) return { number, poolNumber: undefined };
      await this.#refuse(live, due, 'no_caller_id');
      return undefined;
    }
    const turn = (await this.#poolOf(live)).take(nowUs);
    if (turn.kind === 'number') {
      return { number: turn.number, poolNumber: { id: turn.id, day: turn.day } };
    }
    live.ahead.unshift(due);
    if (turn.kind === 'wait') {
      live.untroubled();
      live.sleepUntilUs = turn.untilUs;
    } else {
      const isDaily = turn.kind === 'dailyLimit';
      await this.pause(
        live.campaign,
        isDaily ? 'caller_pool_daily_limit_reached' : 'caller_pool_exhausted',
      );
    }
    return undefined;
  }

  async #place(
    rounds: AccountRounds,
    live: LiveCampaign,
    agent: Agent,
    due: DueContact,
    caller: Caller,
  ): Promise<void> {
    const placed = await this.#attempts.place(live, agent, due, caller);
    live.placing.delete(due.contact.id);
    rounds.placing -= 1;
    if (placed !== 'begun' && caller.poolNumber !== undefined)
      live.callerIds?.giveBack(caller.poolNumber.id);
    try {
      await this.#placed(rounds, live, due, placed);
    } catch (error) {
      this.#needs.logger.error({ error, campaignId: live.campaign.id }, 'dialer stumbled');
    }
    this.#wake(rounds.accountId);
  }

  async #placed(
    rounds: AccountRounds,
    live: LiveCampaign,
    due: DueContact,
    placed: Placed,
  ): Promise<void> {
    live.sleepUntilUs = 0;
    if (placed === 'begun') {
      live.untroubled();
      return;
    }
    const laterUs = this.#nowUs() + RECHECK_MS * 1000;
    switch (placed.kind) {
      case 'full': {
        const { retryAfterMs = RECHECK_MS, of } = placed;
        const untilUs = this.#nowUs() + Math.ceil(retryAfterMs) * 1000;
        live.untroubled();
        live.ahead.unshift(due);
        if (of === 'account') rounds.fullUntilUs = untilUs;
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
        live.sleepUntilUs = laterUs;
    }
  }

  #refuse(live: LiveCampaign, due: DueContact, reason: ContactReason): Promise<void> {
    const decision = {
      contactId: due.contact.id,
      status: 'failed',
      reason,
      dueUs: undefined,
    } as const;
    return this.#attempts.decide(live, [due], [decision]);
  }

  // ---------------------------------------------------------------- facts

  async #agentOf(live: LiveCampaign): Promise<Agent | undefined> {
    live.agent ??= await this.#needs.store.agent(live.campaign.agentId);
    if (live.agent === undefined) {
      live.troubled('the agent is gone', this.#nowUs());
      live.sleepUntilUs = this.#nowUs() + RECHECK_MS * 1000;
    }
    return live.agent;
  }

  async #poolOf(live: LiveCampaign): Promise<CallerIds> {
    const { store, random } = this.#needs;
    const { id, pool, timezone } = live.campaign;
    live.callerIds ??= new CallerIds(await store.numbers(id), pool, { timezone, random });
    return live.callerIds;
  }

  #ofAccount(accountId: AccountId): LiveCampaign[] {
    return [...this.#live.values()].filter(({ campaign }) => campaign.accountId === accountId);
  }

  #runningOf(accountId: AccountId): number {
    return this.#ofAccount(accountId).filter(({ campaign }) => RUNS.has(campaign.status)).length;
  }

  #nowUs(): number {
    return Math.round(this.#needs.clock.wallMs() * 1000);
  }
}

const RUNS: ReadonlySet<CampaignStatus> = new Set(['running', 'paused']);
const TAKES_CAPACITY: ReadonlySet<CampaignStatus> = new Set(['running', 'queued']);
