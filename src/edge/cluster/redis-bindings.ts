/**
 * Registrations of all nodes, stored in one hash. A node reads the hash at startup and receives changes over the bus.
 * Each node keeps all registrations in memory, so that a call needs no remote lookup.
 */
import type { Clock } from '../../base/clock.ts';
import { DAY_MS, SECOND_MS } from '../../base/duration.ts';
import type { Logger } from '../../base/logger.ts';
import { RepeatedTask } from '../../base/repeated-task.ts';
import type { Bus } from '../../domain/cluster/needs.ts';
import type { BindingStore } from '../../domain/registration/needs.ts';
import type { Binding } from '../../domain/registration/types.ts';
import type { RedisLink } from './redis-link.ts';

const KEY = 'carillon:bindings';
/** Sorted set of removed registrations by the time of their removal, in milliseconds since the epoch. */
const REMOVED_KEY = 'carillon:bindings-removed';
/** Time for which a removal is known: longer than any registration is valid. */
const REMOVED_MS = DAY_MS;
const MOST_AT_ONCE = 1000;
const US_PER_MS = 1000;

type ExpiredBinding = Pick<Binding, 'username' | 'contactUri'>;

/** Receives registrations from other nodes. */
export interface BindingListener {
  bindingsElsewhere(saved: readonly Binding[], removed: readonly ExpiredBinding[]): void;
  /** Registrations known to this node. */
  registrations(): readonly Binding[];
}

export interface RedisBindingsNeeds {
  readonly redis: Pick<RedisLink, 'send' | 'onConnected' | 'onSubscribed'>;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class RedisBindings implements BindingStore {
  readonly #needs: RedisBindingsNeeds;
  readonly #redis: RedisBindingsNeeds['redis'];
  readonly #bus: Bus;
  #rounds: RepeatedTask | undefined;
  /** True until the registrations of this node and of Redis were compared since the last connection. */
  #isDue = true;

  constructor(needs: RedisBindingsNeeds) {
    this.#needs = needs;
    this.#redis = needs.redis;
    this.#bus = needs.bus;
  }

  async save(binding: Binding): Promise<void> {
    await this.#redis.send('HSET', KEY, fieldOf(binding), JSON.stringify(binding));
    this.#bus.notify('binding.saved', binding);
  }

  async remove(username: string, contactUri: string): Promise<void> {
    const gone = { username, contactUri };
    const nowMs = this.#needs.clock.wallMs();
    // The removal is recorded first: a node that no longer finds the registration then finds the removal.
    await this.#redis.send('ZADD', REMOVED_KEY, String(nowMs), fieldOf(gone));
    await this.#redis.send('HDEL', KEY, fieldOf(gone));
    await this.#redis.send('ZREMRANGEBYSCORE', REMOVED_KEY, '-inf', String(nowMs - REMOVED_MS));
    this.#bus.notify('binding.removed', gone);
  }

  async listAll(): Promise<readonly Binding[]> {
    const all: Binding[] = [];
    let cursor = '0';
    do {
      const [next, fields] = (await this.#redis.send(
        ...['HSCAN', KEY, cursor, 'COUNT', String(MOST_AT_ONCE)],
      )) as readonly [string, readonly string[]];
      for (let at = 1; at < fields.length; at += 2)
        all.push(JSON.parse(fields[at] ?? 'null') as Binding);
      cursor = String(next);
    } while (cursor !== '0');
    return all;
  }

  /** Forwards changes of other nodes to `listener`. After each reconnect, restores registrations that Redis has lost. */
  listen(listener: BindingListener): void {
    this.#bus.hear('binding.saved', (given) => listener.bindingsElsewhere([given as Binding], []));
    this.#bus.hear('binding.removed', (given) =>
      listener.bindingsElsewhere([], [given as ExpiredBinding]),
    );
    const { clock, logger } = this.#needs;
    const failed = (error: unknown): void =>
      logger.error({ error }, 'could not read registrations of other nodes');
    const round = () => this.#round(listener);
    const compare = (): void => {
      this.#isDue = true;
      round().catch(failed);
    };
    this.#redis.onConnected(compare);
    this.#redis.onSubscribed(compare);
    // A request can fail although the connection stays, for example if Redis answers late.
    this.#rounds = new RepeatedTask({ clock, everyMs: SECOND_MS, round, failed });
    this.#rounds.start();
  }

  stop(): void {
    void this.#rounds?.stop();
  }

  async #round(listener: BindingListener): Promise<void> {
    if (!this.#isDue) return;
    this.#isDue = false;
    try {
      await this.#agree(listener);
    } catch (error) {
      this.#isDue = true;
      throw error;
    }
  }

  /**
   * Loads changes missed while disconnected, and restores registrations missing in Redis, except those that another node
   * removed.
   */
  async #agree(listener: BindingListener): Promise<void> {
    const stored = await this.listAll();
    const known = new Set(stored.map(fieldOf));
    const missing = listener.registrations().filter((binding) => !known.has(fieldOf(binding)));
    const removed: Binding[] = [];
    for (let at = 0; at < missing.length; at += MOST_AT_ONCE) {
      const some = missing.slice(at, at + MOST_AT_ONCE);
      const removedMs = (await this.#redis.send(
        ...['ZMSCORE', REMOVED_KEY, ...some.map(fieldOf)],
      )) as readonly (string | number | null)[];
      for (const [index, binding] of some.entries()) {
        const isRemoved = Number(removedMs[index] ?? 0) * US_PER_MS >= binding.updatedUs;
        if (isRemoved) removed.push(binding);
        else await this.#redis.send('HSETNX', KEY, fieldOf(binding), JSON.stringify(binding));
      }
    }
    listener.bindingsElsewhere(stored, removed);
  }
}

const fieldOf = ({ username, contactUri }: ExpiredBinding): string => `${username} ${contactUri}`;
