import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { type Accounts, permits } from '../account/account.ts';
import type { Account } from '../account/types.ts';
import type { Call, Recorded } from '../call/call.ts';
import type { HangupCauseKey } from '../call/types.ts';
import type { Capacity, CapacityRefusal, CapacitySlot } from '../capacity/capacity.ts';
import type { ReserveRefusal } from '../ledger/types.ts';
import type { CallKeeper } from './keeper.ts';

/** Why a call may not begin, as it will stand in its record. */
export interface AdmissionRefusal {
  readonly cause: HangupCauseKey;
  readonly detail: string;
  /** Set when it is for want of money. */
  readonly money?: ReserveRefusal;
}

const NODE = 'node';

/** Capacity and money at the beginning of a call; both given back at its end, exactly once. */
export class Admission {
  readonly #capacity: Capacity;
  readonly #keeper: CallKeeper;
  readonly #clock: Clock;
  readonly #nodeLimit: number;
  readonly #accounts: Pick<Accounts, 'get'>;
  readonly #onDrain: (() => void)[] = [];
  #draining = false;
  #problem: string | undefined;
  #overloaded = false;

  constructor(needs: {
    readonly accounts: Pick<Accounts, 'get'>;
    readonly capacity: Capacity;
    readonly keeper: CallKeeper;
    readonly clock: Clock;
    readonly nodeLimit: number;
  }) {
    this.#accounts = needs.accounts;
    this.#capacity = needs.capacity;
    this.#keeper = needs.keeper;
    this.#clock = needs.clock;
    this.#nodeLimit = needs.nodeLimit;
  }

  /** No further calls are taken from now on. */
  drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    for (const act of this.#onDrain) act();
  }

  /** `act` runs in the moment from which no further calls are taken. */
  onDrain(act: () => void): void {
    this.#onDrain.push(act);
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Why this node takes no calls at the moment, in words; undefined: it does again. */
  pause(problem: string | undefined): void {
    this.#problem = problem;
  }

  /** No call may begin: for good, or for the moment. */
  get closed(): boolean {
    return this.#draining || this.#problem !== undefined;
  }

  /** While it lasts no calls are placed; those that run, and their further legs, go on. */
  overload(on: boolean): void {
    this.#overloaded = on;
  }

  get overloaded(): boolean {
    return this.#overloaded;
  }

  running(accountId: string): number {
    return this.#capacity.running(accountId);
  }

  /** A slot of the account and one of this node, or neither. */
  takeSlot(owner: Account): Result<CapacitySlot, CapacityRefusal | { readonly kind: 'node' }> {
    if (this.closed) return err({ kind: 'node' });
    const nowMs = this.#clock.monotonicMs();
    const node = this.#capacity.take(
      NODE,
      { concurrentCalls: this.#nodeLimit, cps: this.#nodeLimit },
      nowMs,
    );
    if (!node.ok) return err({ kind: 'node' });
    const limits = { concurrentCalls: owner.concurrentCallsLimit, cps: owner.cpsLimit };
    const slot = this.#capacity.take(owner.authId, limits, nowMs);
    if (!slot.ok) {
      node.value.release();
      return slot;
    }
    return ok({
      release: () => {
        slot.value.release();
        node.value.release();
      },
    });
  }

  /**
   * Takes the slot, unless one was taken before, and holds the first pulse's price. The call's end gives both back.
   * `waiting`: accepted with it, to be dialled later.
   */
  async admit(
    call: Call,
    owner: Account,
    taken?: CapacitySlot,
    waiting: readonly Recorded[] = [],
  ): Promise<Result<void, AdmissionRefusal>> {
    const slot = taken === undefined ? this.takeSlot(owner) : ok(taken);
    if (slot.ok) void call.ended.then(() => slot.value.release());
    // Under care from here on, so that a refusal leaves a record too.
    const opened = await this.#open(call, owner, waiting);
    if (this.#problem !== undefined) return err(unrecordable(this.#problem));
    if (!slot.ok) {
      const detail =
        slot.error.kind === 'node'
          ? 'this node takes no more calls'
          : `limit reached: ${slot.error.kind}`;
      return err({ cause: 'concurrencyBreached', detail });
    }
    const barred = await this.#barred(call);
    if (barred !== undefined) return err({ cause: 'forbidden', detail: barred });
    if (opened.ok) return ok(undefined);
    if (typeof opened.error === 'object') return err(opened.error);
    return err({ cause: 'outOfCredits', detail: MONEY[opened.error], money: opened.error });
  }

  /** Asked once the call is under care: who is revoked later finds it there. */
  async #barred({ identity }: Call): Promise<string | undefined> {
    const { accountId, subAccount } = identity;
    const owner = await this.#accounts.get(accountId);
    if (owner?.status !== 'active') return `the account is ${owner?.status ?? 'gone'}`;
    if (subAccount === undefined) return undefined;
    const sub = await this.#accounts.get(subAccount);
    if (sub?.status !== 'active') return `the sub-account is ${sub?.status ?? 'gone'}`;
    return permits(sub, 'calls') ? undefined : 'calls are not permitted to the sub-account';
  }

  /** A store that takes no writes refuses the call too, and in its own words. */
  async #open(
    call: Call,
    owner: Account,
    waiting: readonly Recorded[],
  ): Promise<Result<void, ReserveRefusal | AdmissionRefusal>> {
    try {
      return await this.#keeper.open(call, owner.dailySpendLimit, waiting);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return err(unrecordable(error.message));
    }
  }
}

const unrecordable = (why: string): AdmissionRefusal => ({
  cause: 'unavailable',
  detail: `the call cannot be recorded: ${why}`,
});

const MONEY = {
  insufficientFunds: 'the balance is too low',
  dailySpendLimit: "the account's daily spend limit is reached",
  unknownBalance: 'the account has no balance in its currency',
} as const;
