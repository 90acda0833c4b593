/** Redis as seen by the nodes of a simulated cluster: with latency, data loss after a restart, and lost messages. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../../src/base/clock.ts';
import { ServiceError } from '../../../src/base/errors.ts';
import type { RedisLink } from '../../../src/edge/cluster/redis-link.ts';
import type { SimRandom } from '../random.ts';
import { Way } from './link.ts';
import type { NodeClock } from './node-clock.ts';

const COMMAND_MS = 500;
const RECONNECT_MS = 200;
/** Keys of `slot-registrations.ts`. */
const SLOTS_PREFIX = 'carillon:slots:';
/** Share of messages between nodes that are lost; others are delivered twice or late. */
const LOST = 0.03;
const TWICE = 0.03;
const LATE_MS = [1, 60] as const;

interface Entry {
  readonly value: string | Map<string, number>;
  endsMs: number;
}

interface KeyListener {
  readonly channel: string;
  readonly link: SimRedisLink;
  readonly hear: (message: string) => void;
}

/** Commands that change data, without scripts. */
const WRITES: ReadonlySet<string> = new Set(['SET', 'DEL', 'ZREM']);

export class SimRedis {
  isUp = true;
  /** True while it refuses writes, as with a full disk (MISCONF). */
  refusesWrites = false;
  /** Generation of the server; connections to an earlier one are closed. */
  lifetime = 1;
  readonly clock: Clock;
  readonly random: SimRandom;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<KeyListener>();
  /** Hashes of the scripts that it has run. */
  readonly #scripts = new Set<string>();

  constructor(clock: Clock, random: SimRandom) {
    this.clock = clock;
    this.random = random;
  }

  get acceptsWrites(): boolean {
    return this.isUp && !this.refusesWrites;
  }

  /** Restarts it without data. */
  crash(): void {
    this.isUp = false;
    this.lifetime += 1;
    this.#entries.clear();
    this.#scripts.clear();
  }

  /** Number of unexpired leases of all accounts. */
  leases(): number {
    let count = 0;
    for (const [key, { value }] of this.#entries)
      if (key.endsWith(':leases') && value instanceof Map) count += this.#valid(value);
    return count;
  }

  subscribe(listener: KeyListener): void {
    this.#listeners.add(listener);
  }

  leave(link: SimRedisLink): void {
    for (const listener of this.#listeners)
      if (listener.link === link) this.#listeners.delete(listener);
  }

  /** Runs a client command immediately. Throws for commands that no node sends. */
  run([command = '', key = '', ...given]: readonly string[], isEarlier = false): unknown {
    if (WRITES.has(command)) this.#checkWritable();
    switch (command) {
      case 'PUBLISH':
        return this.#publish(key, given[0] ?? '');
      case 'SET':
        // A node of an earlier version does not name the server that knows all slots.
        if (isEarlier && key.startsWith(SLOTS_PREFIX)) return 'OK';
        this.#entries.set(key, { value: given[0] ?? '', endsMs: this.#end(given) });
        return 'OK';
      case 'GET':
        return this.#entry(key)?.value ?? null;
      case 'EXISTS':
        return this.#entry(key) === undefined ? 0 : 1;
      case 'DEL':
        return this.#entries.delete(key) ? 1 : 0;
      case 'INFO':
        return `# Server\r\nredis_version:7.0.0\r\nrun_id:run${this.lifetime}\r\n`;
      case 'ZREM':
        return this.#scores(key).delete(given[0] ?? '') ? 1 : 0;
      case 'EVAL':
        this.#scripts.add(createHash('sha1').update(key).digest('hex'));
        return this.#script(given, isEarlier);
      case 'EVALSHA':
        if (!this.#scripts.has(key)) throw unknownScript();
        return this.#script(given, isEarlier);
      default:
        throw new Error(`the simulated Redis does not know ${command}`);
    }
  }

  #end(options: readonly string[]): number {
    const of = (name: string): number => Number(options[options.indexOf(name) + 1]);
    const nowMs = this.clock.monotonicMs();
    if (options.includes('PX')) return nowMs + of('PX');
    return options.includes('EX') ? nowMs + of('EX') * 1000 : Number.POSITIVE_INFINITY;
  }

  #entry(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined && entry.endsMs <= this.clock.monotonicMs()) this.#entries.delete(key);
    return this.#entries.get(key);
  }

  #scores(key: string): Map<string, number> {
    const found = this.#entry(key)?.value;
    if (found instanceof Map) return found;
    const value = new Map<string, number>();
    this.#entries.set(key, { value, endsMs: Number.POSITIVE_INFINITY });
    return value;
  }

  #valid(scores: ReadonlyMap<string, number>): number {
    const nowMs = this.clock.monotonicMs();
    return [...scores.values()].filter((endsMs) => endsMs > nowMs).length;
  }

  #checkWritable(): void {
    if (this.refusesWrites) throw refused('MISCONF Redis cannot write snapshots.');
  }

  /** Runs one of the scripts of the slots, distinguished by their keys and arguments. */
  #script([keys, first = '', ...rest]: readonly string[], isEarlier: boolean): unknown {
    if (keys === '2') return isEarlier ? 1 : this.#confirm(first, rest);
    const nowMs = this.clock.monotonicMs();
    const leases = this.#scores(first);
    if (keys === '3') return this.#take(leases, rest, isEarlier);
    const [lifetimeMs, ...renewed] = rest;
    if (lifetimeMs === undefined) return this.#valid(leases);
    this.#checkWritable();
    for (const lease of renewed) leases.set(lease, nowMs + Number(lifetimeMs));
    return 0;
  }

  #confirm(completeKey: string, given: readonly string[]): number {
    const [registeredKey = '', run, lifetimeMs] = given;
    this.#checkWritable();
    const endsMs = this.clock.monotonicMs() + Number(lifetimeMs);
    this.#entries.set(registeredKey, { value: '1', endsMs });
    const complete = this.#entry(completeKey);
    if (complete === undefined || complete.value !== run) return 0;
    complete.endsMs = endsMs;
    return 1;
  }

  #take(
    leases: Map<string, number>,
    given: readonly string[],
    isEarlier: boolean,
  ): readonly [number, number] {
    const [startsKey = '', completeKey = '', lease = '', most, perSecond, lifetimeMs, run] = given;
    if (!isEarlier && this.#entry(completeKey)?.value !== run) return [3, 1000];
    this.#checkWritable();
    const nowMs = this.clock.monotonicMs();
    const starts = this.#scores(startsKey);
    for (const [name, atMs] of starts) if (atMs <= nowMs - 1000) starts.delete(name);
    if (this.#valid(leases) >= Number(most)) return [1, 1000];
    if (starts.size >= Number(perSecond)) return [2, 1000];
    leases.set(lease, nowMs + Number(lifetimeMs));
    starts.set(lease, nowMs);
    return [0, 0];
  }

  #publish(channel: string, message: string): number {
    const { clock, random } = this;
    const listeners = [...this.#listeners].filter(
      ({ link, ...listener }) => link.hears && listener.channel === channel,
    );
    for (const listener of listeners) {
      if (random.chance(LOST)) continue;
      for (let copies = random.chance(TWICE) ? 2 : 1; copies > 0; copies -= 1)
        clock.at(clock.monotonicMs() + random.between(...LATE_MS), () =>
          listener.link.clock.reach(() => listener.hear(message)),
        );
    }
    return listeners.length;
  }
}

/** Errors in the form that RedisLink returns. */
function unknownScript(): Error {
  return refused('NOSCRIPT No matching script. Please use EVAL.');
}

function refused(message: string): Error {
  const cause = new Error(message);
  return new ServiceError('CLUSTER_UNAVAILABLE', `redis: ${message}`, { cause });
}

export class SimRedisLink implements RedisLink {
  readonly clock: NodeClock;
  readonly way: Way;
  readonly #redis: SimRedis;
  readonly #connected: (() => void)[] = [];
  #wasConnected = true;
  #lifetime: number;

  readonly #isEarlier: boolean;

  /** With `isEarlier`, the node neither registers its slots nor waits for others to do so. */
  constructor(redis: SimRedis, clock: NodeClock, isEarlier = false) {
    this.#isEarlier = isEarlier;
    this.clock = clock;
    this.#redis = redis;
    this.#lifetime = redis.lifetime;
    this.way = new Way(clock, redis.random.fork(), { delayMs: [0, 2], unanswered: 0.01 });
    this.#watch();
  }

  get isConnected(): boolean {
    return this.#reaches && this.#lifetime === this.#redis.lifetime;
  }

  get #reaches(): boolean {
    return this.#redis.isUp && !this.way.isCut;
  }

  /** True if messages reach it. */
  get hears(): boolean {
    return this.isConnected && !this.clock.isDead;
  }

  send(...command: readonly string[]): Promise<unknown> {
    const lost = (): Error => new ServiceError('CLUSTER_UNAVAILABLE', 'redis does not answer');
    const act = async (): Promise<unknown> => {
      if (!this.#redis.isUp || this.#lifetime !== this.#redis.lifetime) throw lost();
      return this.#redis.run(command, this.#isEarlier);
    };
    return this.way.ask(act, { lost, timeoutMs: COMMAND_MS });
  }

  async subscribe(channel: string, hear: (message: string) => void): Promise<void> {
    this.#redis.subscribe({ channel, link: this, hear });
  }

  onConnected(act: () => void): void {
    this.#connected.push(act);
  }

  onSubscribed(act: () => void): void {
    this.onConnected(act);
  }

  close(): void {
    this.#redis.leave(this);
  }

  /** Reconnects and reports it, like the real client. */
  #watch(): void {
    this.clock.at(this.clock.monotonicMs() + RECONNECT_MS, () => {
      const isNew = this.#reaches && !(this.#wasConnected && this.isConnected);
      if (this.#reaches) this.#lifetime = this.#redis.lifetime;
      if (isNew) for (const act of this.#connected) act();
      this.#wasConnected = this.isConnected;
      this.#watch();
    });
  }
}
