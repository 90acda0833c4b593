import { describe, expect, it } from 'vitest';
import { wallUs } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Bus } from '../../../src/domain/cluster/needs.ts';
import type { Binding } from '../../../src/domain/registration/types.ts';
import { RedisBindings } from '../../../src/edge/cluster/redis-bindings.ts';
import { SimClock } from '../../sim/clock.ts';

it('restores registrations although Redis does not answer the first request after the reconnect', async () => {
  const clock = new SimClock();
  const connected: (() => void)[] = [];
  const sent: string[] = [];
  let isSilent = false;
  const bindings = new RedisBindings({
    redis: {
      onConnected: (act) => void connected.push(act),
      onSubscribed: () => undefined,
      send: async (command = '') => {
        if (isSilent) throw new Error('no answer in time');
        sent.push(command);
        if (command === 'ZMSCORE') return [null];
        return command === 'HSCAN' ? ['0', []] : 1;
      },
    },
    bus: { hear: () => undefined } as unknown as Bus,
    clock,
    logger: silentLogger,
  });
  const bob = { username: 'bob', contactUri: 'sip:bob@192.0.2.1' } as Binding;
  bindings.listen({ registrations: () => [bob], bindingsElsewhere: () => undefined });
  await clock.advance(5000);
  expect(sent).toEqual(['HSCAN', 'ZMSCORE', 'HSETNX']);
  isSilent = true;
  for (const act of connected) act();
  await clock.advance(100);
  isSilent = false;
  await clock.advance(5000);
  expect(sent).toEqual(['HSCAN', 'ZMSCORE', 'HSETNX', 'HSCAN', 'ZMSCORE', 'HSETNX']);
  bindings.stop();
});

/** A node with its registrations in memory. The nodes share Redis; `connect` compares the registrations. */
class Node {
  readonly memory = new Map<string, Binding>();
  readonly bindings: RedisBindings;
  readonly #connected: (() => void)[] = [];

  constructor(redis: FakeRedis, clock: SimClock) {
    this.bindings = new RedisBindings({
      redis: {
        onConnected: (act) => void this.#connected.push(act),
        onSubscribed: () => undefined,
        send: async (...words) => redis.handle(words),
      },
      bus: { hear: () => undefined, notify: () => undefined } as unknown as Bus,
      clock,
      logger: silentLogger,
    });
    this.bindings.listen({
      registrations: () => [...this.memory.values()],
      bindingsElsewhere: (saved, removed) => {
        for (const binding of saved) this.memory.set(binding.contactUri, binding);
        for (const { contactUri } of removed) this.memory.delete(contactUri);
      },
    });
  }

  connect(): void {
    for (const act of this.#connected) act();
  }
}

/** The commands that registrations use. */
class FakeRedis {
  readonly hash = new Map<string, string>();
  readonly set = new Map<string, number>();

  handle([command, , ...words]: readonly string[]): unknown {
    const [first = '', second = ''] = words;
    switch (command) {
      case 'HSCAN':
        return ['0', [...this.hash].flat()];
      case 'HSET':
        return this.hash.set(first, second);
      case 'HSETNX':
        return this.hash.has(first) || this.hash.set(first, second);
      case 'HDEL':
        return this.hash.delete(first);
      case 'ZADD':
        return this.set.set(second, Number(first));
      case 'ZREM':
        return this.set.delete(first);
      case 'ZMSCORE':
        return words.map((field) => this.set.get(field)?.toString() ?? null);
      case 'ZREMRANGEBYSCORE':
        for (const [field, score] of this.set) if (score <= Number(second)) this.set.delete(field);
        return 0;
      default:
        throw new Error(command);
    }
  }
}

describe('a registration that another node removed while the bus was disconnected', () => {
  const at = (clock: SimClock): Binding =>
    ({
      username: 'bob',
      contactUri: 'sip:bob@192.0.2.1',
      updatedUs: wallUs(clock),
    }) as Binding;

  async function twoNodes() {
    const clock = new SimClock();
    const redis = new FakeRedis();
    const [one, other] = [new Node(redis, clock), new Node(redis, clock)];
    const bob = at(clock);
    await one.bindings.save(bob);
    for (const node of [one, other]) node.connect();
    await clock.advance(1000);
    expect(other.memory.size).toBe(1);
    const stop = (): void => {
      for (const node of [one, other]) node.bindings.stop();
    };
    return { clock, redis, one, other, bob, stop };
  }

  it('is removed from memory and not written back to Redis', async () => {
    const { clock, redis, one, other, bob, stop } = await twoNodes();
    await one.bindings.remove(bob.username, bob.contactUri);
    other.connect();
    await clock.advance(1000);
    expect(redis.hash.size).toBe(0);
    expect(other.memory.size).toBe(0);
    stop();
  });

  it('is kept if the phone has registered again since', async () => {
    const { clock, redis, one, other, bob, stop } = await twoNodes();
    await one.bindings.remove(bob.username, bob.contactUri);
    await clock.advance(1000);
    const again = at(clock);
    other.memory.set(again.contactUri, again);
    other.connect();
    await clock.advance(1000);
    expect([...redis.hash.values()]).toEqual([JSON.stringify(again)]);
    stop();
  });

  it('is restored if Redis has lost its data', async () => {
    const { clock, redis, other, stop } = await twoNodes();
    redis.hash.clear();
    other.connect();
    await clock.advance(1000);
    expect(redis.hash.size).toBe(1);
    stop();
  });

  it('is no longer remembered when every such registration has expired', async () => {
    const { clock, redis, one, bob, stop } = await twoNodes();
    await one.bindings.remove(bob.username, bob.contactUri);
    expect(redis.set.size).toBe(1);
    await clock.advance(25 * 3_600_000);
    await one.bindings.remove('carol', 'sip:carol@192.0.2.2');
    expect([...redis.set.keys()]).toEqual(['carol sip:carol@192.0.2.2']);
    stop();
  });
});
