/**
 * Calls placed by a pacer (a campaign): started one by one as slots become free, and refused without a record if none
 * is. Inbound calls and REST requests of the account take precedence.
 */
import { type AccountId, asRequestUuid, type CallUuid } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Account } from '../account/types.ts';
import type { Call, CallEnd, TargetSlot } from '../call/call.ts';
import type { HangupCauseKey, HangupSource } from '../call/types.ts';
import type { CapacityLimits, CapacitySlot } from '../capacity/capacity.ts';
import type { Cdr } from '../cdr/types.ts';
import { limitsOf, type SlotRefusal } from './admission.ts';
import { standingOf } from './caller-proof.ts';
import { callingOf, canPay, planOf } from './calling.ts';
import { type CarrierGate, gateOf } from './carrier-gate.ts';
import type { PlaceCallsRequest, RecordRequest } from './control.ts';
import { type Calling, Destinations } from './destination.ts';
import type { DispatchNeeds } from './needs.ts';
import type { Outbound } from './outbound.ts';
import { PlacedCall } from './placed-call.ts';
import { identityOf, type Placement, type Planned } from './placement.ts';

export interface PacedNeeds extends DispatchNeeds {
  readonly outbound: Pick<Outbound, 'isBusy'>;
  /** Returns whether RTP ports are available for another call. */
  readonly hasPorts: () => boolean;
  /** Share of the account's concurrency and calls per second reserved for calls that are not paced: 0 to 1. */
  readonly reserve: number;
}

export interface PacedCall {
  readonly callUuid: CallUuid;
  readonly campaignId: string;
  /** Request with exactly one destination. */
  readonly request: PlaceCallsRequest;
  /** Recording options; the recording starts at the answer. */
  readonly record: RecordRequest | undefined;
}

export type PacedRefusal =
  | {
      readonly kind: 'full';
      readonly of: 'account' | 'carrier';
      readonly retryAfterMs: number | undefined;
    }
  | { readonly kind: 'unavailable' | 'insufficientFunds' | 'accountInactive' }
  | { readonly kind: 'unknownCallerId' | 'stale' }
  | { readonly kind: 'barred' | 'invalidNumber'; readonly detail: string };

/** End of a paced call. `refused`: the call was started but not dialled, for the given reason. */
export interface PacedEnd {
  readonly cdr: Cdr;
  readonly refused: 'full' | 'unavailable' | 'insufficientFunds' | 'accountInactive' | undefined;
  /**
   * True if an answered call had no stream or other party within 2 s, or the platform or document hung up before that.
   * Undefined: no answer, an answering machine, or the called party hung up earlier.
   */
  readonly abandoned: boolean | undefined;
}

/** Paced call that was started. */
export interface Paced {
  readonly ended: Promise<PacedEnd>;
  /** Resolves when the called party rings or answers, or when the call ends. */
  readonly reached: Promise<void>;
}

const BARRED: ReadonlySet<HangupCauseKey> = new Set([
  'countryBarred',
  'numberBarred',
  'prefixBarred',
  'forbidden',
]);
/** Retry interval after a carrier was full for the whole wait, in ms. */
const CARRIER_AGAIN_MS = 100;
const OVERLOAD_AGAIN_MS = 1000;
/** An answered call without a stream or another party after this time (ms) counts as abandoned. */
const CONNECT_WITHIN_MS = 2000;
/** Hangup sources that count as abandonment of an unconnected call: the called party did not hang up. */
const LEFT_BY_US: ReadonlySet<HangupSource> = new Set([
  'Platform',
  'API Request',
  'Answer XML',
  'Error',
]);
const NEVER = new AbortController().signal;

export class PacedCalls {
  readonly #needs: PacedNeeds;
  readonly #destinations: Destinations;
  readonly #gate: CarrierGate;

  constructor(needs: PacedNeeds) {
    this.#needs = needs;
    this.#destinations = new Destinations(needs);
    this.#gate = gateOf(needs);
  }

  /**
   * Places a call. `begin` is called once the slots of account and carrier are reserved, before anything is sent; if it
   * returns false, the result is `stale`. Rejects, without sending a message or keeping a slot, if `begin` rejects or the
   * call cannot be created.
   */
  async place(
    paced: PacedCall,
    begin: () => Promise<boolean>,
  ): Promise<Result<Paced, PacedRefusal>> {
    const calling = await callingOf(this.#needs, paced.request);
    if (calling === undefined) return err({ kind: 'accountInactive' });
    const placement = await this.#placementOf(paced, calling);
    if (placement === undefined) return err({ kind: 'unknownCallerId' });
    const planned = await planOf(this.#destinations, placement);
    const barred = barredBy(planned);
    if (barred !== undefined) return err(barred);
    if (planned.ok && !(await canPay(this.#needs, calling.owner, planned.value))) {
      return err({ kind: 'insufficientFunds' });
    }
    const slot = await this.#slot(calling.owner);
    if (!slot.ok) return slot;
    return this.#placeWith(slot.value, { paced, placement, planned }, begin);
  }

  async mayPresent(accountId: AccountId, number: string): Promise<boolean> {
    const owner = await this.#needs.accounts.get(accountId);
    if (owner === undefined) return false;
    const calling = { owner, account: owner };
    return (await this.#destinations.callerId(calling, number, { names: false })) !== undefined;
  }

  /** Returns whether the balance covers the first pulse of a call to the number. True if the number cannot be called. */
  async canAfford(
    of: Pick<PlaceCallsRequest, 'accountId' | 'subAccount'>,
    number: string,
  ): Promise<boolean> {
    const calling = await callingOf(this.#needs, of);
    if (calling === undefined) return true;
    const planned = await this.#destinations.number(calling, number);
    return !planned.ok || canPay(this.#needs, calling.owner, planned.value);
  }

  // ---------------------------------------------------------------- slots

  async #slot(owner: Account): Promise<Result<CapacitySlot, PacedRefusal>> {
    const { admission, outbound, reserve, hasPorts } = this.#needs;
    if (admission.closed) return err({ kind: 'unavailable' });
    if (!admission.begins()) {
      return err({ kind: 'full', of: 'account', retryAfterMs: OVERLOAD_AGAIN_MS });
    }
    if (outbound.isBusy(owner.authId) || !hasPorts()) {
      return err({ kind: 'full', of: 'account', retryAfterMs: undefined });
    }
    const slot = await admission.takeSlot(owner, withoutReserve(limitsOf(owner), reserve));
    return slot.ok
      ? slot
      : err({ kind: 'full', of: 'account', retryAfterMs: againAfter(slot.error) });
  }

  async #placeWith(
    slot: CapacitySlot,
    made: { readonly paced: PacedCall; readonly placement: Placement; readonly planned: Planned },
    begin: () => Promise<boolean>,
  ): Promise<Result<Paced, PacedRefusal>> {
    const { placement, planned } = made;
    const { owner } = placement.calling;
    const held: TargetSlot[] = [];
    try {
      if (planned.ok) {
        const target = await this.#gate.find(owner, planned.value.targets, NEVER);
        if (!target.ok) {
          slot.undo();
          return err({ kind: 'full', of: 'carrier', retryAfterMs: CARRIER_AGAIN_MS });
        }
        held.push(target.value);
      }
      if (await begin()) {
        const { promise: reached, resolve } = Promise.withResolvers<void>();
        const ended = this.#run(slot, held, made, resolve).finally(resolve);
        return ok({ ended, reached });
      }
    } catch (error) {
      held.pop()?.undo();
      slot.undo();
      throw error;
    }
    held.pop()?.undo();
    slot.undo();
    return err({ kind: 'stale' });
  }

  // ---------------------------------------------------------------- call

  async #run(
    slot: CapacitySlot,
    held: TargetSlot[],
    {
      paced,
      placement,
      planned,
    }: { readonly paced: PacedCall; readonly placement: Placement; readonly planned: Planned },
    reached: () => void,
  ): Promise<PacedEnd> {
    const { admission, factory, callBilling } = this.#needs;
    const { calling, request } = placement;
    const price = planned.ok ? planned.value.price : factory.free(calling.owner.currency);
    const call = factory.create(
      identityOf(placement, planned, factory.nowUs()),
      price,
      request.hangup,
    );
    void call.ended.then(() => held.pop()?.undo());
    call.observe({ ringing: reached, answered: reached });
    const admitted = await admission
      .admit(call, calling.owner, ok(slot))
      .catch((error: unknown) => {
        call.hangup('internalError', 'Error');
        throw error;
      });
    let refused: PacedEnd['refused'];
    const wasAbandoned = this.#watch(call);
    if (!planned.ok) {
      call.hangup(planned.error.cause, planned.error.source, planned.error.detail);
    } else if (!admitted.ok) {
      refused = refusedBy(admitted.error);
      call.endUntold();
      call.hangup(admitted.error.cause, 'Platform', admitted.error.detail);
    } else {
      this.#record(call, paced.record);
      const findSlot = this.#gate.slotFor(calling.owner, held);
      await new PlacedCall(call, request, this.#needs).run(planned.value, findSlot);
    }
    const end = await call.ended;
    const cdr = await callBilling.recordOf(call);
    if (cdr === undefined) throw new RangeError(`call ${call.uuid} has no record`);
    // A local limit was exhausted after all (the last RTP port or the next carrier): the called party never rang.
    if (cdr.answerUs === undefined && end.cause === 'concurrencyBreached') refused = 'full';
    return { cdr, refused, abandoned: cdr.machine ? undefined : wasAbandoned(end) };
  }

  #watch(call: Call): (end: CallEnd) => boolean | undefined {
    const { clock } = this.#needs;
    let abandoned: boolean | undefined;
    call.observe({
      answered: () => {
        const look = (): void => {
          abandoned = !this.#isConnected(call);
        };
        const cancel = clock.at(clock.monotonicMs() + CONNECT_WITHIN_MS, look);
        call.signal.addEventListener('abort', cancel, { once: true });
      },
    });
    return ({ source }) => {
      if (call.answerUs === undefined || abandoned !== undefined) return abandoned;
      if (this.#isConnected(call)) return false;
      return LEFT_BY_US.has(source) ? true : undefined;
    };
  }

  /** True if the call is or was connected to a bot, another party or a conference. */
  #isConnected(call: Call): boolean {
    const { streams, bridgeUuid } = call;
    const hasBot = streams.open.length > 0 || streams.past.some((stream) => stream.connectedUs > 0);
    if (hasBot || bridgeUuid !== undefined) return true;
    return this.#needs.interpreter().conferences.connects(call);
  }

  #record(call: Call, record: RecordRequest | undefined): void {
    if (record === undefined) return;
    const { recorder } = this.#needs.interpreter();
    call.observe({ answered: () => void recorder.start(call, record) });
  }

  async #placementOf(
    { callUuid, campaignId, request }: PacedCall,
    calling: Calling,
  ): Promise<Placement | undefined> {
    const callerId = await this.#destinations.callerId(calling, request.from, { names: false });
    const [destination] = request.destinations;
    if (callerId === undefined || destination === undefined) return undefined;
    const standing = await standingOf(this.#needs, calling, { callerId });
    const acceptedUs = this.#needs.factory.nowUs();
    const ids = { callUuid, requestUuid: asRequestUuid(callUuid), campaignId };
    return { ...ids, request, destination, calling, callerId, standing, acceptedUs };
  }
}

function barredBy(planned: Planned): PacedRefusal | undefined {
  if (planned.ok) return undefined;
  const { cause, detail } = planned.error;
  if (BARRED.has(cause)) return { kind: 'barred', detail };
  return cause === 'invalidDestination' ? { kind: 'invalidNumber', detail } : undefined;
}

function refusedBy({
  cause,
  money,
}: {
  readonly cause: HangupCauseKey;
  readonly money?: unknown;
}): PacedEnd['refused'] {
  if (money !== undefined) return 'insufficientFunds';
  return cause === 'forbidden' ? 'accountInactive' : 'unavailable';
}

/** Limits without the reserve; at least one of each remains. */
const withoutReserve = (
  { concurrentCalls, cps }: CapacityLimits,
  reserve: number,
): CapacityLimits => ({
  concurrentCalls: Math.max(1, concurrentCalls - Math.floor(concurrentCalls * reserve)),
  cps: Math.max(1, cps - Math.floor(cps * reserve)),
});

/** Retry time; undefined for concurrency refusals, because the release of a slot is reported. */
const againAfter = (refusal: SlotRefusal): number | undefined =>
  refusal.kind === 'concurrency' ? undefined : refusal.retryAfterMs;
