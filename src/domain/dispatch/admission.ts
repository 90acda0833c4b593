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

/** Why a call may not begin, as it will stand in its record. */
export interface AdmissionRefusal {
  readonly cause: HangupCauseKey;
  readonly detail: string;
  /** Set when it is for want of money. */
  readonly money?: ReserveRefusal;
  /** This node cannot serve calls: an inbound call leaves no record, because the edge tries another node. */
  readonly unserviceable?: true;
}

/** Why there is no slot: a limit of the account's own, or this node is full. */
export type SlotRefusal =
  | { readonly kind: 'concurrency' | 'cps'; readonly limit: number; readonly retryAfterMs: number }
  | {
      readonly kind: 'node';
      readonly detail: string;
      readonly retryAfterMs: number;
      /** This node cannot serve calls, whatever their account. */
      readonly unserviceable?: true;
    };

export interface AdmissionNeeds {
  readonly accounts: Pick<Accounts, 'get'>;
  readonly endpoints: Pick<EndpointStore, 'get'>;
  readonly capacity: Slots;
  readonly shares: FairShare;
  readonly newCalls: Pick<NewCalls, 'take'>;
  readonly keeper: CallBilling;
  readonly clock: Clock;
  /** Calls that run on this node at once, and that begin within a second. */
  readonly nodeLimit: number;
  /** How long a call waits for a slot of this node. */
  readonly waitMs: number;
}

/** Redis does not answer. */
export const CAPACITY_UNKNOWN = 'the capacity shared with other nodes is not known';

const NODE = 'node';
const SECOND_MS = 1000;
const STOPPING: SlotRefusal = {
  kind: 'node',
  detail: 'this node is stopping',
  retryAfterMs: SECOND_MS,
  unserviceable: true,
};

/** Capacity and money at the beginning of a call; both given back at its end, exactly once. */
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

  /** `act` runs when a slot was given back: for somebody who waits for one without a place in a queue. */
  onFree(act: () => void): void {
    this.#onFree.push(act);
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Why this node takes no calls at the moment, in words; undefined: it does again. */
  pause(problem: string | undefined): void {
    this.#problem = problem;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** No call may begin: for good, or for the moment. */
  get closed(): boolean {
    return this.#draining || this.#problem !== undefined;
  }

  /** Whether this node, where it has too much to do, begins one more call now; to be asked once for each. */
  begins(): boolean {
    return this.#needs.newCalls.take();
  }

  running(accountId: AccountId): Promise<number> {
    return this.#needs.capacity.running(accountId);
  }

  /** Calls of all accounts. */
  runningHere(): number {
    return this.#needs.shares.running(NODE);
  }

  /** A slot of the account and one of this node, or neither. `limits`: the account's own, or less of it. */
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

  /** The same; waits a little for its turn while this node is full. */
  async slot(owner: Account, signal: AbortSignal): Promise<Result<CapacitySlot, SlotRefusal>> {
    // First: what the account may not have takes nothing from others.
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
        ? `this node is full: this account has its share of ${nodeLimit} calls`
        : `this node is full: ${nodeLimit} calls ${refusal?.kind === 'cps' ? 'per second' : 'at once'}`;
    const retryAfterMs = refusal?.retryAfterMs ?? SECOND_MS;
    // Behind an edge another node takes the call.
    const others = this.#needs.capacity.isShared ? ({ unserviceable: true } as const) : {};
    return { kind: 'node', detail, retryAfterMs, ...others };
  }

  /**
   * Takes the slot, unless one was taken (or refused) before, and holds the first pulse's price. The call's end gives both
   * back; of a call that is refused, its place within this second too. `waiting`: accepted with it, to be dialled later.
   */
  async admit(
    call: Call,
    owner: Account,
    taken?: Result<CapacitySlot, SlotRefusal>,
    waiting: readonly Recorded[] = [],
  ): Promise<Result<void, AdmissionRefusal>> {
    let isRefused = false;
    const slot = Promise.resolve(taken ?? this.slot(owner, call.signal)).then((asked) => {
      if (asked.ok)
        void call.ended.then(() => (isRefused ? asked.value.undo() : asked.value.release()));
      return asked;
    });
    const admitted = await this.#decide(call, owner, slot, waiting);
    isRefused = !admitted.ok;
    return admitted;
  }

  async #decide(
    call: Call,
    owner: Account,
    asked: Promise<Result<CapacitySlot, SlotRefusal>>,
    waiting: readonly Recorded[],
  ): Promise<Result<void, AdmissionRefusal>> {
    // Under care from here on, so that a refusal leaves a record too; both may be asked of other machines, at the same time.
    const [slot, opened] = await Promise.all([asked, this.#open(call, owner, waiting)]);
    if (this.#problem !== undefined) return err(unrecordable(this.#problem));
    if (!slot.ok) return err(slotRefused(slot.error));
    const barred = await this.#barred(call).catch(refusalOf);
    if (typeof barred === 'object') return err(barred);
    if (barred !== undefined) return err({ cause: 'forbidden', detail: barred });
    if (opened.ok) return ok(undefined);
    if (typeof opened.error === 'object') return err(opened.error);
    return err({ cause: 'outOfCredits', detail: MONEY[opened.error], money: opened.error });
  }

  /** Asked once the call is under care: who is revoked later finds it there. */
  async #barred({ identity }: Call): Promise<string | undefined> {
    const { accountId, subAccount, endpointId } = identity;
    const owner = await this.#needs.accounts.get(accountId);
    if (owner?.status !== 'active') return `the account is ${owner?.status ?? 'gone'}`;
    const sub = subAccount === undefined ? owner : await this.#needs.accounts.get(subAccount);
    if (sub?.status !== 'active') return `the sub-account is ${sub?.status ?? 'gone'}`;
    if (!permits(sub, 'calls')) return 'calls are not permitted to the sub-account';
    if (endpointId === undefined) return undefined;
    const endpoint = await this.#needs.endpoints.get(accountId, endpointId);
    if (endpoint === undefined) return 'the endpoint was deleted';
    return endpoint.allowVoice
      ? undefined
      : 'notPermitted: the endpoint may not make voice calls (allow_voice)';
  }

  /** A store that takes no writes refuses the call too, and in its own words. */
  async #open(
    call: Call,
    owner: Account,
    waiting: readonly Recorded[],
  ): Promise<Result<void, ReserveRefusal | AdmissionRefusal>> {
    try {
      return await this.#needs.keeper.open(call, owner.dailySpendLimit, waiting);
    } catch (error) {
      return err(refusalOf(error));
    }
  }
}

/** One of the account and one of the node, given back together. */
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

/** Of a store that is away. */
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

/** An account as one of those who share something: by what it was given itself. */
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
  const what = refusal.kind === 'cps' ? 'calls per second' : 'calls at once';
  return `the account's limit of ${refusal.limit} ${what} is reached`;
}

const MONEY = {
  insufficientFunds: 'the balance is too low',
  dailySpendLimit: "the account's daily spend limit is reached",
  unknownBalance: 'the account has no balance in its currency',
} as const;
