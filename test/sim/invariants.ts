/** Invariants of every world at every moment, and after all calls have ended. */
import type { CallUuid } from '../../src/base/ids.ts';
import { priceOf, pulsedMs } from '../../src/base/money.ts';
import type { Cdr } from '../../src/domain/cdr/types.ts';
import type { LedgerEntry } from '../../src/domain/ledger/types.ts';
import { PULSE_MS } from '../foundation.ts';
import type { Edges, SimService } from './service.ts';

const RECORDED_WITHIN_MS = 1000;
/** Events allowed after the hangup: slow files, and consequences of the end of the call. */
const LATE = new Set([
  'Hangup',
  'RecordStop',
  'Record',
  'ConferenceRecord',
  'DialHangup',
  'DialAction',
]);

/** A service with its edges, and the records that it has written. */
interface Watched extends Edges {
  readonly service: SimService;
  cdrs(): Promise<readonly Cdr[]>;
}

export class Invariants {
  readonly #world: Watched;
  readonly #portsAtFirst: number;

  constructor(world: Watched) {
    this.#world = world;
    this.#portsAtFirst = world.media.status().portsFree;
  }

  /** Cheap checks that run with every step of time. */
  quick(): void {
    const { signalling, service, listener, media } = this.#world;
    const live = signalling.live.length;
    for (const leg of signalling.legs) {
      if (leg.ends.length > 1) this.#broken(`${leg.id} ended ${leg.ends.length} times`);
    }
    const running = service.admission.runningHere();
    // A call that waits for the node already holds a slot of the account.
    if (running > service.slots.held(service.accountId)) {
      this.#broken('the node counts more calls than its only account');
    }
    if (running > live) this.#broken(`capacity is held by ${running} calls, ${live} legs live`);
    const open = media.status().legs;
    if (open > live) this.#broken(`${open} media legs for ${live} live legs`);
    const [fault] = listener.faults();
    if (fault !== undefined) this.#broken(fault);
  }

  /** Checks that read the store. */
  async deep(): Promise<void> {
    const { store, service, signalling } = this.#world;
    const [fault] = await store.verify();
    if (fault !== undefined) this.#broken(`the ledger disagrees: ${JSON.stringify(fault)}`);
    const open = await store.calls.listOpen();
    const live = new Set(service.callBilling.live().map(({ uuid }) => uuid));
    const queue = await service.control.liveCalls(service.accountId, 'queued');
    const queued = new Set(queue.map(({ callUuid }) => callUuid));
    for (const { cdr, waiting } of open) {
      const isKnown = live.has(cdr.callUuid) || (waiting === true && queued.has(cdr.callUuid));
      if (!isKnown) this.#broken(`${cdr.callUuid} is open in the store alone`);
      queued.delete(cdr.callUuid);
    }
    for (const callUuid of queued) this.#broken(`${callUuid} waits in memory alone`);
    const held = open.reduce((sum, call) => sum + call.reserved, 0);
    const balance = await this.#balance();
    // A record is updated with the next change of the call: it may contain less than the reservation, never more.
    // A recording may hold money until its file is complete, also after its call.
    const mayHold = open.length > 0 || (await store.recordings.unfinished()).length > 0;
    if (balance.reservedFunds < held || (!mayHold && balance.reservedFunds !== 0)) {
      this.#broken(`${balance.reservedFunds} are reserved, the open calls hold ${held}`);
    }
    const answered = signalling.live.filter((leg) => leg.answered);
    const known = new Set(service.callBilling.live().map(({ peer }) => peer.sipCallId));
    this.#recordedSoon(known);
    for (const leg of answered) {
      if (!known.has(leg.sipCallId)) this.#broken(`no keeper owns the answered ${leg.id}`);
    }
  }

  /** Checks that a call is recorded within a second of its end, unless the disk is full. */
  #recordedSoon(retained: ReadonlySet<string | undefined>): void {
    const { signalling, clock, disk } = this.#world;
    if (disk.isFull) return;
    const long = clock.monotonicMs() - RECORDED_WITHIN_MS;
    for (const { id, sipCallId, overAtMs } of signalling.legs) {
      const isLate = overAtMs !== undefined && overAtMs < long && overAtMs > disk.spaceSinceMs;
      if (isLate && retained.has(sipCallId)) this.#broken(`${id} has ended without a record`);
    }
  }

  async afterAll(): Promise<void> {
    const { signalling, service, media, store, streams } = this.#world;
    for (const leg of signalling.legs) {
      if (!leg.serviceOver || leg.ends.length !== 1) {
        this.#broken(`${leg.id} has ended ${leg.ends.length} times`);
      }
      if (!leg.phoneOver && leg.phone?.present === true && leg.state === 'answered') {
        this.#broken(`${leg.id} was never told to hang up`);
      }
    }
    this.#empty('live calls', service.callBilling.live().length);
    this.#empty('running calls', service.slots.held(service.accountId));
    this.#empty('running calls of the node', service.admission.runningHere());
    this.#empty('media legs', media.status().legs);
    this.#empty('stream sockets', streams.live);
    const conferences = await service.control.conferences(service.accountId);
    this.#empty('conferences', conferences.length);
    this.#empty('notifications on their way', service.callbacks.queued());
    this.#empty('stored notifications', (await store.notifications.listPending(10)).length);
    this.#empty('open calls in the store', (await store.calls.listOpen()).length);
    this.#empty('unfinished recordings', (await store.recordings.unfinished()).length);
    this.#empty('ports not given back', this.#portsAtFirst - media.status().portsFree);
    const { reservedFunds } = await this.#balance();
    this.#empty('reserved funds', reservedFunds);
    await this.#accounts();
    this.#secrets();
    service.callBilling.stop();
    await this.#world.clock.advance(0);
    const nextMs = this.#world.clock.nextMs();
    if (nextMs !== undefined) this.#broken(`a timer is left, due at ${nextMs} ms`);
  }

  /**
   * Checks that each call has one record, each charged item one entry, and that there are no others. A call that the node
   * refused because it could not serve calls has no record.
   */
  async #accounts(): Promise<void> {
    const { service, customer, store, signalling } = this.#world;
    const refused = signalling.legs.filter(
      (leg) => leg.hungUpWith[0] === 'unavailable' && leg.overAtMs !== undefined && !leg.answered,
    );
    let unrecorded = 0;
    const { accountId } = service;
    const cdrs = await this.#world.cdrs();
    const entries = await this.#entries();
    const byCall = new Map(cdrs.map((cdr) => [cdr.callUuid, cdr]));
    if (byCall.size !== cdrs.length) this.#broken('a call has two records');
    for (const { callUuid } of service.logs.all) {
      const cdr = byCall.get(callUuid);
      if (cdr === undefined) unrecorded += 1;
      else this.#charged(cdr, entries);
      const reported = customer.reported('/hangup', callUuid).length;
      if (reported > 1) this.#broken(`the hangup of ${callUuid} was reported ${reported} times`);
      this.#hangupIsLast(callUuid);
    }
    if (unrecorded > refused.length)
      this.#broken(`${unrecorded - refused.length} calls have no record`);
    if (service.logs.all.length - unrecorded !== cdrs.length)
      this.#broken('a record belongs to no call');
    const recorded = await store.recordings.page({ accountId }, { limit: 1000, offset: 0 });
    const expected =
      // A stream that never connected is recorded with 0 s and is free.
      cdrs.reduce(
        (sum, { cost, streams }) =>
          sum + (cost > 0 ? 1 : 0) + streams.filter(({ billedMs }) => billedMs > 0).length,
        0,
      ) + recorded.items.filter(({ durationMs }) => durationMs > 0).length;
    const debits = entries.filter(({ type }) => type === 'debit');
    if (debits.length !== expected) {
      this.#broken(`${debits.length} debits for ${expected} things that cost something`);
    }
  }

  /** Checks that the notifications of a call are in order, with consequences of its end last. */
  #hangupIsLast(callUuid: CallUuid): void {
    const events = this.#world.customer.requested
      .filter(({ parameters }) => parameters['CallUUID'] === callUuid)
      .map(({ parameters }) => parameters['Event'] ?? '');
    const hangup = events.indexOf('Hangup');
    const late = hangup < 0 ? [] : events.slice(hangup + 1).filter((event) => !LATE.has(event));
    if (late.length > 0) this.#broken(`${callUuid} was sent ${late.join(', ')} after its hangup`);
  }

  #charged(cdr: Cdr, entries: readonly LedgerEntry[]): void {
    const amountOf = (reference: string): number =>
      entries
        .filter((entry) => entry.reference === reference)
        .reduce((sum, e) => sum + e.amount, 0);
    const { callUuid } = cdr;
    const answeredMs = cdr.answerUs === undefined ? 0 : (cdr.endUs - cdr.answerUs) / 1000;
    if (answeredMs < 0) this.#broken(`${callUuid} ended before it was answered`);
    const due =
      cdr.answerUs === undefined ? 0 : priceOf(pulsedMs(answeredMs, PULSE_MS), cdr.perMinute);
    if (cdr.cost !== due) this.#broken(`${callUuid} costs ${cdr.cost} instead of ${due}`);
    if (amountOf(`cdr:${callUuid}`) !== due) this.#broken(`${callUuid} was charged otherwise`);
    for (const stream of cdr.streams) {
      const charged = amountOf(`stream_cdr:${stream.streamId}`);
      if (charged !== stream.billedAmount) this.#broken(`stream of ${callUuid} charged ${charged}`);
      if (stream.endUs > cdr.endUs) this.#broken(`a stream of ${callUuid} outlived its call`);
    }
  }

  #secrets(): void {
    const { service, listener } = this.#world;
    for (const log of service.logs.all) {
      if (listener.shows(log.entries()))
        this.#broken(`a secret is in the timeline of ${log.callUuid}`);
    }
  }

  async #entries(): Promise<readonly LedgerEntry[]> {
    const { service } = this.#world;
    const listed = await service.ledger.list({ accountId: service.accountId }, 1, 1000);
    return listed.entries;
  }

  async #balance() {
    const { service } = this.#world;
    const found = await service.ledger.balance(service.accountId, 'USD');
    if (!found.ok) throw new Error('the account has no balance');
    return found.value;
  }

  #empty(what: string, left: number): void {
    if (left !== 0) this.#broken(`${left} ${what} are left`);
  }

  #broken(what: string): never {
    throw new Error(`invariant broken: ${what}`);
  }
}
