/**
 * Calls placed through the REST API: accepted or refused immediately, dialled within the account's limits (spec: POST
 * …/Call/).
 */
import { type AccountId, asRequestUuid, type CallUuid, type RequestUuid } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Account } from '../account/types.ts';
import { type Call, type Recorded, type TargetSlot, waitingCall } from '../call/call.ts';
import type { CapacitySlot } from '../capacity/capacity.ts';
import type { ReserveRefusal } from '../ledger/types.ts';
import type { AdmissionRefusal, SlotRefusal } from './admission.ts';
import { BulkQueue, type Prepared } from './bulk-queue.ts';
import { standingOf } from './caller-proof.ts';
import { callingOf, canPay, destinedOf, planOf, withCallerId } from './calling.ts';
import { type CarrierGate, gateOf } from './carrier-gate.ts';
import type { LiveCall, PlaceCallsRefusal, PlaceCallsRequest, PlacedCalls } from './control.ts';
import { type Calling, Destinations, type DialRefusal } from './destination.ts';
import type { DispatchNeeds } from './needs.ts';
import { PlacedCall } from './placed-call.ts';
import { identityOf, type Placement, type Planned, queuedCall } from './placement.ts';

/** Retry-After in ms when the queue or the node is full. */
const RETRY_AFTER_MS = 1000;
/** Retry-After in ms during overload, which lasts at least several seconds. */
const OVERLOAD_RETRY_MS = 5000;

/** Signal that never aborts: only the time limit ends the wait of a queued destination. */
const NEVER = new AbortController().signal;

/** Slot of a destination that cannot be dialled. */
const NOWHERE: TargetSlot = {
  target: { kind: 'uri', uri: '' },
  waitedMs: 0,
  release: () => undefined,
  undo: () => undefined,
};

/** End of a queued destination that is not dialled (decisions: 429). */
const NEVER_DIALLED: DialRefusal = {
  cause: 'simultaneousDialLimit',
  source: 'Platform',
  detail: 'never dialled',
};

const DRAINED: DialRefusal = { ...NEVER_DIALLED, detail: 'the service is stopping' };
const WITHDRAWN: DialRefusal = {
  ...NEVER_DIALLED,
  source: 'API Request',
  detail: 'withdrawn before it was dialled',
};

export class Outbound {
  readonly #needs: DispatchNeeds;
  readonly #destinations: Destinations;
  readonly #gate: CarrierGate;
  readonly #queue: BulkQueue<Placement>;
  /** Number of times that another node has ended the queued destinations of this one. */
  #takeovers = 0;

  constructor(needs: DispatchNeeds) {
    const { accounts, admission, clock, logger, settings } = needs;
    this.#needs = needs;
    this.#destinations = new Destinations(needs);
    this.#gate = gateOf(needs);
    this.#queue = new BulkQueue({
      accounts,
      admission,
      clock,
      logger,
      limit: settings.queuePerAccount,
      prepare: (placement) => this.#prepareQueued(placement),
    });
    admission.onDrain(() => this.#drop(this.#queue.clear(), DRAINED));
  }

  async placeCalls(request: PlaceCallsRequest): Promise<Result<PlacedCalls, PlaceCallsRefusal>> {
    const { idempotencyKey: key, ...requested } = request;
    if (key === undefined) return this.#place(request);
    const owner = request.subAccount ?? request.accountId;
    const { oncePerKey } = this.#needs.accounts;
    const placed = await oncePerKey.run({ owner, key, requested }, () => this.#place(request));
    return placed.ok ? ok(placed.value.value) : placed;
  }

  /** Queued destinations of the account, oldest first. */
  queued(accountId: AccountId): readonly LiveCall[] {
    return this.#queue.waiting(accountId).map(queuedCall);
  }

  /** True if the account has queued destinations. They take precedence over campaign calls. */
  isBusy(accountId: AccountId): boolean {
    return this.#queue.waiting(accountId).length > 0;
  }

  /** Withdraws one queued destination or all of a request. Returns false if there are none (decisions: 429). */
  withdraw(accountId: AccountId, uuid: CallUuid | RequestUuid): boolean {
    const meant = this.#queue.remove(
      accountId,
      ({ callUuid, requestUuid }) => callUuid === uuid || requestUuid === uuid,
    );
    this.#drop(meant, WITHDRAWN);
    return meant.length > 0;
  }

  /** Ends queued destinations of an account or sub-account that may no longer call. */
  revoke(accountId: AccountId, subAccount: AccountId | undefined, why: string): void {
    const meant = this.#queue.remove(
      accountId,
      ({ request }) => subAccount === undefined || request.subAccount === subAccount,
    );
    this.#drop(meant, { ...NEVER_DIALLED, cause: 'forbidden', detail: why });
  }

  /** Forgets all queued destinations, because another node has taken them over and ended them. */
  forget(): void {
    this.#takeovers += 1;
    this.#queue.clear();
  }

  // ---------------------------------------------------------------- accepting

  async #place(request: PlaceCallsRequest): Promise<Result<PlacedCalls, PlaceCallsRefusal>> {
    const calling = await callingOf(this.#needs, request);
    if (calling === undefined) return err({ kind: 'accountInactive' });
    const { admission } = this.#needs;
    const { owner } = calling;
    if (admission.closed) return err({ kind: 'unavailable', retryAfterMs: RETRY_AFTER_MS });
    if (!admission.begins()) return err({ kind: 'unavailable', retryAfterMs: OVERLOAD_RETRY_MS });
    const placements = await this.#placementsOf(request, calling);
    const [first, ...rest] = placements;
    const release = first && this.#queue.reserve(owner.authId, rest.length);
    if (first === undefined || release === undefined)
      return err({ kind: 'queueFull', retryAfterMs: RETRY_AFTER_MS });
    try {
      return await this.#accept(first, rest);
    } finally {
      release();
    }
  }

  /** Starts the call to the first destination and queues the others, or refuses all of them. */
  async #accept(
    first: Placement,
    rest: readonly Placement[],
  ): Promise<Result<PlacedCalls, PlaceCallsRefusal>> {
    const { admission, callBilling } = this.#needs;
    const { owner } = first.calling;
    const destined = await destinedOf(this.#destinations, first);
    // Checked before the caller ID and before anything is stored: insufficient funds yield 402.
    if (destined.ok && !(await canPay(this.#needs, owner, destined.value))) {
      return err({ kind: 'insufficientFunds' });
    }
    const planned = withCallerId(first, destined);
    const slot = await admission.takeSlot(owner);
    if (!slot.ok) return err(refusalOf(slot.error));
    const call = this.#create(first, planned);
    const waiting = rest.map((placement) => this.#waiting(placement));
    // From here on, another node that takes over this one ends the others too.
    const takeovers = this.#takeovers;
    const admitted = await admission.admit(call, owner, slot, waiting);
    const refusal = admitted.ok ? undefined : refusedWith(admitted.error);
    if (!admitted.ok && refusal !== undefined) {
      // The request itself is refused, so the client expects no hangup callback.
      if (admitted.error.unserviceable) {
        call.endUnrecorded();
        void callBilling.discardWaiting(waiting);
      } else call.endUntold();
      call.hangup(admitted.error.cause, 'Platform', admitted.error.detail);
      return err(refusal);
    }
    // If draining began during the awaits, the queue is no longer processed.
    if (admission.draining) this.#drop(rest, DRAINED);
    else if (takeovers === this.#takeovers) this.#queue.add(owner.authId, rest);
    void this.#begin(call, first, { planned, admitted });
    return ok({
      requestUuid: first.requestUuid,
      callUuids: [first, ...rest].map(({ callUuid }) => callUuid),
    });
  }

  async #placementsOf(request: PlaceCallsRequest, calling: Calling): Promise<readonly Placement[]> {
    const { factory } = this.#needs;
    const callerId = await this.#destinations.callerId(calling, request.from, {
      names: false,
    });
    const standing = await standingOf(this.#needs, calling, { callerId });
    const acceptedUs = factory.nowUs();
    const batchUuid = request.destinations.length === 1 ? undefined : factory.newRequestUuid();
    return request.destinations.map((destination) => {
      const callUuid = factory.newCallUuid();
      const requestUuid = batchUuid ?? asRequestUuid(callUuid);
      const made = { request, requestUuid, callUuid, destination, calling, acceptedUs };
      return { ...made, callerId, standing };
    });
  }

  // ---------------------------------------------------------------- dialling

  #create(placement: Placement, planned: Planned): Call {
    const { identity, price, hangupTarget } = this.#described(placement, planned);
    return this.#needs.factory.create(identity, price, hangupTarget);
  }

  #waiting(placement: Placement): Recorded {
    const { acceptedUs } = placement;
    return waitingCall(this.#described(placement, err(NEVER_DIALLED)), acceptedUs);
  }

  #described(placement: Placement, planned: Planned) {
    const { factory } = this.#needs;
    const { calling, request } = placement;
    return {
      identity: identityOf(placement, planned, factory.nowUs()),
      price: planned.ok ? planned.value.price : factory.free(calling.owner.currency),
      hangupTarget: request.hangup,
    };
  }

  async #prepareQueued(placement: Placement): Promise<Prepared> {
    const planned = await planOf(this.#destinations, placement);
    const { owner } = placement.calling;
    return {
      targetSlot: async () => {
        if (!planned.ok) return NOWHERE;
        const found = await this.#gate.find(owner, planned.value.targets, NEVER);
        return found.ok ? found.value : undefined;
      },
      start: (paying, slot, target) =>
        this.#startQueued(placement, planned, { paying, slot, target }),
    };
  }

  /** Starts a queued call. Never rejects. */
  async #startQueued(
    placement: Placement,
    planned: Planned,
    {
      paying,
      slot,
      target,
    }: { readonly paying: Account; readonly slot: CapacitySlot; readonly target: TargetSlot },
  ): Promise<void> {
    const held = [target];
    try {
      const call = this.#create(placement, planned);
      // A slot still held at the end was not used for a call: release it without counting a call start.
      void call.ended.then(() => held.pop()?.undo());
      const admitted = await this.#needs.admission.admit(call, paying, ok(slot));
      await this.#begin(call, placement, { planned, admitted, held });
    } catch (error) {
      held.pop()?.undo();
      slot.release();
      const { callUuid } = placement;
      this.#needs.logger.error({ error, callUuid }, 'queued call failed');
    }
  }

  /** Dials the call or ends it with its refusal. Never rejects. */
  async #begin(
    call: Call,
    { request, calling }: Placement,
    how: {
      readonly planned: Planned;
      readonly admitted: Result<void, AdmissionRefusal>;
      readonly held?: TargetSlot[];
    },
  ): Promise<void> {
    const { planned, admitted, held } = how;
    void call.ended.then(() => this.#queue.wake(calling.owner.authId));
    if (!planned.ok) {
      call.hangup(planned.error.cause, planned.error.source, planned.error.detail);
    } else if (!admitted.ok) {
      call.hangup(admitted.error.cause, 'Platform', admitted.error.detail);
    } else {
      const findSlot = this.#gate.slotFor(calling.owner, held);
      await new PlacedCall(call, request, this.#needs).run(planned.value, findSlot);
    }
  }

  /** Records destinations that are never dialled and notifies their hangup callback. */
  #drop(placements: readonly Placement[], { cause, source, detail }: DialRefusal): void {
    const { callBilling, logger } = this.#needs;
    for (const placement of placements) {
      const call = this.#create(placement, err(NEVER_DIALLED));
      callBilling
        .open(call, undefined)
        .catch((error: unknown) => {
          logger.error({ error, callUuid: call.uuid }, 'withdrawn call not recorded');
        })
        .finally(() => call.hangup(cause, source, detail));
    }
  }
}

const refusalOf = (refusal: SlotRefusal): PlaceCallsRefusal =>
  refusal.kind === 'node' ? { kind: 'unavailable', retryAfterMs: refusal.retryAfterMs } : refusal;

/** Returns the refusal of the whole request; undefined if the failure is reported by the end of the call. */
function refusedWith({ cause, money }: AdmissionRefusal): PlaceCallsRefusal | undefined {
  if (money !== undefined) return moneyRefusal(money);
  return cause === 'unavailable'
    ? { kind: 'unavailable', retryAfterMs: RETRY_AFTER_MS }
    : undefined;
}

const moneyRefusal = (refusal: ReserveRefusal): PlaceCallsRefusal => ({
  kind: refusal === 'dailySpendLimit' ? 'dailySpendLimit' : 'insufficientFunds',
});
