/** Invariants of a cluster while its components fail, and after recovery and the end of all calls. */
import { priceOf, pulsedMs } from '../../../src/base/money.ts';
import type { Cdr } from '../../../src/domain/cdr/types.ts';
import { PULSE_MS } from '../../foundation.ts';
import type { Asked } from '../customer.ts';
import type { SimLeg } from '../leg.ts';
import type { Troubles } from './failures.ts';
import type { Process, SimNode } from './node.ts';
import type { ClusterWorld } from './world.ts';

/** Time in milliseconds after which a healthy node knows its own state. */
const NOTICED_MS = 6000;
/** Time limit in milliseconds for a healthy node to adopt the records of a dead node. */
const TAKEN_UP_MS = 10_000;
/**
 * Time limit in milliseconds for adopting a call that was written after its node was declared dead, from when it is
 * visible.
 */
const SEEN_MS = 6000;
/**
 * Period in milliseconds before a death declaration in which the node must have been silent: six seconds, a heartbeat
 * of each side, and late responses.
 */
const SILENT_BEFORE_MS = 15_000;

/** Time in milliseconds without Redis after which the slots of a living node may expire: a lease less one renewal. */
const RENEWED_MS = 9000;

/** Time in milliseconds by which a record may exceed what a phone saw: steps of the checks, the network and paused nodes. */
const SKEW_MS = 3000;

const SLOT_ATTEMPTS = 5;

export class Rules {
  readonly #world: ClusterWorld;
  readonly #troubles: Troubles;
  /** Epoch in which each process started. */
  readonly #begun = new Map<Process, number>();
  /** Processes that were declared dead and have detected it. */
  readonly #fenced = new Set<Process>();
  /** Calls by leg, because the record of a crashed node's call may lack its leg. */
  readonly #uuids = new Map<string, string>();
  /** Process that owned each call. */
  readonly #owners = new Map<string, Process>();
  readonly #killedAt = new Map<Process, number>();
  /** Time at which each leg was answered. */
  readonly #answeredAt = new Map<SimLeg, number>();

  constructor(world: ClusterWorld, troubles: Troubles) {
    this.#world = world;
    this.#troubles = troubles;
  }

  /** Checks that run with every step. */
  quick(): void {
    const { listener, processes, clock, database } = this.#world;
    const [fault] = [...listener.bugs, ...database.faults];
    if (fault !== undefined) this.#broken(fault);
    for (const [process, node] of processes) {
      const { epoch } = process.self;
      const begun = this.#begun.get(process) ?? epoch;
      this.#begun.set(process, begun);
      if (this.#troubles.killed.has(process) && !this.#killedAt.has(process))
        this.#killedAt.set(process, clock.monotonicMs());
      if (epoch === begun || this.#fenced.has(process)) continue;
      this.#fenced.add(process);
      if (!this.#troubles.wasSilent(node, SILENT_BEFORE_MS))
        this.#broken(`${node.id} was declared dead, and was reachable all the time`);
    }
    for (const process of processes.keys())
      for (const { uuid, peer } of process.calls.callBilling.live()) {
        this.#owners.set(uuid, process);
        if (peer.sipCallId !== undefined) this.#uuids.set(peer.sipCallId, uuid);
      }
    for (const { leg } of this.#world.legs()) {
      if (leg.ends.length > 1) this.#broken(`${leg.id} ended ${leg.ends.length} times`);
      if (leg.answered && !this.#answeredAt.has(leg))
        this.#answeredAt.set(leg, clock.monotonicMs());
    }
    this.#slots();
  }

  /** Checks the account's limit. Calls of a node that was declared dead do not count, nor leases that may have expired. */
  #slots(): void {
    const counted = this.#world.serving.filter(
      (node) =>
        !this.#world.isMixed &&
        !this.#world.database.isFenced(node.process.self) &&
        this.#troubles.withoutRedisMs(node) < RENEWED_MS,
    );
    const calls = counted.map(({ process }) => process.calls.admission.runningHere());
    const sum = calls.reduce((total, count) => total + count, 0);
    const { slots } = this.#world;
    if (sum > slots) this.#broken(`${calls.join(' + ')} calls run with ${slots} slots`);
  }

  /** Checks that read the database. */
  async deep(): Promise<void> {
    const { store } = this.#world.database;
    const [fault] = await store.verify();
    if (fault !== undefined) this.#broken(`the ledger disagrees: ${JSON.stringify(fault)}`);
    const billed = new Set((await this.cdrs()).map(({ callUuid }) => callUuid));
    for (const { id, process } of this.#wellFor(NOTICED_MS))
      for (const call of process.calls.callBilling.live())
        if (!call.isEnded && billed.has(call.uuid))
          this.#broken(`${id} continues ${call.uuid}, which is billed`);
    await this.#takenUp();
  }

  /** Checks that a continuously healthy node closes the calls of a killed process. */
  async #takenUp(): Promise<void> {
    const { clock, database } = this.#world;
    const wellMs = Math.max(0, ...this.#world.nodes.map((node) => this.#troubles.wellForMs(node)));
    const overdue = [...this.#killedAt].filter(
      ([, atMs]) => Math.min(clock.monotonicMs() - atMs, wellMs) > TAKEN_UP_MS,
    );
    if (overdue.length === 0) return;
    const open = new Set((await database.store.calls.listOpen()).map(({ cdr }) => cdr.callUuid));
    for (const [process] of overdue)
      for (const { uuid } of process.calls.callBilling.live())
        if (open.has(uuid) && clock.monotonicMs() - database.seenSinceMs(uuid) > SEEN_MS)
          this.#broken(`no node has adopted ${uuid}, whose node was killed`);
  }

  #wellFor(ms: number): readonly (SimNode & { readonly process: Process })[] {
    return this.#world.serving.filter((node) => this.#troubles.wellForMs(node) >= ms);
  }

  async cdrs(): Promise<readonly Cdr[]> {
    const { accountId } = this.#world.account;
    const { cdrs } = this.#world.database.store;
    const page = await cdrs.page({ accountId }, { limit: 10_000, offset: 0 });
    return page.items.map(({ cdr }) => cdr);
  }

  /** Checks that each healthy node can take a slot that is free. */
  async acceptsCalls(): Promise<void> {
    for (const { id, process } of this.#world.serving) {
      const limits = { concurrentCalls: 100, cps: 100 };
      const { slots } = process.clustered.shared;
      let refusal: string | undefined = 'never asked';
      // Some responses of Redis are lost.
      for (let attempt = 0; attempt < SLOT_ATTEMPTS && refusal !== undefined; attempt += 1) {
        const slot = await this.#world.now(slots.take('probe', limits));
        refusal = slot.ok ? undefined : slot.error.kind;
        if (slot.ok) slot.value.undo();
      }
      if (refusal !== undefined) this.#broken(`${id} grants no slot: ${refusal}`);
    }
  }

  /** Checks after all calls have ended and all components have been healthy for some time. */
  async afterAll(): Promise<void> {
    const { store } = this.#world.database;
    for (const { id, process, spooled } of this.#world.serving) {
      const { callBilling, admission } = process.calls;
      this.#empty(`live calls of ${id}`, callBilling.live().length);
      this.#empty(`running calls of ${id}`, admission.runningHere());
      this.#empty(`notifications in the memory of ${id}`, process.callbacks.queued());
      this.#empty(`units of work on the disk of ${id}`, spooled);
    }
    this.#empty('leases of slots', this.#world.redis.leases());
    this.#empty('open calls in the store', (await store.calls.listOpen()).length);
    const left = await store.nodes.list();
    if (left.length !== this.#world.serving.length) this.#broken('a dead node counts as alive');
    const cdrs = await this.cdrs();
    await this.#money(cdrs);
    this.#records(cdrs);
    this.#reported(cdrs);
  }

  async #money(cdrs: readonly Cdr[]): Promise<void> {
    const { store } = this.#world.database;
    const { accountId } = this.#world.account;
    const balance = await store.ledger.balance(accountId, 'USD');
    this.#empty('reserved funds', balance?.reservedFunds ?? -1);
    const cost = cdrs.reduce((sum, cdr) => sum + cdr.cost, 0);
    const { entries } = await store.ledger.page({ accountId }, 1, 10_000);
    const charged = entries.reduce((sum, one) => sum + (one.type === 'debit' ? one.amount : 0), 0);
    if (charged !== cost) this.#broken(`${charged} were charged, the records cost ${cost}`);
    for (const { callUuid, answerUs, endUs, perMinute, cost: own } of cdrs) {
      const answeredMs = answerUs === undefined ? 0 : (endUs - answerUs) / 1000;
      const due = answerUs === undefined ? 0 : priceOf(pulsedMs(answeredMs, PULSE_MS), perMinute);
      if (answeredMs < 0 || own !== due) this.#broken(`${callUuid} costs ${own} instead of ${due}`);
    }
  }

  /**
   * Checks that each answered call has one record, and that only calls of a crashed or disconnected node end for that
   * reason.
   */
  #records(cdrs: readonly Cdr[]): void {
    if (new Set(cdrs.map(({ callUuid }) => callUuid)).size !== cdrs.length)
      this.#broken('a call has two records');
    for (const { leg, process, node } of this.#world.legs()) {
      const of = cdrs.filter((cdr) => this.#isOf(leg.sipCallId, cdr));
      if (of.length > 1) this.#broken(`${leg.id} has ${of.length} records`);
      if (leg.answered && of.length === 0)
        this.#broken(`${leg.id} was answered, and has no record`);
      const [cdr] = of;
      if (cdr !== undefined) this.#fits(cdr, leg, process);
      if (!this.#wasLost(process) && cdr?.failureReason?.includes('the service stopped') === true)
        this.#broken(`${leg.id} was closed as of a dead node, and ${node.id} lived`);
    }
  }

  /** Checks that no time is billed after the end of the leg or of its process. */
  #fits({ answerUs, endUs }: Cdr, leg: SimLeg, process: Process): void {
    const fromMs = this.#answeredAt.get(leg);
    const untilMs = Math.min(
      leg.overAtMs ?? Number.POSITIVE_INFINITY,
      this.#killedAt.get(process) ?? Number.POSITIVE_INFINITY,
    );
    if (fromMs === undefined || answerUs === undefined || !Number.isFinite(untilMs)) return;
    const moreMs = (endUs - answerUs) / 1000 - (untilMs - fromMs);
    if (moreMs > SKEW_MS)
      this.#broken(`${leg.id} is billed for ${moreMs.toFixed(0)} ms more than it lasted`);
  }

  /**
   * Checks that each notification has one key and arrives once, or again if its node was lost before it could record
   * the delivery.
   */
  #reported(cdrs: readonly Cdr[]): void {
    const { customer } = this.#world;
    const byCall = Map.groupBy(
      customer.requested,
      ({ parameters }) => parameters['CallUUID'] ?? '',
    );
    for (const cdr of cdrs) {
      const { callUuid, answerUs, context } = cdr;
      const reported = (byCall.get(callUuid) ?? []).filter(({ path }) => path !== '/answer');
      const hangups = reported.filter(({ parameters }) => parameters['Event'] === 'Hangup');
      const taken = hangups.filter((one) => this.#wasTaken(one));
      if (taken.length === 0 && answerUs !== undefined && context !== 'dial')
        this.#broken(`the hangup of ${callUuid} was not reported`);
      if (new Set(hangups.map(keyOf)).size > 1)
        this.#broken(`the hangup of ${callUuid} was reported with two keys`);
      const contents = new Set(hangups.map(({ parameters }) => JSON.stringify(parameters)));
      if (contents.size > 1)
        this.#broken(`the hangup of ${callUuid} was reported with different content`);
      if (taken.length > 1 && !this.#mayRepeat(cdr))
        this.#broken(`the hangup of ${callUuid} was reported ${taken.length} times`);
      this.#inOrder(cdr, reported);
    }
  }

  /** Returns whether the customer answered 200. */
  #wasTaken({ request }: Asked): boolean {
    return this.#world.answers.get(request) === 200;
  }

  /** Returns whether the node of the call was lost together with its delivery records. */
  #mayRepeat(cdr: Cdr): boolean {
    const of = this.#world.legs().find(({ leg }) => this.#isOf(leg.sipCallId, cdr))?.process;
    // The record was written before the call had a leg.
    const had = of ?? this.#owners.get(cdr.callUuid);
    return had !== undefined && this.#wasLost(had);
  }

  #isOf(legCallId: string, { sipCallId, callUuid }: Cdr): boolean {
    return sipCallId === legCallId || callUuid === this.#uuids.get(legCallId);
  }

  #wasLost(process: Process): boolean {
    return this.#troubles.killed.has(process) || this.#fenced.has(process);
  }

  /** Checks that Ring is not reported after Hangup, except as the repetition of a node that was lost. */
  #inOrder(cdr: Cdr, reported: readonly Asked[]): void {
    const isRing = ({ parameters }: Asked): boolean => parameters['Event'] === 'Ring';
    const hangup = reported.findIndex(({ parameters }) => parameters['Event'] === 'Hangup');
    const before = reported.slice(0, hangup).filter((one) => isRing(one) && this.#wasTaken(one));
    if (hangup < 0 || (before.length > 0 && this.#mayRepeat(cdr))) return;
    if (reported.slice(hangup).some(isRing))
      this.#broken(`${cdr.callUuid}: Ring was reported after Hangup`);
  }

  #empty(what: string, left: number): void {
    if (left !== 0) this.#broken(`${left} ${what} are left`);
  }

  #broken(what: string): never {
    throw new Error(`invariant broken: ${what}`);
  }
}

const keyOf = ({ request }: Asked): string => request.headers['Idempotency-Key'] ?? '';
