/**
 * Registrations of all nodes: one hash, which a node reads when it begins, and word of each change meanwhile. Every node has all of
 * them in memory, so that a call asks nobody where a phone is.
 */
import type { Logger } from '../../base/logger.ts';
import type { Bus } from '../../domain/cluster/needs.ts';
import type { BindingStore } from '../../domain/registration/needs.ts';
import type { Binding } from '../../domain/registration/types.ts';
import type { RedisLink } from './redis-link.ts';

const KEY = 'carillon:bindings';
const READ_AT_ONCE = '1000';

export type GoneBinding = Pick<Binding, 'username' | 'contactUri'>;

/** Who is told what other nodes have registered. */
export interface BindingEar {
  bindingsElsewhere(saved: readonly Binding[], removed: readonly GoneBinding[]): void;
  /** What this node knows. */
  registrations(): readonly Binding[];
}

export class RedisBindings implements BindingStore {
  readonly #redis: Pick<RedisLink, 'send' | 'onConnected'>;
  readonly #bus: Bus;
  readonly #logger: Logger;

  constructor(redis: Pick<RedisLink, 'send' | 'onConnected'>, bus: Bus, logger: Logger) {
    this.#redis = redis;
    this.#bus = bus;
    this.#logger = logger;
  }

  async save(binding: Binding): Promise<void> {
    await this.#redis.send('HSET', KEY, fieldOf(binding), JSON.stringify(binding));
    this.#bus.tell('binding.saved', binding);
  }

  async remove(username: string, contactUri: string): Promise<void> {
    const gone = { username, contactUri };
    await this.#redis.send('HDEL', KEY, fieldOf(gone));
    this.#bus.tell('binding.removed', gone);
  }

  async listAll(): Promise<readonly Binding[]> {
    const all: Binding[] = [];
    let cursor = '0';
    do {
      const [next, fields] = (await this.#redis.send(
        ...['HSCAN', KEY, cursor, 'COUNT', READ_AT_ONCE],
      )) as readonly [string, readonly string[]];
      for (let at = 1; at < fields.length; at += 2)
        all.push(JSON.parse(fields[at] ?? 'null') as Binding);
      cursor = String(next);
    } while (cursor !== '0');
    return all;
  }

  /** From now on `ear` is told of the others, and a Redis that came back is told what this node knows. */
  listen(ear: BindingEar): void {
    this.#bus.hear('binding.saved', (given) => ear.bindingsElsewhere([given as Binding], []));
    this.#bus.hear('binding.removed', (given) => ear.bindingsElsewhere([], [given as GoneBinding]));
    const agree = (): void => {
      this.#agree(ear).catch((error: unknown) => {
        this.#logger.error({ error }, 'registrations of other nodes not read');
      });
    };
    this.#redis.onConnected(agree);
    agree();
  }

  /** What was missed meanwhile, and what a Redis that lost everything has lost. */
  async #agree(ear: BindingEar): Promise<void> {
    const stored = await this.listAll();
    const known = new Set(stored.map(fieldOf));
    for (const binding of ear.registrations())
      if (!known.has(fieldOf(binding)))
        await this.#redis.send('HSETNX', KEY, fieldOf(binding), JSON.stringify(binding));
    ear.bindingsElsewhere(stored, []);
  }
}

const fieldOf = ({ username, contactUri }: GoneBinding): string => `${username} ${contactUri}`;
