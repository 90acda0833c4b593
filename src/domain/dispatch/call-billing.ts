import type { Clock } from '../../base/clock.ts';
import { type CallUuid, type Random, uuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { type Micros, priceOf, ZERO } from '../../base/money.ts';
import { RepeatedTask } from '../../base/repeated-task.ts';
import type { Result } from '../../base/result.ts';
import {
  type Call,
  type CallEnd,
  finalRecord,
  hangupNotification,
  openRecord,
  type Recorded,
  type RecordSettings,
} from '../call/call.ts';
import type { CallbackClient } from '../callback/callback.ts';
import type { StoredNotification } from '../callback/types.ts';
import { chargeAt, chargesOf, connectedUs, dueAt, type Settler } from '../cdr/cdr.ts';
import type { CallLogStore, CallStore, OpenCall, Settlement } from '../cdr/needs.ts';
import type { Cdr } from '../cdr/types.ts';
import type { Directory } from '../cluster/needs.ts';
import type { CallKeeping } from '../interpreter/interpreter.ts';
import { type Metered, MeteredCharge } from '../ledger/ledger.ts';
import type { ReserveRefusal } from '../ledger/types.ts';
import { callKey } from './call-key.ts';

/**
 * Maximum delay for storing unbilled changes, in ms. Usually they are stored earlier, with a billed change or the end
 * of the call.
 */
const NOTED_MS = 2000;

export interface CallBillingNeeds {
  readonly calls: CallStore;
  readonly logs: CallLogStore;
  readonly settler: Settler;
  readonly callbacks: CallbackClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly record: RecordSettings;
  readonly heartbeatMs: number;
  /** Directory of this node's calls for other nodes; absent on a single node. */
  readonly directory?: Pick<Directory, 'put' | 'drop'> | undefined;
  /**
   * Resolves with whether the database has this node's settlement of a call. The hangup is reported only then: while the
   * settlement waits on the local disk, another node may declare this one dead, settle the call and report another end.
   * Absent on a single node.
   */
  readonly inDatabase?: ((callUuid: CallUuid) => Promise<boolean>) | undefined;
  /** Called after each settlement, for metrics and low-balance alerts. */
  readonly onSettled: (cdr: Cdr, call: Call) => void;
}

interface BilledCall {
  readonly call: Call;
  readonly notificationId: string;
  /** Charge for the call and all of its streams. */
  readonly charge: MeteredCharge;
  /** True if the store has the call as open. */
  open: boolean;
  /** Set while an unbilled change is not yet stored. */
  cancelNoted: (() => void) | undefined;
  /** Operations that must settle before the call is settled. */
  before: Set<() => Promise<unknown>> | undefined;
}

/**
 * Keeps the stored state of live calls up to date: a reservation and an open record at the start, heartbeats and
 * top-ups during the call, and one settlement at the end.
 */
export class CallBilling implements CallKeeping {
  readonly #needs: CallBillingNeeds;
  /** Live calls by UUID. */
  readonly #billed = new Map<CallUuid, BilledCall>();
  readonly #settling = new Set<Promise<Cdr>>();
  readonly #settled = new WeakMap<Call, Promise<Cdr>>();
  /** Hangup notifications that are being queued. */
  readonly #reported = new WeakMap<Call, Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #beats: RepeatedTask;

  constructor(needs: CallBillingNeeds) {
    this.#needs = needs;
    const { clock, heartbeatMs, logger } = needs;
    this.#beats = new RepeatedTask({
      clock,
      everyMs: heartbeatMs,
      round: () => this.#beat(),
      failed: (error) => logger.error({ error }, 'heartbeat not written'),
    });
    this.#beats.start();
  }

  live(): readonly Call[] {
    return [...this.#billed.values()].map(({ call }) => call);
  }

  get liveCount(): number {
    return this.#billed.size;
  }

  get(callUuid: CallUuid): Call | undefined {
    return this.#billed.get(callUuid)?.call;
  }

  /** Resolves once an ended call is settled and its hangup notification is queued. */
  async settled(call: Call): Promise<void> {
    await this.#settled.get(call);
    await this.#reported.get(call);
  }

  beforeSettling(call: Call, act: () => Promise<unknown>): () => void {
    const billed = this.#billed.get(call.uuid);
    if (billed === undefined) return () => undefined;
    billed.before ??= new Set();
    billed.before.add(act);
    return () => void billed.before?.delete(act);
  }

  /** Returns the CDR of an ended call once it is settled; undefined if `open` was never called for it. */
  async recordOf(call: Call): Promise<Cdr | undefined> {
    return this.#settled.get(call);
  }

  /**
   * Opens the record of a call and reserves the price of its first pulse. From then on, the end of the call is always
   * settled. After a refusal, the caller of this method must end the call; that end is recorded too. `waiting`: calls
   * accepted in the same request, to be dialled later. After a crash, recovery ends them.
   */
  async open(
    call: Call,
    dailySpendLimit: Micros | undefined,
    waiting: readonly Recorded[] = [],
  ): Promise<Result<void, ReserveRefusal>> {
    const { price } = call;
    const billed: BilledCall = {
      call,
      notificationId: uuid(this.#needs.random),
      charge: this.#chargeOf(call, priceOf(price.pulseMs, price.perMinute)),
      open: false,
      cancelNoted: undefined,
      before: undefined,
    };
    this.#billed.set(call.uuid, billed);
    this.#needs.directory?.put(callKey(call.uuid));
    const settled = call.ended.then((end) => this.#settle(billed, end));
    this.#settling.add(settled);
    this.#settled.set(call, settled);
    void settled.finally(() => this.#settling.delete(settled));
    const { calls } = this.#needs;
    const record = this.#openRecord(billed);
    const opened = isPromised(record)
      ? await calls.open(
          record,
          dailySpendLimit,
          waiting.map((one) => this.#waitingRecord(one)),
        )
      : await calls.openAhead(record, dailySpendLimit);
    billed.open = opened.ok;
    return opened;
  }

  async changed(call: Call): Promise<void> {
    const billed = this.#billed.get(call.uuid);
    if (billed === undefined || !billed.open || call.isEnded) return;
    const covered = await billed.charge.cover(dueAt(call, call.nowUs())).catch((error: unknown) => {
      // The store rejects writes for now: the next top-up or the settlement retries. Unreserved amounts are not
      // charged.
      this.#needs.logger.error({ error, callUuid: call.uuid }, 'reservation not increased');
      return true;
    });
    if (call.isEnded) return;
    if (!covered) {
      // A new stream exceeds the balance: the settlement records it with zero length.
      call.hangup(
        'outOfCredits',
        'Platform',
        'the balance does not cover the stream that was started',
      );
      return;
    }
    forgetNoted(billed);
    try {
      await this.#needs.calls.update(this.#openRecord(billed));
    } finally {
      // A call whose record could not be written may continue. Its pulses must be covered too.
      if (call.answerUs !== undefined && !call.isEnded) billed.charge.schedule();
    }
  }

  noted(call: Call): void {
    const billed = this.#billed.get(call.uuid);
    if (billed === undefined) return;
    const { clock, logger } = this.#needs;
    billed.cancelNoted ??= clock.at(clock.monotonicMs() + NOTED_MS, () => {
      billed.cancelNoted = undefined;
      if (call.isEnded) return;
      if (!billed.open) {
        this.noted(call);
        return;
      }
      this.changed(call).catch((error: unknown) => {
        logger.error({ error, callUuid: call.uuid }, 'open record not updated');
      });
    });
  }

  /** Resolves when all pending settlements are complete. */
  async idle(): Promise<void> {
    while (this.#settling.size > 0) await Promise.all(this.#settling);
  }

  stop(): void {
    this.#stopping.abort();
    void this.#beats.stop();
  }

  #openRecord(billed: BilledCall) {
    return openRecord(billed.call, reservedOf(billed), this.#needs.record);
  }

  #waitingRecord(waiting: Recorded): OpenCall {
    const billed = { notificationId: uuid(this.#needs.random), reserved: ZERO };
    return { ...openRecord(waiting, billed, this.#needs.record), waiting: true };
  }

  // ---------------------------------------------------------------- reservation

  #chargeOf(call: Call, firstPulse: Micros): MeteredCharge {
    const { clock, logger } = this.#needs;
    const metered: Metered = {
      get isOver() {
        return call.isEnded;
      },
      nextPulse: () => {
        const nextUs = nextPulseUs(call);
        return { atMs: call.msAt(nextUs), due: () => dueAt(call, nextUs) };
      },
      reserve: (amount) => this.#reserve(call, amount),
      notReserved: (error) => logger.error({ error, callUuid: call.uuid }, 'top-up failed'),
      exhausted: (atMs) => {
        call.limitTo(atMs);
        call.hangup('outOfCredits', 'Platform', 'the balance does not cover another pulse');
      },
    };
    return new MeteredCharge(metered, clock, firstPulse);
  }

  async #reserve(call: Call, needed: Micros): Promise<boolean> {
    const extended = await this.#needs.calls.extendReservation(call.uuid, needed);
    if (!extended.ok)
      call.log.add('warning', 'the reservation could not be increased', { reason: extended.error });
    return extended.ok;
  }

  /** Raises the reservation to the final charge if an earlier top-up failed. Unreserved amounts are not charged. */
  async #coverEnd(billed: BilledCall): Promise<void> {
    const { call } = billed;
    if (!billed.open || call.endUs === undefined) return;
    await billed.charge.cover(chargeAt(call, call.endUs));
  }

  // ---------------------------------------------------------------- heartbeat and end

  async #beat(): Promise<void> {
    const open = [...this.#billed.values()].filter((billed) => billed.open && !billed.call.isEnded);
    if (open.length === 0) return;
    const beats = open.map(({ call }) => ({ callUuid: call.uuid, atUs: call.nowUs() }));
    await this.#needs.calls.heartbeat(beats);
  }

  /** Removes queued calls from the store after the refusal of their request. Never rejects. */
  async discardWaiting(waiting: readonly Recorded[]): Promise<void> {
    await Promise.all(waiting.map((one) => this.#remove(one)));
  }

  /** Removes a call that this node could not serve from the store. */
  async #discard({ call }: BilledCall, end: CallEnd): Promise<Cdr> {
    const cdr = finalRecord(call, ZERO, end, this.#needs.record);
    await this.#remove(call);
    this.#billed.delete(call.uuid);
    this.#needs.directory?.drop(callKey(call.uuid));
    call.log.close();
    return cdr;
  }

  async #remove({ uuid: callUuid, identity: { accountId } }: Recorded): Promise<void> {
    const { calls, logger } = this.#needs;
    await calls.discard({ cdr: { callUuid, accountId } }).catch((error: unknown) => {
      // The call stays open in the store; recovery closes it later.
      logger.warn({ error, callUuid }, 'refused call not removed');
    });
  }

  async #settle(billed: BilledCall, end: CallEnd): Promise<Cdr> {
    const { call } = billed;
    billed.charge.stop();
    forgetNoted(billed);
    if (call.isUnrecorded) return this.#discard(billed, end);
    if (billed.before !== undefined)
      await Promise.allSettled([...billed.before].map((act) => act()));
    const { record, settler, logs, logger, onSettled } = this.#needs;
    const settle = (): Settlement => {
      const cdr = finalRecord(call, billed.charge.reserved, end, record);
      const notification = hangupNotification(call, cdr, billed.notificationId, record);
      return { cdr, entries: chargesOf(cdr), notification };
    };
    let settlement: Settlement | undefined;
    try {
      const settled = await settler.settle(
        call.uuid,
        async () => {
          await this.#coverEnd(billed);
          settlement = settle();
          return settlement;
        },
        this.#stopping.signal,
      );
      settlement ??= settle();
      const { cdr, notification } = settlement;
      const isWritten = settled === 'written';
      if (isWritten && notification !== undefined)
        this.#reported.set(call, this.#report(call.uuid, notification));
      if (isWritten) onSettled(cdr, call);
    } catch (error) {
      logger.error({ error, callUuid: call.uuid }, 'settlement failed');
    } finally {
      this.#billed.delete(call.uuid);
      this.#needs.directory?.drop(callKey(call.uuid));
      call.log.close();
    }
    await logs.put(call.uuid, call.log.entries()).catch((error: unknown) => {
      logger.warn({ error, callUuid: call.uuid }, 'timeline not stored');
    });
    return (settlement ?? settle()).cdr;
  }

  async #report(callUuid: CallUuid, notification: StoredNotification): Promise<void> {
    const { inDatabase, callbacks } = this.#needs;
    if (inDatabase === undefined || (await inDatabase(callUuid)))
      callbacks.notifyStored(notification);
    // The call was settled before: by this node, which then has the notification in the store, if the answer of that commit was
    // lost.
    else callbacks.lookAgain();
  }
}

/** True if a client was promised that the call will be placed. */
const isPromised = ({ cdr }: OpenCall): boolean =>
  cdr.requestUuid !== undefined || cdr.campaignId !== undefined;

const reservedOf = ({ charge, notificationId }: BilledCall) => ({
  reserved: charge.reserved,
  notificationId,
});

function forgetNoted(billed: BilledCall): void {
  billed.cancelNoted?.();
  billed.cancelNoted = undefined;
}

/** Start of the next pulse of the call or of a connected stream, in µs on the call's timeline. */
function nextPulseUs(call: Call): number {
  const nowUs = call.nowUs();
  const next = (startUs: number, pulseMs: number): number => {
    const pulseUs = pulseMs * 1000;
    return startUs + (Math.floor((nowUs - startUs) / pulseUs) + 1) * pulseUs;
  };
  let nextUs = next(call.answerUs ?? nowUs, call.price.pulseMs);
  for (const stream of call.streams.open) {
    // Only connected time is billed; earlier interruptions are excluded.
    if (stream.endUs === undefined)
      nextUs = Math.min(nextUs, next(nowUs - connectedUs(stream, nowUs), stream.pulseMs));
  }
  return nextUs;
}
