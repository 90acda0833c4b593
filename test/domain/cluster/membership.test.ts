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
  /** What it was asked to do. */
  readonly done: string[];
  /** Who is heard of beside the store. */
  readonly heard: Set<string>;
}

/** Nodes whose next answer to a declaration is lost on its way. */
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
  const heard = new Set<string>();
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
    isHeard: async (node) => (deaf.has(id) ? undefined : heard.has(node)),
    takeUp: async () => {
      done.push('took up');
    },
    fenced: async () => {
      done.push('fenced');
    },
  });
  return { id, membership, self, done, heard };
}

it('a node that stands still is declared dead by one of the others, within ten seconds', async () => {
  const [a, b, c] = [await member('a'), await member('b'), await member('c')];
  for (const { membership } of [a, b, c]) membership.start();
  await opened.clock.advance(3000);
  expect(a.membership.living).toEqual(['a', 'b', 'c']);
  // As `kill -9`: no goodbye.
  const dead = await member('d');
  await opened.clock.advance(9000);
  expect([...a.done, ...b.done, ...c.done]).toEqual(['took up']);
  expect(dead.done).toEqual([]);
  expect((await opened.store.nodes.list()).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  for (const { membership } of [a, b, c]) await membership.stop();
});

it('what a dead node wrote late is found by looking again, for a while', async () => {
  const [a, b] = [await member('a'), await member('b')];
  for (const { membership } of [a, b]) membership.start();
  await opened.clock.advance(2000);
  await member('c');
  await opened.clock.advance(9000);
  expect([...a.done, ...b.done]).toEqual(['took up']);
  await opened.clock.advance(20_000);
  const looks = [...a.done, ...b.done].length;
  expect(looks).toBeGreaterThanOrEqual(6);
  await opened.clock.advance(30_000);
  expect([...a.done, ...b.done]).toHaveLength(looks);
  for (const { membership } of [a, b]) await membership.stop();
});

it('what its earlier life wrote late is found by a node that begins again, with nobody who saw that life end', async () => {
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

it('who was cut off is told, ends its calls and begins a new life', async () => {
  const cutOff = new Set<string>();
  const [a, b] = [await member('a'), await member('b', cutOff)];
  for (const { membership } of [a, b]) membership.start();
  await opened.clock.advance(2000);
  cutOff.add('b');
  await opened.clock.advance(9000);
  expect(a.done).toEqual(['took up']);
  expect(b.done).toEqual([]);
  cutOff.clear();
  await opened.clock.advance(2000);
  expect(b.done).toEqual(['fenced', 'took up']);
  expect(b.self.epoch).toBe(3);
  await opened.clock.advance(9000);
  expect(a.membership.living).toEqual(['a', 'b']);
  for (const { membership } of [a, b]) await membership.stop();
});

it('nobody is declared dead because the store was away for all', async () => {
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

it('who is heard of in another way lives', async () => {
  const a = await member('a');
  await member('b');
  a.heard.add('b');
  a.membership.start();
  await opened.clock.advance(20_000);
  expect(a.done).toEqual([]);
  a.heard.clear();
  await opened.clock.advance(2000);
  expect(a.done).toEqual(['took up']);
  await a.membership.stop();
});

it('what a node left that went of its own will is taken up at once, by one', async () => {
  const [a, b, c] = [await member('a'), await member('b'), await member('c')];
  for (const { membership } of [a, b, c]) membership.start();
  await opened.clock.advance(2000);
  await c.membership.stop();
  await opened.clock.advance(2000);
  expect([a.done, b.done, c.done]).toEqual([['took up'], [], []]);
  for (const { membership } of [a, b]) await membership.stop();
});

it('who cannot hear of others leaves the judgement to one that can, and judges where none can', async () => {
  const [cutOff, deaf] = [new Set<string>(), new Set(['a'])];
  const [a, b, c] = [
    await member('a', cutOff, deaf),
    await member('b', cutOff, deaf),
    await member('c', cutOff, deaf),
  ];
  for (const { heard } of [a, b, c]) for (const id of ['a', 'b', 'c']) heard.add(id);
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
  expect(new Set([...a.done, ...b.done])).toEqual(new Set(['took up']));
  for (const { membership } of [a, b, c]) await membership.stop();
});

it('who cannot look at the store soon knows no longer who lives', async () => {
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

it('what a dead node left is taken up also when the answer to its declaration was lost', async () => {
  const [a, b] = [await member('a'), await member('b')];
  for (const { membership } of [a, b]) membership.start();
  await opened.clock.advance(2000);
  for (const id of ['a', 'b']) losesAnswers.add(id);
  await member('d');
  await opened.clock.advance(9000);
  expect([...a.done, ...b.done]).toEqual(['took up']);
  losesAnswers.clear();
  for (const { membership } of [a, b]) await membership.stop();
});
