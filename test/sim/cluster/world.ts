/**
 * Three nodes in virtual time: the real domain and the real repositories, with a Redis and a database that fail, and
 * connections that lose, delay and repeat messages. One seed determines everything.
 */
import { assert } from '../../../src/base/errors.ts';
import type { AccountId, AppId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { micros } from '../../../src/base/money.ts';
import type { HttpRequest } from '../../../src/domain/callback/needs.ts';
import type { ManualDrive } from '../../../src/edge/media/engine.ts';
import { testFoundation, testSettings } from '../../foundation.ts';
import { SimClock, settle } from '../clock.ts';
import { Customer, type Reply, SITE } from '../customer.ts';
import type { SimLeg } from '../leg.ts';
import { SimNetwork } from '../network.ts';
import { SimPhone } from '../phone.ts';
import { SimRandom } from '../random.ts';
import { BugListener } from './bug-listener.ts';
import { SimDatabase } from './database.ts';
import { HOST, PRICE, type Process, SimNode, type Surroundings } from './node.ts';
import { SimRedis } from './redis.ts';

const NODES = ['n1', 'n2', 'n3'];
export const OWN_NUMBER = '14155550100';
export const FAR = ['14155550111', '14155550122', '14155550133'];
/** Maximum clock offset in milliseconds; the clocks of two nodes differ by at most twice as much. */
const WRONG_MS = 2000;
/** Maximum step of time in milliseconds between checks. */
const STEP_MS = 100;
/** Maximum number of simultaneous calls of the account, one value per seed. Low values refuse calls. */
const SLOTS = [50, 3, 6] as const;
const PLENTY = 1_000_000_000;

/** A leg and the process that owns it. */
export interface Tracked {
  readonly leg: SimLeg;
  readonly process: Process;
  readonly node: SimNode;
}

export class ClusterWorld implements Surroundings {
  readonly clock = new SimClock();
  readonly random: SimRandom;
  readonly slots: number;
  readonly isMixed: boolean;
  readonly listener: BugListener;
  readonly customer: Customer;
  readonly database: SimDatabase;
  readonly redis: SimRedis;
  readonly phones: Map<string, SimPhone>;
  readonly nodes: readonly SimNode[];
  readonly story: string[] = [];
  /** All processes that ever served. */
  readonly processes = new Map<Process, SimNode>();
  /** Responses of the customer's server. */
  readonly answers = new Map<HttpRequest, Reply>();
  #customer:
    | { readonly accountId: AccountId; readonly appId: AppId; readonly username: string }
    | undefined;

  private constructor(seed: number, isMixed: boolean) {
    this.isMixed = isMixed;
    this.random = new SimRandom(seed);
    this.slots = SLOTS[seed % SLOTS.length] ?? SLOTS[0];
    const notify = (line: string): void => this.notify(line);
    this.listener = new BugListener(notify);
    this.customer = new Customer(this.clock, this.random.fork(), () => undefined);
    this.database = new SimDatabase(this.clock, this.random.fork());
    this.redis = new SimRedis(this.clock, this.random.fork());
    this.phones = new Map(FAR.map((number, index) => [number, this.#phone(number, index)]));
    this.nodes = NODES.map(
      (id) =>
        new SimNode(
          id,
          this,
          this.random.between(-WRONG_MS, WRONG_MS),
          isMixed && id === NODES.at(-1),
        ),
    );
  }

  /** With `isMixed`, the last node is of an earlier version. */
  static async open(seed: number, isMixed = false): Promise<ClusterWorld> {
    const world = new ClusterWorld(seed, isMixed);
    world.#customer = await provision(world);
    for (const node of world.nodes) node.start();
    await world.until('all nodes serve', () =>
      world.nodes.every(({ process }) => process !== undefined),
    );
    return world;
  }

  get account() {
    assert(this.#customer !== undefined, 'a world is opened before it is used');
    return this.#customer;
  }

  notify(line: string): void {
    this.story.push(`${this.clock.monotonicMs().toFixed(0).padStart(7)} ${line}`);
  }

  #phone(name: string, index: number): SimPhone {
    // Packets are not delivered; other simulations test media.
    const nowMs = (): number => this.clock.monotonicMs();
    const drive = { nowMs, drain: () => [], inject: () => undefined } as unknown as ManualDrive;
    const place = { address: `192.0.2.${index + 1}`, port: 4000 };
    return new SimPhone({ name, place }, new SimNetwork(drive, this.random.fork()));
  }

  /** Nodes that are serving. */
  get serving(): readonly (SimNode & { readonly process: Process })[] {
    return this.nodes.filter(
      (node): node is SimNode & { process: Process } => node.process !== undefined,
    );
  }

  /** Calls from a phone through one of the serving nodes. Returns undefined if there is none. */
  call(): SimLeg | undefined {
    const node = this.serving.length === 0 ? undefined : this.random.pick(this.serving);
    if (node === undefined) return undefined;
    const { username } = this.account;
    return node.process.signalling.call(this.#phone('alice', 9), { username });
  }

  legs(): readonly Tracked[] {
    return [...this.processes].flatMap(([process, node]) =>
      process.signalling.legs.map((leg) => ({ leg, process, node })),
    );
  }

  /** Advances time and runs `look` at every step. */
  async advance(ms: number, look: () => Promise<void> | void = () => undefined): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
      await this.clock.advance(Math.min(STEP_MS, leftMs));
      for (const node of this.nodes)
        if (node.process !== undefined) this.processes.set(node.process, node);
      await look();
    }
  }

  /** Advances time until the promise settles. */
  async now<T>(promise: Promise<T>): Promise<T> {
    let isOver = false;
    const over = promise.finally(() => {
      isOver = true;
    });
    await this.until('an answer', () => isOver);
    return over;
  }

  async until(what: string, isSo: () => boolean, withinMs = 60_000): Promise<void> {
    const endMs = this.clock.monotonicMs() + withinMs;
    while (!isSo()) {
      if (this.clock.monotonicMs() > endMs) throw new Error(`not within ${withinMs} ms: ${what}`);
      for (const node of this.nodes)
        if (node.process === undefined && !node.isStarting) node.start();
      await this.advance(STEP_MS);
    }
  }

  async close(): Promise<void> {
    for (const node of this.nodes) node.kill();
    await settle();
    await this.database.close();
  }
}

/** Provisions an account with credit, an application, an endpoint and a carrier. */
async function provision(world: ClusterWorld) {
  const { clock, random, database } = world;
  const basics = {
    settings: testSettings({ CARILLON_SIP_PUBLIC_HOST: HOST }),
    dataDir: '',
    lists: { rates: [], carriers: [] },
    logger: silentLogger,
    clock,
    random: random.fork(),
  };
  const files = { prepare: String, synced: undefined, repairWav: undefined, remove: undefined };
  const { accounts, ledger, provisioning } = testFoundation(basics, database.store, {
    prices: PRICE,
    recordingFiles: files as never,
  });
  const limits = { concurrentCallsLimit: world.slots, cpsLimit: 50 };
  const created = await accounts.create({ name: 'Sim', ...limits, currency: 'USD' });
  assert(created.ok, 'the account is made');
  const accountId = created.value.account.authId;
  const credit = { accountId, currency: 'USD', amount: micros(PLENTY), description: 'credit' };
  await ledger.adjust(credit);
  const urls = { answerUrl: `${SITE}/answer`, hangupUrl: `${SITE}/hangup` };
  const { appId } = await provisioning.applications.create({ accountId, name: 'sim', ...urls });
  await provisioning.callerIds.verify(accountId, OWN_NUMBER);
  const auth = { username: 'us', password: 'the password of the carrier', register: false };
  await provisioning.carriers.create({ name: 'acme', host: 'c.test', auth });
  const endpoint = { username: 'alice', alias: 'alice', password: 'the password of alice', appId };
  const made = await provisioning.endpoints.create({ accountId, ...endpoint });
  assert(made.ok, 'the endpoint is made');
  return { accountId, appId, username: made.value.username };
}
