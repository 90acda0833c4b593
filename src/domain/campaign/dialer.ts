/**
 * Places the calls of running campaigns. A round runs when a call ends, a command arrives, a slot becomes free or a
 * timer fires. Each account has at most one round at a time. All state can be rebuilt from the store.
 */
import { wallUs } from '../../base/clock.ts';
import type { AccountId, CampaignId } from '../../base/ids.ts';
import { Attempts } from './attempts.ts';
import type { DialerNeeds } from './dialer-needs.ts';
import { type AccountLimits, Dialling, RECHECK_MS } from './dialling.ts';
import { Lifecycle } from './lifecycle.ts';
import { LiveCampaign } from './live-campaign.ts';
import type { CampaignCallEnd } from './needs.ts';
import { PauseConditions } from './pause-conditions.ts';
import type { DialerControl, Obstacle } from './service-needs.ts';
import { Transitions } from './transitions.ts';
import type {
  Agent,
  Campaign,
  CampaignHealth,
  CampaignOwner,
  CampaignStatus,
  PauseReason,
  RunningCampaign,
} from './types.ts';

/** Longest timer, so that a wall clock change is noticed. */
const LONGEST_WAIT_MS = 600_000;
const FOREVER = Number.POSITIVE_INFINITY;

const CONCERNS: ReadonlySet<CampaignStatus> = new Set(['ready', 'queued', 'running', 'paused']);

interface AccountRounds extends AccountLimits {
  busy: boolean;
  again: boolean;
  cancel: () => void;
}

export class Dialer implements DialerControl {
  readonly #needs: DialerNeeds;
  readonly #transitions: Transitions;
  readonly #attempts: Attempts;
  readonly #obstacles: PauseConditions;
  readonly #lifecycle: Lifecycle;
  readonly #dialling: Dialling;
  readonly #live = new Map<CampaignId, LiveCampaign>();
  readonly #accounts = new Map<AccountId, AccountRounds>();
  #stopped = false;
  #isDraining = false;
  #hasBegun = false;

  constructor(needs: DialerNeeds) {
    this.#needs = needs;
    this.#transitions = new Transitions(needs, (campaign) => this.#keep(campaign));
    this.#attempts = new Attempts(needs, {
      ended: (...given) => this.#ended(...given),
      poolSettled: (live) => this.#poolSettled(live),
    });
    this.#obstacles = new PauseConditions(needs);
    this.#lifecycle = new Lifecycle(needs, this.#transitions, {
      runningOf: (accountId) => this.#runningOf(accountId),
      poolOf: (live) => this.#dialling.poolOf(live),
    });
    this.#dialling = new Dialling(needs, {
      attempts: this.#attempts,
      lifecycle: this.#lifecycle,
      transitions: this.#transitions,
      ofAccount: (accountId) => this.#ofAccount(accountId),
      wake: (accountId) => this.#wake(accountId),
    });
    needs.calls.onFree(() => this.#slotIsFree());
    needs.onRevoked((owner) => this.#revoked(owner));
  }

  /**
   * Closes attempts that another process left open, and resumes campaigns. Does nothing after the first success, and on a
   * node that drains. Must run after open calls were closed and before any call is placed. Rejects if the store fails.
   */
  async resumeAll(): Promise<void> {
    if (this.#hasBegun || this.#isDraining) return;
    this.#hasBegun = true;
    this.#stopped = false;
    try {
      await this.#attempts.recover();
      for (const campaign of await this.#needs.store.unfinished()) this.#keep(campaign);
    } catch (error) {
      this.stop();
      throw error;
    }
  }

  /** Stops placing calls. Live calls continue. Attempts whose end is not stored are closed at the next start. */
  stop(): void {
    this.#stopped = true;
    this.#hasBegun = false;
    this.#live.clear();
    for (const { cancel } of this.#accounts.values()) cancel();
  }

  /**
   * Stops placing calls for the rest of the process. Open attempts are those of live calls, so that this dialer must not
   * close them when the node adopts orphaned work.
   */
  drain(): void {
    this.#isDraining = true;
    this.stop();
  }

  /** Resolves when no call is being placed and the ends of all calls are stored. */
  idle(): Promise<void> {
    return this.#attempts.idle();
  }

  // ---------------------------------------------------------------- commands

  async start(campaign: Campaign): Promise<Campaign | undefined> {
    return this.#lifecycle.start(campaign);
  }

  pause(campaign: Campaign, reason: PauseReason): Promise<Campaign | undefined> {
    return this.#transitions.pause(campaign, reason, this.#nowUs());
  }

  /** Resumes a campaign. After `consecutive_failures`, a single failure pauses it again. */
  resume(campaign: Campaign): Promise<Campaign | undefined> {
    const wasFailing = campaign.pauseReason === 'consecutive_failures';
    const probation = wasFailing ? this.#needs.settings.failures - 1 : 0;
    return this.#transitions.resume(campaign, this.#nowUs(), probation);
  }

  obstacle(campaign: Campaign): Promise<Obstacle | undefined> {
    return this.#obstacles.of(campaign);
  }

  /** Reads the campaign again. A failed read is logged and does not fail the change. */
  async changed({ id, accountId }: Campaign): Promise<void> {
    try {
      const campaign = await this.#needs.store.current(id);
      if (campaign === undefined) return;
      this.#live.get(id)?.forget();
      this.#keep(campaign);
    } catch (error) {
      this.#needs.logger.error({ error, accountId, campaignId: id }, 'failed to read a campaign');
    }
  }

  async agentChanged(agent: Agent): Promise<void> {
    for (const live of this.#live.values()) {
      if (live.campaign.agentId === agent.id) live.agent = agent;
    }
  }

  health(campaign: Campaign): CampaignHealth {
    const live = this.#live.get(campaign.id) ?? new LiveCampaign(campaign);
    return live.health(this.#nowUs(), this.#needs.settings);
  }

  async running(accountId: AccountId): Promise<readonly RunningCampaign[]> {
    return this.#ofAccount(accountId)
      .filter(({ campaign, calls }) => calls > 0 || TAKES_CAPACITY.has(campaign.status))
      .map(({ campaign, calls }) => ({
        campaignId: campaign.id,
        subAccount: campaign.subAccount,
        name: campaign.name,
        status: campaign.status,
        maxConcurrent: campaign.maxConcurrent,
        running: calls,
        queued: campaign.counters.pending + campaign.counters.retry_pending,
      }));
  }

  // ---------------------------------------------------------------- scheduling

  /** Updates the in-memory state of a campaign from the store. Drops a finished campaign. */
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
    // A full limit does not pause the campaign: the contact is tried again later.
    live.sleepUntilUs = refused === 'full' ? this.#nowUs() + RECHECK_MS * 1000 : 0;
    if (refused !== undefined && refused !== 'full') live.refusedWith = refused;
    this.#wake(campaign.accountId);
  }

  #poolSettled(live: LiveCampaign): void {
    if (!live.waitsForPool) return;
    live.waitsForPool = false;
    live.sleepUntilUs = 0;
    this.#wake(live.campaign.accountId);
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

  /** Runs one round for an account. Never rejects. */
  async #round(rounds: AccountRounds): Promise<void> {
    const { accountId } = rounds;
    rounds.cancel();
    let wakeUs = FOREVER;
    try {
      while (rounds.again && !this.#stopped) {
        rounds.again = false;
        wakeUs = FOREVER;
        for (const live of this.#ofAccount(accountId)) {
          wakeUs = Math.min(wakeUs, await this.#lifecycle.advance(live, this.#nowUs()));
        }
        await this.#dialling.dial(rounds, () => this.#stopped);
      }
    } catch (error) {
      this.#needs.logger.error({ error, accountId }, 'dialer run failed');
      for (const live of this.#ofAccount(accountId))
        live.blocked('the store failed', this.#nowUs());
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

  // ---------------------------------------------------------------- queries

  #ofAccount(accountId: AccountId): LiveCampaign[] {
    return [...this.#live.values()].filter(({ campaign }) => campaign.accountId === accountId);
  }

  #runningOf(accountId: AccountId): number {
    return this.#ofAccount(accountId).filter(({ campaign }) => RUNS.has(campaign.status)).length;
  }

  #nowUs(): number {
    return wallUs(this.#needs.clock);
  }
}

const RUNS: ReadonlySet<CampaignStatus> = new Set(['running', 'paused']);
const TAKES_CAPACITY: ReadonlySet<CampaignStatus> = new Set(['running', 'queued']);
