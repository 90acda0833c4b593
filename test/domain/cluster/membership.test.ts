import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { Membership, SelfNode } from '../../../src/domain/cluster/cluster.ts';
import { type OpenedStore, openInMemory } from '../../edge/store/open.ts';

let opened: OpenedStore;
beforeEach(async () => {
  opened = await openInMemory();
});
afterEach(() => opened.store.close());

interface Member {
  readonly id: string;
  readonly membership: Membership;
  readonly self: SelfNode;
  /** Actions that it performed. */
  readonly done: string[];
  /** Nodes that are reachable through another channel than the store. */
  readonly received: Set<string>;
}

/** Nodes whose next answer to a declaration is lost. */
const losesAnswers = new Set<string>();
const LOST = new Error('connection lost');

async function member(
  id: string,
  cutOff: Set<string> = new Set(),
  deaf: Set<string> = new Set(),
): Promise<Member> {
  const { clock, store } = opened;
  const self = new SelfNode(id);
  await self.begin(store.nodes, false);
  const done: string[] = [];
  const received = new Set<string>();
  const { nodes } = store;
  const membership = new Membership({
    self,
    clock,
    logger: silentLogger,
    lease: { confirmedByStore: () => undefined },
    nodes: {
      ...nodes,
      beat: (node, hears) => (cutOff.has(id) ? Promise.reject(LOST) : nodes.beat(node, hears)),
      fence: async (seen) => {
        const isDead = await nodes.fence(seen);
        if (losesAnswers.delete(id)) throw LOST;
        return isDead;
      },
      list: () => (cutOff.has(id) ? Promise.reject(LOST) : nodes.list()),
    },
    isHeard: async (node) => (deaf.has(id) ? undefined : received.has(node)),
    adopt: async () => {
      done.push('adopted');
    },
    fenced: async () => {
      done.push('fenced');
    },
  });
  return { id, membership, self, done, received };
}

it('declares a silent node dead by one of the others, within 10 s', async () => {
  const [a, b, c] = [await member('a'), await member('b'), await member('c')];
  for (const { membership } of [a, b, c]) membership.start();
  await opened.clock.advance(3000);
  expect(a.membership.living).toEqual(['a', 'b', 'c']);
  // Killed without leaving.
  const dead = await member('d');
  await opened.clock.advance(9000);
  expect([...a.done, ...b.done, ...c.done]).toEqual(['adopted']);
  expect(dead.done).toEqual([]);
  expect((await opened.store.nodes.list()).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  for (const { membership } of [a, b, c]) await membership.stop();
});

it('finds late writes of a dead node by repeated checks', async () => {
  const [a, b] = [await member('a'), await member('b')];
  for (const { membership } of [a, b]) membership.start();
  await opened.clock.advance(2000);
  await member('c');
  await opened.clock.advance(9000);
  expect([...a.done, ...b.done]).toEqual(['adopted']);
  await opened.clock.advance(20_000);
  const looks = [...a.done, ...b.done].length;
  expect(looks).toBeGreaterThanOrEqual(6);
  await opened.clock.advance(30_000);
  expect([...a.done, ...b.done]).toHaveLength(looks);
  for (const { membership } of [a, b]) await membership.stop();
});

it('finds late writes of an earlier epoch of the same node even if no node saw that epoch end', async () => {
  await member('a');
  const again = await member('a');
  again.membership.start();
  await opened.clock.advance(20_000);
  expect(again.done.length).toBeGreaterThanOrEqual(5);
  const looks = again.done.length;
  await opened.clock.advance(30_000);
  expect(again.done).toHaveLength(looks);
  await again.membership.stop();
});

it('ends the calls of a node that was cut off, and begins a new epoch', async () => {
  const cutOff = new Set<string>();
  const [a, b] = [await member('a'), await member('b', cutOff)];
  for (const { membership } of [a, b]) membership.start();
  await opened.clock.advance(2000);
  cutOff.add('b');
  await opened.clock.advance(9000);
  expect(a.done).toEqual(['adopted']);
  expect(b.done).toEqual([]);
  cutOff.clear();
  await opened.clock.advance(2000);
  expect(b.done).toEqual(['fenced', 'adopted']);
  expect(b.self.epoch).toBe(3);
  await opened.clock.advance(9000);
  expect(a.membership.living).toEqual(['a', 'b']);
  for (const { membership } of [a, b]) await membership.stop();
});

it('declares no node dead after an outage of the store', async () => {
  const cutOff = new Set<string>();
  const [a, b] = [await member('a', cutOff), await member('b', cutOff)];
  for (const { membership } of [a, b]) membership.start();
  await opened.clock.advance(2000);
  for (const id of ['a', 'b']) cutOff.add(id);
  await opened.clock.advance(30_000);
  cutOff.delete('a');
  await opened.clock.advance(4000);
  cutOff.clear();
  await opened.clock.advance(9000);
  expect([a.done, b.done]).toEqual([[], []]);
  for (const { membership } of [a, b]) await membership.stop();
});

it('does not declare a node dead that another channel reaches', async () => {
  const a = await member('a');
  await member('b');
  a.received.add('b');
  a.membership.start();
  await opened.clock.advance(20_000);
  expect(a.done).toEqual([]);
  a.received.clear();
  await opened.clock.advance(2000);
  expect(a.done).toEqual(['adopted']);
  await a.membership.stop();
});

it('adopts the work of a node that left immediately, by one node', async () => {
  const [a, b, c] = [await member('a'), await member('b'), await member('c')];
  for (const { membership } of [a, b, c]) membership.start();
  await opened.clock.advance(2000);
  await c.membership.stop();
  await opened.clock.advance(2000);
  expect([a.done, b.done, c.done]).toEqual([['adopted'], [], []]);
  for (const { membership } of [a, b]) await membership.stop();
});

it('leaves the decision to a node that can check reachability, unless none can', async () => {
  const [cutOff, deaf] = [new Set<string>(), new Set(['a'])];
  const [a, b, c] = [
    await member('a', cutOff, deaf),
    await member('b', cutOff, deaf),
    await member('c', cutOff, deaf),
  ];
  for (const { received } of [a, b, c]) for (const id of ['a', 'b', 'c']) received.add(id);
  for (const { membership } of [a, b, c]) membership.start();
  await opened.clock.advance(2000);
  cutOff.add('c');
  await opened.clock.advance(20_000);
  expect(c.done).toEqual([]);
  cutOff.clear();
  await opened.clock.advance(2000);
  expect([a.done, b.done, c.done]).toEqual([[], [], []]);
  cutOff.add('c');
  deaf.add('b');
  await opened.clock.advance(10_000);
  expect(new Set([...a.done, ...b.done])).toEqual(new Set(['adopted']));
  for (const { membership } of [a, b, c]) await membership.stop();
});

it('reports the live nodes as unknown soon after the store becomes unreadable', async () => {
  const cutOff = new Set<string>();
  const [a, b] = [await member('a', cutOff), await member('b')];
  for (const { membership } of [a, b]) membership.start();
  await opened.clock.advance(2000);
  cutOff.add('a');
  await opened.clock.advance(1500);
  expect(a.membership.living).toEqual(['a', 'b']);
  await opened.clock.advance(5000);
  expect(a.membership.living).toBeUndefined();
  cutOff.clear();
  await opened.clock.advance(2000);
  expect(a.membership.living).toEqual(['a', 'b']);
  for (const { membership } of [a, b]) await membership.stop();
});

it('adopts the work of a dead node even if the answer to the declaration was lost', async () => {
  const [a, b] = [await member('a'), await member('b')];
  for (const { membership } of [a, b]) membership.start();
  await opened.clock.advance(2000);
  for (const id of ['a', 'b']) losesAnswers.add(id);
  await member('d');
  await opened.clock.advance(9000);
  expect([...a.done, ...b.done]).toEqual(['adopted']);
  losesAnswers.clear();
  for (const { membership } of [a, b]) await membership.stop();
});

it('does not count a round that lasted through an outage as silence of other nodes', async () => {
  const [a, b] = [await member('a'), await member('b')];
  await a.membership.round();
  await b.membership.round();
  // Node a was paused, as was the database: neither node could beat, and no round of a failed.
  await opened.clock.advance(8000);
  await a.membership.round();
  await opened.clock.advance(1000);
  await a.membership.round();
  expect(a.done).toEqual([]);
  expect((await opened.store.nodes.list()).map(({ id }) => id)).toEqual(['a', 'b']);
});

it('remains a judge of others after one late response of the other channel', async () => {
  const deaf = new Set<string>();
  const a = await member('a', new Set(), deaf);
  await a.membership.round();
  deaf.add('a');
  await opened.clock.advance(1000);
  await a.membership.round();
  const hears = async (): Promise<boolean | undefined> =>
    (await opened.store.nodes.list()).find(({ id }) => id === 'a')?.hears;
  expect(await hears()).toBe(true);
  await opened.clock.advance(2500);
  await a.membership.round();
  expect(await hears()).toBe(false);
});

it('a second process with the same node ID is noticed before it starts', async () => {
  const running = await member('a');
  running.membership.start();
  await opened.clock.advance(2000);
  const second = new SelfNode('a');
  const found = second.isRunElsewhere(opened.store.nodes, opened.clock);
  await opened.clock.advance(3000);
  expect(await found).toBe(true);
  await running.membership.stop();
  expect(await second.isRunElsewhere(opened.store.nodes, opened.clock)).toBe(false);
});

it('a process with the node ID of one that crashed starts', async () => {
  await member('a');
  const found = new SelfNode('a').isRunElsewhere(opened.store.nodes, opened.clock);
  await opened.clock.advance(3000);
  expect(await found).toBe(false);
});

it('of two processes with the same node ID that start together, only one serves', async () => {
  const [first, second] = [await member('a'), await member('a')];
  for (const { membership } of [first, second]) membership.start();
  await opened.clock.advance(20_000);
  // The first stays fenced. Its lease has ended, and the second keeps its epoch.
  expect([first.done.includes('adopted'), second.done.includes('fenced')]).toEqual([false, false]);
  expect(first.done).toContain('fenced');
  const { epoch } = second.self;
  await second.membership.stop();
  await opened.clock.advance(5000);
  expect(first.self.epoch).toBeGreaterThan(epoch);
  await first.membership.stop();
});
