import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import type { AccountId } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { type Accounts, permits } from '../account/account.ts';
import type { Account } from '../account/types.ts';
import type { Call, Recorded } from '../call/call.ts';
import type { HangupCauseKey } from '../call/types.ts';
import type {
  CapacityLimits,
  CapacityRefusal,
  CapacitySlot,
  FairShare,
  NewCalls,
  Place,
  ShareRefusal,
  Sharer,
  Slots,
} from '../capacity/capacity.ts';
import type { ReserveRefusal } from '../ledger/types.ts';
import type { EndpointStore } from '../provisioning/needs.ts';
import type { CallBilling } from './call-billing.ts';

/** Reason for refusing a call, as recorded in its CDR. */
export interface AdmissionRefusal {
  readonly cause: HangupCauseKey;
  readonly detail: string;
  /** Set if the call is refused for lack of funds. */
  readonly money?: ReserveRefusal;
  /**
   * True if this node cannot serve calls. An inbound call then leaves no record, because the edge proxy tries another
   * node.
   */
  readonly unserviceable?: true;
}

/** Reason why no slot is available: a limit of the account, or this node is full. */
export type SlotRefusal =
  | { readonly kind: 'concurrency' | 'cps'; readonly limit: number; readonly retryAfterMs: number }
  | {
      readonly kind: 'node';
      readonly detail: string;
      readonly retryAfterMs: number;
      /** True if this node cannot serve calls of any account. */
      readonly unserviceable?: true;
    };

export interface AdmissionNeeds {
  readonly accounts: Pick<Accounts, 'get'>;
  readonly endpoints: Pick<EndpointStore, 'get'>;
  readonly capacity: Slots;
  readonly shares: FairShare;
  readonly newCalls: Pick<NewCalls, 'take'>;
  readonly callBilling: CallBilling;
  readonly clock: Clock;
  /** Limit of this node: concurrent calls, and call starts per second. */
  readonly nodeLimit: number;
  /** Maximum time that a call waits for a slot of this node, in ms. */
  readonly waitMs: number;
}

/** Detail of refusals while Redis is unavailable. */
export const CAPACITY_UNKNOWN = 'the capacity shared with other nodes is unknown';

const NODE = 'node';
const SECOND_MS = 1000;
const STOPPING: SlotRefusal = {
  kind: 'node',
  detail: 'this node is stopping',
  retryAfterMs: SECOND_MS,
  unserviceable: true,
};

/** Reserves capacity and funds when a call begins. Both are released exactly once, when it ends. */
export class Admission {
  readonly #needs: AdmissionNeeds;
  readonly #onDrain: (() => void)[] = [];
  readonly #onFree: (() => void)[] = [];
  #draining = false;
  #problem: string | undefined;
  #place: Place | undefined;

  constructor(needs: AdmissionNeeds) {
    this.#needs = needs;
  }

  /** Stops admitting calls. */
  drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    for (const act of this.#onDrain) act();
  }

  /** Runs `act` when draining begins. */
  onDrain(act: () => void): void {
    this.#onDrain.push(act);
  }

  /** Runs `act` whenever a slot is released, for waiters that are not in a queue. */
  onFree(act: () => void): void {
    this.#onFree.push(act);
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Suspends or resumes admission. `problem` is the reason in plain words; undefined resumes. */
  pause(problem: string | undefined): void {
    this.#problem = problem;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** True if no call may begin, permanently or temporarily. */
  get closed(): boolean {
    return this.#draining || this.#problem !== undefined;
  }

  /** Returns whether an overloaded node may begin another call now. Must be called once per new call. */
  begins(): boolean {
    return this.#needs.newCalls.take();
  }

  running(accountId: AccountId): Promise<number> {
    return this.#needs.capacity.running(accountId);
  }

  /** Active calls of all accounts on this node. */
  runningHere(): number {
    return this.#needs.shares.running(NODE);
  }

  /** Reserves a slot of the account and one of this node, or none. `limits`: limits of the account or lower ones. */
  async takeSlot(
    owner: Account,
    limits = limitsOf(owner),
  ): Promise<Result<CapacitySlot, SlotRefusal>> {
    const own = await this.#ownSlot(owner, limits);
    if (!own.ok) return own;
    const node = this.#needs.shares.take(this.#node(), sharerOf(owner));
    if (node.ok) return ok(this.#both(own.value, node.value));
    own.value.undo();
    return err(this.#nodeFull(node.error));
  }

  /** As `takeSlot`, but waits up to `waitMs` while this node is full. */
  async slot(owner: Account, signal: AbortSignal): Promise<Result<CapacitySlot, SlotRefusal>> {
    // The account's slot comes first, so that a call above its limit does not use node capacity.
    const own = await this.#ownSlot(owner, limitsOf(owner));
    if (!own.ok) return own;
    const { shares, waitMs } = this.#needs;
    const node = await shares.wait([this.#node()], sharerOf(owner), { waitMs, signal });
    if (node.ok) return ok(this.#both(own.value, node.value.slot));
    own.value.undo();
    return err(this.#nodeFull(node.error.refusals[0]));
  }

  #shut(): SlotRefusal | undefined {
    if (this.#draining) return STOPPING;
    if (this.#problem === undefined) return undefined;
    return {
      kind: 'node',
      detail: this.#problem,
      retryAfterMs: SECOND_MS,
      unserviceable: true,
    };
  }

  async #ownSlot(
    owner: Account,
    limits: CapacityLimits,
  ): Promise<Result<CapacitySlot, SlotRefusal>> {
    const shut = this.#shut();
    if (shut !== undefined) return err(shut);
    const slot = await this.#needs.capacity.take(owner.authId, limits);
    return slot.ok ? slot : err(ownRefusal(slot.error, limits));
  }

  #both(own: CapacitySlot, node: CapacitySlot): CapacitySlot {
    return new BothSlots(own, node, this.#freed);
  }

  readonly #freed = (): void => {
    for (const act of this.#onFree) act();
  };

  #node(): Place {
    const { nodeLimit } = this.#needs;
    this.#place ??= { key: NODE, limits: { concurrentCalls: nodeLimit, cps: nodeLimit } };
    return this.#place;
  }

  #nodeFull(refusal: ShareRefusal | undefined): SlotRefusal {
    const { nodeLimit } = this.#needs;
    const detail =
      refusal?.kind === 'share'
        ? `this node is full: this account uses its share of ${nodeLimit} calls`
        : `this node is full: ${nodeLimit} ${refusal?.kind === 'cps' ? 'calls per second' : 'concurrent calls'}`;
    const retryAfterMs = refusal?.retryAfterMs ?? SECOND_MS;
    // Behind an edge proxy, another node can serve the call.
    const others = this.#needs.capacity.isShared ? ({ unserviceable: true } as const) : {};
    return { kind: 'node', detail, retryAfterMs, ...others };
  }

  /**
   * Admits a call: reserves a slot, unless `taken` has one, and the price of its first pulse. Both are released when
   * the call ends. A refused call does not count as a call start. `waiting`: calls accepted in the same request, to be
   * dialled later.
   */
  async admit(
    call: Call,
    owner: Account,
    taken?: Result<CapacitySlot, SlotRefusal>,
    waiting: readonly Recorded[] = [],
  ): Promise<Result<void, AdmissionRefusal>> {
    let isRefused = false;
    const slot = Promise.resolve(taken ?? this.slot(owner, call.signal)).then((requested) => {
      if (requested.ok)
        void call.ended.then(() =>
          isRefused ? requested.value.undo() : requested.value.release(),
        );
      return requested;
    });
    const admitted = await this.#decide(call, owner, slot, waiting);
    isRefused = !admitted.ok;
    return admitted;
  }

  async #decide(
    call: Call,
    owner: Account,
    requested: Promise<Result<CapacitySlot, SlotRefusal>>,
    waiting: readonly Recorded[],
  ): Promise<Result<void, AdmissionRefusal>> {
    // Open the record before deciding, so that a refused call has a record too. Both operations may be remote and run
    // in parallel.
    const [slot, opened] = await Promise.all([requested, this.#open(call, owner, waiting)]);
    if (this.#problem !== undefined) return err(unrecordable(this.#problem));
    if (!slot.ok) return err(slotRefused(slot.error));
    const barred = await this.#barred(call).catch(refusalOf);
    if (typeof barred === 'object') return err(barred);
    if (barred !== undefined) return err({ cause: 'forbidden', detail: barred });
    if (opened.ok) return ok(undefined);
    if (typeof opened.error === 'object') return err(opened.error);
    return err({ cause: 'outOfCredits', detail: MONEY[opened.error], money: opened.error });
  }

  /**
   * Returns why the account or endpoint may not call. Checked after the record is open, so that a later revocation
   * finds the call.
   */
  async #barred({ identity }: Call): Promise<string | undefined> {
    const { accountId, subAccount, endpointId } = identity;
    const owner = await this.#needs.accounts.get(accountId);
    if (owner?.status !== 'active') return `the account is ${owner?.status ?? 'deleted'}`;
    const sub = subAccount === undefined ? owner : await this.#needs.accounts.get(subAccount);
    if (sub?.status !== 'active') return `the sub-account is ${sub?.status ?? 'deleted'}`;
    if (!permits(sub, 'calls')) return 'the sub-account may not make calls';
    if (endpointId === undefined) return undefined;
    const endpoint = await this.#needs.endpoints.get(accountId, endpointId);
    if (endpoint === undefined) return 'the endpoint was deleted';
    return endpoint.allowVoice
      ? undefined
      : 'notPermitted: the endpoint may not make voice calls (allow_voice)';
  }

  /** Opens the record. A store that rejects writes refuses the call, with the store's error message. */
  async #open(
    call: Call,
    owner: Account,
    waiting: readonly Recorded[],
  ): Promise<Result<void, ReserveRefusal | AdmissionRefusal>> {
    try {
      return await this.#needs.callBilling.open(call, owner.dailySpendLimit, waiting);
    } catch (error) {
      return err(refusalOf(error));
    }
  }
}

/** An account slot and a node slot, released together. */
class BothSlots implements CapacitySlot {
  readonly #own: CapacitySlot;
  readonly #node: CapacitySlot;
  readonly #freed: () => void;

  constructor(own: CapacitySlot, node: CapacitySlot, freed: () => void) {
    this.#own = own;
    this.#node = node;
    this.#freed = freed;
  }

  release(): void {
    this.#own.release();
    this.#node.release();
    this.#freed();
  }

  undo(): void {
    this.#own.undo();
    this.#node.undo();
    this.#freed();
  }
}

/** Refusal when the store is unavailable. */
function refusalOf(error: unknown): AdmissionRefusal {
  if (!(error instanceof ServiceError)) throw error;
  return unrecordable(error.message);
}

function slotRefused(refusal: SlotRefusal): AdmissionRefusal {
  const detail = describe(refusal);
  return refusal.kind === 'node' && refusal.unserviceable
    ? { cause: 'unavailable', detail, unserviceable: true }
    : { cause: 'concurrencyBreached', detail };
}

const unrecordable = (why: string): AdmissionRefusal => ({
  cause: 'unavailable',
  unserviceable: true,
  detail: `the call cannot be recorded: ${why}`,
});

export const limitsOf = (owner: Account): CapacityLimits => ({
  concurrentCalls: owner.concurrentCallsLimit,
  cps: owner.cpsLimit,
});

/** The account as a participant in fair sharing, weighted by its limits. */
export const sharerOf = (owner: Account): Sharer => ({
  accountId: owner.authId,
  limits: limitsOf(owner),
});

const ownRefusal = (
  { kind, retryAfterMs }: CapacityRefusal,
  { concurrentCalls, cps }: CapacityLimits,
): SlotRefusal =>
  kind === 'away'
    ? { kind: 'node', detail: CAPACITY_UNKNOWN, retryAfterMs, unserviceable: true }
    : { kind, retryAfterMs, limit: kind === 'cps' ? cps : concurrentCalls };

function describe(refusal: SlotRefusal): string {
  if (refusal.kind === 'node') return refusal.detail;
  const what = refusal.kind === 'cps' ? 'calls per second' : 'concurrent calls';
  return `the account's limit of ${refusal.limit} ${what} is reached`;
}

const MONEY = {
  insufficientFunds: 'the balance is too low',
  dailySpendLimit: "the account's daily spend limit is reached",
  unknownBalance: 'the account has no balance in its currency',
} as const;
