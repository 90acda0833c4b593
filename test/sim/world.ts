/**
 * A whole service in virtual time: the real domain, the real store in memory and the real native media, between scripted
 * phones, a scripted customer and bots. One seed decides everything that is left to chance.
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
import { LogEar } from './ear.ts';
import { Invariants } from './invariants.ts';
import type { Called, SimLeg } from './leg.ts';
import { SimNetwork } from './network.ts';
import { type PhoneOptions, SimPhone } from './phone.ts';
import { SimRandom } from './random.ts';
import { buildService, type Edges, restart, type SimService } from './service.ts';
import { SimSignalling } from './signalling.ts';
import { SimStreams } from './streams.ts';

export interface WorldOptions {
  readonly concurrentCalls?: number;
  readonly callsPerSecond?: number;
  /** Millionths of a dollar. */
  readonly credit?: number;
  /** RTP ports. */
  readonly ports?: number;
}

/** Time moves in such steps for everybody; nothing of ours is finer than the 5 ms of a media batch. */
const STEP_MS = 5;
/** Store and ledger are checked this often; what costs nothing is checked with every step. */
const DEEP_CHECK_MS = 100;
const FIRST_PORT = 20_000;
const PORTS = 100;
const PLENTY = 100_000_000;
/** Longer than any timer of a call that is over: retries of callbacks, quarantine of ports. */
const AFTERMATH_MS = 70_000;
export const DIALLED = '1000';

export class World implements Edges {
  readonly seed: number;
  readonly random: SimRandom;
  readonly clock: SimClock;
  readonly ear: LogEar;
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
    this.ear = made.ear;
    this.media = made.media;
    this.disk = new SimDisk(made.store, made.clock);
    this.store = this.disk.store;
    assert(made.media.manual !== undefined, 'the engine is driven by hand');
    this.#drive = made.media.manual;
    const tell = (line: string): void => this.tell(line);
    this.network = new SimNetwork(this.#drive, this.random.fork());
    this.signalling = new SimSignalling(this.clock, this.random.fork(), tell);
    this.customer = new Customer(this.clock, this.random.fork(), tell);
    this.streams = new SimStreams(this.clock, this.random.fork(), tell);
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

  tell(line: string): void {
    this.story.push(`${this.clock.monotonicMs().toFixed(0).padStart(7)} ${line}`);
  }

  // ---------------------------------------------------------------- phones and calls

  /** A phone with a registered endpoint of its own. */
  async phone(name: string, options: Partial<PhoneOptions> & { called?: Called } = {}) {
    const username = await this.service.endpoint(name);
    const phone = this.#newPhone(name, options);
    this.signalling.plugIn(username, phone, options.called);
    return Object.assign(phone, { username });
  }

  /** A phone somewhere in the telephone network, behind the carrier. */
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
    this.tell(`${phone.name} calls ${dialled}`);
    return this.signalling.call(phone, { dialled, username: phone.username });
  }

  /** The service's call of a leg, while it lives. */
  callOf(leg: SimLeg): Call | undefined {
    return this.service.keeper.live().find(({ peer }) => peer.sipCallId === leg.sipCallId);
  }

  /** The record of a leg that is over. */
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

  /** Lets time pass; the invariants hold at every step of it. */
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

  /** Lets time pass until `isSo`; a failure when it does not become so in time. */
  async until(what: string, isSo: () => boolean, withinMs = 10_000): Promise<void> {
    const endMs = this.clock.monotonicMs() + withinMs;
    while (!isSo()) {
      if (this.clock.monotonicMs() >= endMs) this.fail(`not within ${withinMs} ms: ${what}`);
      await this.advance(STEP_MS);
    }
  }

  /** Everybody who is still on the phone hangs up, the aftermath passes, and nothing may be left. */
  async close(): Promise<void> {
    if (this.#hasCrashed) return;
    for (const leg of this.signalling.legs) leg.phoneHangsUp();
    for (const { uuid } of this.service.keeper.live()) {
      this.service.keeper.get(uuid)?.hangup('normal', 'API Request');
    }
    await this.advance(2000);
    await this.rest(AFTERMATH_MS);
    await this.#rules.afterAll();
  }

  /** `kill -9` now; the next process takes over what is on the disk, and there is time for what it has to tell. */
  async crash(): Promise<void> {
    this.tell('the process is killed');
    this.#hasCrashed = true;
    const callbacks = await restart(this, this.service);
    await this.clock.advance(AFTERMATH_MS);
    this.equal(callbacks.queued(), 0, 'notifications on their way');
  }

  /** Time in which no audio matters passes in one go. */
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
  readonly ear: LogEar;
  readonly media: MediaEngine;
  readonly store: Store;
}

async function makeEdges(seed: number, ports: number): Promise<Made> {
  const random = new SimRandom(seed);
  const clock = new SimClock();
  const ear = new LogEar();
  const logger = ear.logger();
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
    // Legs that meet come from different ones.
    threads: 3,
    keepAliveMs: 15_000,
    wallMs: () => clock.wallMs(),
    logger,
    random: random.fork(),
  });
  return { random, clock, ear, media, store };
}
