/**
 * A complete service in virtual time: the real domain, the real in-memory store and the real native media, with
 * scripted phones, a scripted customer and bots. One seed determines all random choices.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert } from '../../src/base/errors.ts';
import { micros } from '../../src/base/money.ts';
import type { Call } from '../../src/domain/call/call.ts';
import type { Cdr } from '../../src/domain/cdr/types.ts';
import { createMedia, type ManualDrive, type MediaEngine } from '../../src/edge/media/engine.ts';
import { openStore, type Store } from '../../src/edge/store/store.ts';
import { SimClock } from './clock.ts';
import { Customer, SITE } from './customer.ts';
import { SimDisk } from './disk.ts';
import { Invariants } from './invariants.ts';
import type { Called, SimLeg } from './leg.ts';
import { LogListener } from './log-listener.ts';
import { SimNetwork } from './network.ts';
import { type PhoneOptions, SimPhone } from './phone.ts';
import { SimRandom } from './random.ts';
import { buildService, type Edges, restart, type SimService } from './service.ts';
import { SimSignalling } from './signalling.ts';
import { SimStreams } from './streams.ts';

export interface WorldOptions {
  readonly concurrentCalls?: number;
  readonly callsPerSecond?: number;
  /** Credit in millionths of a dollar. */
  readonly credit?: number;
  /** Number of RTP ports. */
  readonly ports?: number;
}

/** Step of virtual time in milliseconds; nothing in the service needs finer steps than a 5 ms media batch. */
const STEP_MS = 5;
/** Interval of the checks of store and ledger in milliseconds; cheap checks run with every step. */
const DEEP_CHECK_MS = 100;
const FIRST_PORT = 20_000;
const PORTS = 100;
const PLENTY = 100_000_000;
/** Time in milliseconds longer than any timer after a call: callback retries, quarantine of ports. */
const AFTERMATH_MS = 70_000;
const DIALLED = '1000';

export class World implements Edges {
  readonly seed: number;
  readonly random: SimRandom;
  readonly clock: SimClock;
  readonly listener: LogListener;
  readonly story: string[] = [];
  readonly network: SimNetwork;
  readonly signalling: SimSignalling;
  readonly customer: Customer;
  readonly streams: SimStreams;
  readonly media: MediaEngine;
  readonly disk: SimDisk;
  readonly store: Store;
  readonly folder = mkdtempSync(join(tmpdir(), 'carillon-sim-'));
  readonly #drive: ManualDrive;
  readonly #phones: SimPhone[] = [];
  #service: SimService | undefined;
  #invariants: Invariants | undefined;
  #sinceDeepMs = 0;
  #hasCrashed = false;

  private constructor(seed: number, made: Made) {
    this.seed = seed;
    this.random = made.random;
    this.clock = made.clock;
    this.listener = made.listener;
    this.media = made.media;
    this.disk = new SimDisk(made.store, made.clock);
    this.store = this.disk.store;
    assert(made.media.manual !== undefined, 'the engine is driven by hand');
    this.#drive = made.media.manual;
    const notify = (line: string): void => this.notify(line);
    this.network = new SimNetwork(this.#drive, this.random.fork());
    this.signalling = new SimSignalling(this.clock, this.random.fork(), notify);
    this.customer = new Customer(this.clock, this.random.fork(), notify);
    this.streams = new SimStreams(this.clock, this.random.fork(), notify);
  }

  static async open(seed: number, options: WorldOptions = {}): Promise<World> {
    const world = new World(seed, await makeEdges(seed, options.ports ?? PORTS));
    world.#service = await buildService(world, {
      name: 'Sim',
      concurrentCallsLimit: options.concurrentCalls ?? 50,
      cpsLimit: options.callsPerSecond ?? 100,
      credit: micros(options.credit ?? PLENTY),
      answerUrl: `${SITE}/answer`,
      fallbackAnswerUrl: `${SITE}/fallback`,
      hangupUrl: `${SITE}/hangup`,
    });
    world.#invariants = new Invariants(world);
    world.customer.on('/hangup', 200);
    return world;
  }

  get service(): SimService {
    assert(this.#service !== undefined, 'a world is opened before it is used');
    return this.#service;
  }

  get #rules(): Invariants {
    assert(this.#invariants !== undefined, 'a world is opened before it is used');
    return this.#invariants;
  }

  notify(line: string): void {
    this.story.push(`${this.clock.monotonicMs().toFixed(0).padStart(7)} ${line}`);
  }

  // ---------------------------------------------------------------- phones and calls

  /** Creates a phone with a registered endpoint. */
  async phone(name: string, options: Partial<PhoneOptions> & { called?: Called } = {}) {
    const username = await this.service.endpoint(name);
    const phone = this.#newPhone(name, options);
    this.signalling.plugIn(username, phone, options.called);
    return Object.assign(phone, { username });
  }

  /** Creates a phone in the telephone network, behind the carrier. */
  farPhone(number: string, options: Partial<PhoneOptions> & { called?: Called } = {}): SimPhone {
    const phone = this.#newPhone(number, options);
    this.signalling.plugIn(number, phone, options.called);
    return phone;
  }

  #newPhone(name: string, options: Partial<PhoneOptions>): SimPhone {
    const index = this.#phones.length + 1;
    const place = { address: `192.0.2.${index}`, port: 4000 + 2 * index };
    const phone = new SimPhone({ name, place, ...options }, this.network);
    this.#phones.push(phone);
    return phone;
  }

  /** Calls the service; the application of the endpoint answers. */
  call(phone: SimPhone & { username: string }, dialled = DIALLED): SimLeg {
    this.notify(`${phone.name} calls ${dialled}`);
    return this.signalling.call(phone, { dialled, username: phone.username });
  }

  /** Active call of a leg in the service. */
  callOf(leg: SimLeg): Call | undefined {
    return this.service.callBilling.live().find(({ peer }) => peer.sipCallId === leg.sipCallId);
  }

  /** Record of an ended leg. */
  async cdrOf(leg: SimLeg): Promise<Cdr> {
    const found = (await this.cdrs()).find(({ sipCallId }) => sipCallId === leg.sipCallId);
    return found ?? this.fail(`${leg.id} has no record`);
  }

  async cdrs(): Promise<readonly Cdr[]> {
    const { accountId } = this.service;
    const page = await this.disk.rescued.cdrs.page({ accountId }, { limit: 1000, offset: 0 });
    return page.items.map(({ cdr }) => cdr);
  }

  // ---------------------------------------------------------------- time

  /** Advances time and checks the invariants at every step. */
  async advance(ms: number): Promise<void> {
    const endMs = this.clock.monotonicMs() + ms;
    for (;;) {
      const leftMs = endMs - this.clock.monotonicMs();
      if (leftMs <= 0) break;
      const stepMs = Math.min(STEP_MS, leftMs);
      for (const phone of this.#phones) phone.step(this.clock.monotonicMs());
      this.#drive.advance(stepMs);
      this.network.step();
      await this.clock.advance(stepMs);
      this.#rules.quick();
      this.#sinceDeepMs += stepMs;
      if (this.#sinceDeepMs >= DEEP_CHECK_MS) await this.#checkDeeply();
    }
  }

  async #checkDeeply(): Promise<void> {
    this.#sinceDeepMs = 0;
    await this.#rules.deep();
  }

  /** Advances time until `isSo`; fails if that takes longer than `withinMs`. */
  async until(what: string, isSo: () => boolean, withinMs = 10_000): Promise<void> {
    const endMs = this.clock.monotonicMs() + withinMs;
    while (!isSo()) {
      if (this.clock.monotonicMs() >= endMs) this.fail(`not within ${withinMs} ms: ${what}`);
      await this.advance(STEP_MS);
    }
  }

  /** Hangs up all phones, waits for the aftermath, and checks that no state is left. */
  async close(): Promise<void> {
    if (this.#hasCrashed) return;
    for (const leg of this.signalling.legs) leg.phoneHangsUp();
    for (const { uuid } of this.service.callBilling.live()) {
      this.service.callBilling.get(uuid)?.hangup('normal', 'API Request');
    }
    await this.advance(2000);
    await this.rest(AFTERMATH_MS);
    await this.#rules.afterAll();
  }

  /** `kill -9`: the next process takes over the data on disk and gets time for pending notifications. */
  async crash(): Promise<void> {
    this.notify('the process is killed');
    this.#hasCrashed = true;
    const callbacks = await restart(this, this.service);
    await this.clock.advance(AFTERMATH_MS);
    this.equal(callbacks.queued(), 0, 'notifications on their way');
  }

  /** Advances time without audio in one step. */
  async rest(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1000) {
      this.#drive.advance(1000);
      this.network.step();
      await this.clock.advance(1000);
      this.#rules.quick();
    }
    await this.#checkDeeply();
  }

  async dispose(): Promise<void> {
    await this.media.stop();
    await this.store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  // ---------------------------------------------------------------- assertions

  expect(isSo: boolean, what: string): void {
    if (!isSo) this.fail(what);
  }

  equal<T>(actual: T, expected: T, what: string): void {
    if (actual !== expected) {
      this.fail(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
    }
  }

  fail(what: string): never {
    throw new Error(what);
  }
}

interface Made {
  readonly random: SimRandom;
  readonly clock: SimClock;
  readonly listener: LogListener;
  readonly media: MediaEngine;
  readonly store: Store;
}

async function makeEdges(seed: number, ports: number): Promise<Made> {
  const random = new SimRandom(seed);
  const clock = new SimClock();
  const listener = new LogListener();
  const logger = listener.logger();
  const store = await openStore({
    dataDir: ':memory:',
    synchronous: 'normal',
    logger,
    clock,
    random: random.fork(),
  });
  const media = createMedia({
    rtpHost: '127.0.0.1',
    publicHost: '198.51.100.1',
    portMin: FIRST_PORT,
    portMax: FIRST_PORT + 2 * (ports - 1),
    drive: 'manual',
    // Legs that are connected start on different threads.
    threads: 3,
    keepAliveMs: 15_000,
    wallMs: () => clock.wallMs(),
    logger,
    random: random.fork(),
  });
  return { random, clock, listener, media, store };
}
