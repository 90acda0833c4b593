/** A node of a simulated cluster: a process of the real domain with real wiring that may crash and restart. */
import { assert } from '../../../src/base/errors.ts';
import { asCallUuid } from '../../../src/base/ids.ts';
import type { Logger } from '../../../src/base/logger.ts';
import { CallLogs } from '../../../src/domain/call/call.ts';
import {
  type CallbackClient,
  createCallbackClient,
  KnownTokens,
} from '../../../src/domain/callback/callback.ts';
import type { HttpCaller } from '../../../src/domain/callback/needs.ts';
import { NewCalls } from '../../../src/domain/capacity/capacity.ts';
import { recoverOpenCalls } from '../../../src/domain/cdr/cdr.ts';
import { type NodeLease, SelfNode } from '../../../src/domain/cluster/cluster.ts';
import { shareControl } from '../../../src/domain/dispatch/dispatch.ts';
import type { CallControl } from '../../../src/domain/dispatch/types.ts';
import { clusterOver } from '../../../src/edge/cluster/cluster.ts';
import { createSignedLinks } from '../../../src/edge/rest/links.ts';
import { type Calls, joinCalls } from '../../../src/service/join/calls.ts';
import { type Clustered, clusteredBy } from '../../../src/service/join/cluster.ts';
import type { Basics, Foundation } from '../../../src/service/join/foundation.ts';
import { derive } from '../../../src/service/settings.ts';
import { SipTraces } from '../../../src/service/sip-traces.ts';
import { FakeMedia } from '../../fakes/media.ts';
import { testFoundation, testSettings } from '../../foundation.ts';
import { NO_SPEECH } from '../../no-speech.ts';
import type { SimClock } from '../clock.ts';
import type { Customer } from '../customer.ts';
import type { SimPhone } from '../phone.ts';
import type { SimRandom } from '../random.ts';
import { SimSignalling } from '../signalling.ts';
import type { BugListener } from './bug-listener.ts';
import { type DatabaseLink, NodeDisk, type SimDatabase } from './database.ts';
import { NodeClock } from './node-clock.ts';
import { type SimRedis, SimRedisLink } from './redis.ts';

export const HOST = 'registrar.test';
/** Prices in millionths of a dollar per started minute. */
export const PRICE = { sip: 6000, outbound: 20_000 };

const settings = testSettings({
  CARILLON_SIP_PUBLIC_HOST: HOST,
  CARILLON_PUBLIC_URL: 'https://media.test',
  CARILLON_CALLS_HEARTBEAT_MS: '1000',
});

/** Environment of the nodes. */
export interface Surroundings {
  readonly clock: SimClock;
  readonly random: SimRandom;
  readonly listener: BugListener;
  readonly customer: Customer;
  readonly database: SimDatabase;
  readonly redis: SimRedis;
  /** Phones that can be called, by number. */
  readonly phones: ReadonlyMap<string, SimPhone>;
  notify(line: string): void;
}

/** One process. */
export interface Process {
  readonly clock: NodeClock;
  readonly self: SelfNode;
  readonly database: DatabaseLink;
  readonly redis: SimRedisLink;
  readonly signalling: SimSignalling;
  readonly callbacks: CallbackClient;
  readonly calls: Calls;
  /** Call control across all nodes. */
  readonly control: CallControl;
  readonly clustered: Clustered;
  /** Connection of this process to the customer's server. */
  readonly line: { cut(): void };
}

export class SimNode {
  readonly id: string;
  process: Process | undefined;
  servesSinceMs = 0;
  /** Offset of its wall clock in milliseconds. */
  offsetMs: number;
  readonly #world: Surroundings;
  readonly #disk: NodeDisk;
  /** Clock of the latest process, including processes that ended before they served. */
  #clock: NodeClock | undefined;
  #link: DatabaseLink | undefined;
  #isStarting = false;
  #lives = 0;

  /** True if the node is of a version that does not register its slots in an emptied Redis. */
  readonly #isEarlier: boolean;

  constructor(id: string, world: Surroundings, offsetMs: number, isEarlier: boolean) {
    this.id = id;
    this.#isEarlier = isEarlier;
    this.#world = world;
    this.#disk = new NodeDisk(world.clock, world.random.fork());
    this.offsetMs = offsetMs;
  }

  get isStarting(): boolean {
    return this.#isStarting;
  }

  /** Current connectivity of the node. */
  get ways(): { readonly database: boolean; readonly redis: boolean } {
    return {
      database: this.#link?.way.isCut ?? false,
      redis: this.process?.redis.way.isCut ?? false,
    };
  }

  /** Starts a new process; a failed start may be repeated. */
  start(): void {
    assert(this.process === undefined && !this.#isStarting, 'one process at a time');
    const clock = new NodeClock(this.#world.clock, this.offsetMs);
    this.#clock = clock;
    this.#isStarting = true;
    this.#begin(clock).then(
      (process) => {
        this.#isStarting = false;
        this.process = process;
        this.servesSinceMs = this.#world.clock.monotonicMs();
        this.#world.notify(`${this.id} serves, epoch ${process.self.epoch}`);
      },
      (error: unknown) => {
        if (clock.isDead) return;
        clock.die();
        this.#isStarting = false;
        this.#world.notify(`${this.id} did not start: ${String(error)}`);
      },
    );
  }

  /** `kill -9`. */
  kill(): void {
    this.process?.line.cut();
    this.process?.redis.close();
    this.#clock?.die();
    this.process = undefined;
    this.#isStarting = false;
  }

  stand(): void {
    this.#clock?.stand();
  }

  goOn(): void {
    this.#clock?.goOn();
  }

  cut(what: 'database' | 'redis' | 'both', isCut: boolean): void {
    if (what !== 'redis' && this.#link !== undefined) this.#link.way.isCut = isCut;
    const redis = this.process?.redis;
    if (what !== 'database' && redis !== undefined) redis.way.isCut = isCut;
  }

  /** Number of work units in its spool. */
  get spooled(): number {
    return this.#disk.size;
  }

  async #begin(clock: NodeClock): Promise<Process> {
    const { random, listener, database, redis } = this.#world;
    const logger = listener.logger(this.id);
    const basics: Basics = {
      settings,
      lists: { rates: [], carriers: [] },
      dataDir: '',
      logger,
      clock,
      random: random.fork(),
    };
    const link = database.connect(clock, this.#disk, logger);
    this.#link = link;
    await link.drain();
    const self = new SelfNode(this.id);
    await self.begin(link.store.nodes, false);
    const store = link.store.as(self);
    const facts = testFoundation(basics, store, { prices: PRICE, recordingFiles: NO_FILES });
    const foundation: Foundation = { ...facts, self };
    await foundation.provisioning.carriers.load();
    await recoverOpenCalls(store.calls, logger);
    const redisLink = new SimRedisLink(redis, clock, this.#isEarlier);
    const listNodes = async (): Promise<readonly string[]> =>
      (await store.nodes.list()).map(({ id }) => id);
    const given = { nodeId: this.id, answerMs: 1000, shareAlone: 0, listNodes, ...basics };
    const shared = await clusterOver(redisLink, given);
    const clustered = clusteredBy(shared, basics, foundation);
    return this.#serve(basics, foundation, { link, redisLink, shared, clustered });
  }

  async #serve(
    basics: (Basics & { readonly clock: NodeClock }) | Basics,
    foundation: Foundation,
    over: {
      readonly link: DatabaseLink;
      readonly redisLink: SimRedisLink;
      readonly shared: Awaited<ReturnType<typeof clusterOver>>;
      readonly clustered: Clustered;
    },
  ): Promise<Process> {
    const { link, redisLink, shared, clustered } = over;
    const { clock } = redisLink;
    const { self } = foundation;
    const line = lineOf(this.#world, clock, self);
    const { calls, callbacks, signalling } = this.#join(basics, foundation, line, shared);
    const { callBilling, outbound, admission } = calls;
    const adopt = async (): Promise<void> => {
      await callbacks.resume();
    };
    await adopt();
    const fenced = (cause: string | undefined): void => admission.pause(cause);
    // The other nodes must first detect the new epoch.
    const relinquish = (): void => {
      this.servesSinceMs = this.#world.clock.monotonicMs();
    };
    const own = { callBilling, outbound, admission, callbacks };
    await clustered.start({ ...own, fenced, adopt, relinquish });
    signalling.onInbound((leg) => calls.inbound.accept(leg));
    const control = shareControl(calls.control, clustered.peers);
    return {
      clock,
      self,
      signalling,
      callbacks,
      calls,
      control,
      clustered,
      line,
      database: link,
      redis: redisLink,
    };
  }

  #join(
    basics: Basics,
    foundation: Foundation,
    http: HttpCaller,
    { slots, directory, lease }: Awaited<ReturnType<typeof clusterOver>>,
  ) {
    const { clock, random, logger } = basics;
    const { store } = foundation;
    const logs = new CallLogs({ entries: 50, retentionMs: 3_600_000, calls: 1000 }, clock);
    const callbacks = callbacksOf(basics, store, http, { logs, lease });
    this.#lives += 1;
    const name = `${this.id}.${this.#lives} `;
    const notify = (text: string): void => this.#world.notify(text);
    const signalling = new SimSignalling(clock, this.#world.random.fork(), notify, name);
    for (const [number, phone] of this.#world.phones) signalling.plugIn(number, phone);
    const media = new FakeMedia().asMedia;
    const unheard = { load: () => Promise.reject(new Error('no sound is requested')) };
    const lines = {
      callbacks,
      media,
      signalling,
      slots,
      directory,
      lease,
      logs,
      ...NO_SPEECH,
      newCalls: new NewCalls(clock),
      destinations: { judgeRtp: () => ({ kind: 'send' as const }) },
      streams: {
        open: () => {
          throw new Error('no stream is requested');
        },
      },
      audio: { library: unheard, encoder: NO_ENCODER },
      speech: {
        speak: () => {
          throw new Error('no speech is requested');
        },
      },
      traces: new SipTraces(),
      holdMusic: () => Promise.resolve(undefined),
    };
    const derived = derive(settings);
    const linking = { publicUrl: derived.publicUrl, linkKey: 'sim', recordingLinkMs: 900_000 };
    const links = createSignedLinks(linking, clock);
    const calls = joinCalls(
      { ...basics, random, logger },
      foundation,
      lines,
      derived,
      links,
      () => undefined,
    );
    return { calls, callbacks, signalling };
  }
}

const NO_FILES = {
  prepare: (file: string) => Promise.resolve(file),
  synced: () => Promise.resolve(undefined),
  repairWav: () => Promise.resolve(undefined),
  remove: () => Promise.resolve(),
};
const NO_ENCODER = { encodeMp3: () => Promise.reject(new Error('no recording is made')) };

/** Responses of the customer reach the process with the same delays as other events. */
function lineOf({ customer, database }: Surroundings, clock: NodeClock, self: SelfNode) {
  const line = customer.line();
  const caller: HttpCaller & { cut(): void } = {
    send: (request, signal) =>
      new Promise((resolve, reject) => {
        if (database.isFenced(self)) {
          const about = new URLSearchParams(request.body);
          const what = `${about.get('Event')} of ${about.get('CallUUID')}`;
          database.faults.push(`${self.id} was declared dead, and sent ${what}`);
        }
        line.send(request, signal).then(
          (answer) => clock.reach(() => resolve(answer)),
          (error: unknown) => clock.reach(() => reject(error)),
        );
      }),
    cut: () => line.cut(),
  };
  return caller;
}

const callbacksOf = (
  { clock, random, logger }: { clock: Basics['clock']; random: Basics['random']; logger: Logger },
  store: Foundation['store'],
  http: HttpCaller,
  { logs, lease }: { readonly logs: CallLogs; readonly lease: NodeLease },
): CallbackClient =>
  createCallbackClient({
    http,
    clock,
    random,
    logger,
    tokens: new KnownTokens(store.signingTokens),
    notifications: store.notifications,
    settings: settings.webhooks,
    lease,
    onAttempt: ({ subject }, attempt) =>
      logs.get(asCallUuid(subject))?.add('callback', attempt.event, { ...attempt }),
  });
