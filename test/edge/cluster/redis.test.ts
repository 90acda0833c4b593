/** State that nodes share over a real Redis. Skipped if redis-server is not installed. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { systemRandom } from '../../../src/base/system-random.ts';
import { OwnSlots } from '../../../src/domain/capacity/capacity.ts';
import type { Binding } from '../../../src/domain/registration/types.ts';
import { systemClock } from '../../../src/edge/clock/system-clock.ts';
import { type Cluster, openCluster } from '../../../src/edge/cluster/cluster.ts';
import { openRedis } from '../../../src/edge/cluster/redis-link.ts';
import { RedisScript } from '../../../src/edge/cluster/redis-script.ts';
import { RedisSlots } from '../../../src/edge/cluster/redis-slots.ts';
import { eventually } from '../../eventually.ts';
import { HAS_REDIS, type PrivateRedis, startRedis } from './redis.ts';

const NODES = ['a', 'b', 'c', 'd'];
const LEASE_MS = 300;

/** Polls until the assertions in `check` pass. */
const soon = (check: () => unknown): Promise<true> =>
  eventually('the shared state', async () => {
    try {
      await check();
      return true;
    } catch {
      return undefined;
    }
  });

describe.skipIf(!HAS_REDIS)('over Redis (needs redis-server)', () => {
  let redis: PrivateRedis;
  const open: Cluster[] = [];
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(() => {
    for (const cluster of open.splice(0)) cluster.stop();
  });
  afterAll(() => redis.kill());

  async function join(nodeId: string, over: { shareAlone?: number } = {}): Promise<Cluster> {
    const cluster = await openCluster({
      url: redis.url,
      nodeId,
      answerMs: 300,
      shareAlone: 0,
      listNodes: async () => [nodeId],
      ...over,
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
    });
    open.push(cluster);
    await cluster.slots.ready();
    return cluster;
  }

  it('grants a claim to one of several nodes, until all its holders release it or its heartbeats stop', async () => {
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((node) => join(node)));
    if (a === undefined || b === undefined || c === undefined) throw new Error('no nodes');
    const key = 'room:MA_A:weekly';
    const nodes = [a, b, c];
    const named = await Promise.all(nodes.map(({ claims }) => claims.claim(key)));
    const [owner] = named;
    expect(named).toEqual([owner, owner, owner]);
    const has = nodes['abc'.indexOf(String(owner))] as Cluster;
    const others = nodes.filter((one) => one !== has);
    await has.claims.claim(key);
    has.claims.release(key);
    expect(await others[0]?.claims.claim(key)).toBe(owner);
    expect(await others[1]?.directory.find(key)).toBe(owner);
    has.claims.release(key);
    await soon(async () => expect(await has.directory.find(key)).toBeUndefined());
    await others[0]?.claims.claim(key);
    // The node leaves, and its claim ends.
    others[0]?.stop();
    await soon(async () => expect(await has.claims.claim(key)).toBe(owner));
  });

  it('lets one of several nodes use a nonce count, and only once', async () => {
    const nodes = await Promise.all(NODES.map((node) => join(node)));
    const taken = (count: number) =>
      Promise.all(nodes.map(({ nonceCounts }) => nonceCounts.use('nonce', count)));
    expect((await taken(1)).filter((isFirst) => isFirst)).toHaveLength(1);
    expect((await taken(1)).filter((isFirst) => isFirst)).toHaveLength(0);
    expect((await taken(2)).filter((isFirst) => isFirst)).toHaveLength(1);
    const lifetimeMs = Number(await nodes[0]?.redis.send('PTTL', 'carillon:nc:nonce:2'));
    expect(lifetimeMs).toBeGreaterThan(300_000);
  });

  it('revokes one of two claims made after Redis lost its data', async () => {
    const [a, b] = await Promise.all(['a', 'b'].map((node) => join(node)));
    const key = 'room:MA_A:split';
    const lost: string[] = [];
    a?.claims.onLost((one) => lost.push(one));
    expect(await a?.claims.claim(key)).toBe('a');
    await a?.redis.send('DEL', `carillon:${key}`);
    expect(await b?.claims.claim(key)).toBe('b');
    // A new claim detects the loss; otherwise a renewal does.
    expect(await a?.claims.claim(key)).toBe('b');
    expect(lost).toEqual([key]);
  });

  const slotsOf = async (
    { redis: link }: Cluster,
    nodeId = 'alone',
    listNodes = async (): Promise<readonly string[]> => [nodeId],
  ): Promise<RedisSlots> => {
    const slots = new RedisSlots({
      redis: link,
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      own: new OwnSlots(systemClock),
      alone: undefined,
      leaseMs: LEASE_MS,
      missingWaitMs: 0,
      nodeId,
      listNodes,
    });
    await slots.ready();
    return slots;
  };

  it('grants 30 of 400 simultaneous requests from four nodes for 30 slots, and releases them all', async () => {
    const nodes = await Promise.all(NODES.map((node) => join(node)));
    const limits = { concurrentCalls: 30, cps: 1000 };
    const racers = Array.from({ length: 400 }, (_, at) =>
      (nodes[at % 4] as Cluster).slots.take('race', limits),
    );
    const taken = await Promise.all(racers);
    const won = taken.flatMap((one) => (one.ok ? [one.value] : []));
    expect(won).toHaveLength(30);
    expect(await nodes[0]?.slots.running('race')).toBe(30);
    for (const slot of won) slot.release();
    await soon(async () => expect(await nodes[1]?.slots.running('race')).toBe(0));
  });

  it('grants 20 of many simultaneous starts for 20 calls per second; an undone start does not count', async () => {
    const nodes = await Promise.all(NODES.map((node) => join(node)));
    const limits = { concurrentCalls: 1000, cps: 20 };
    const race = (): Promise<readonly { readonly ok: boolean }[]> =>
      Promise.all(
        Array.from({ length: 100 }, (_, at) =>
          (nodes[at % 4] as Cluster).slots.take('cps', limits),
        ),
      );
    const first = await race();
    expect(first.filter(({ ok }) => ok)).toHaveLength(20);
    const refused = await nodes[0]?.slots.take('cps', limits);
    expect(refused).toMatchObject({ ok: false, error: { kind: 'cps' } });
    const one = await nodes[0]?.slots.take('undone', { concurrentCalls: 1, cps: 1 });
    if (one?.ok !== true) throw new Error('refused');
    one.value.undo();
    await soon(async () => {
      const again = await nodes[1]?.slots.take('undone', { concurrentCalls: 1, cps: 1 });
      expect(again?.ok).toBe(true);
    });
  });

  it('expires slots of a dead node but not of a live one', async () => {
    const [a, b] = [await join('a'), await join('b')];
    const [living, dying] = [await slotsOf(a), await slotsOf(b)];
    const limits = { concurrentCalls: 2, cps: 10 };
    expect((await living.take('lapse', limits)).ok).toBe(true);
    expect((await dying.take('lapse', limits)).ok).toBe(true);
    expect((await living.take('lapse', limits)).ok).toBe(false);
    dying.stop();
    b.stop();
    await soon(async () => expect(await living.running('lapse')).toBe(1));
    living.stop();
  });

  it("without Redis refuses calls or grants each node's share, and restores held slots after a reconnect", async () => {
    const own = await startRedis();
    const listNodes = async (): Promise<readonly string[]> => ['a', 'b'];
    const options = { url: own.url, answerMs: 300, listNodes };
    const parts = { clock: systemClock, random: systemRandom, logger: silentLogger };
    const strict = await openCluster({ ...options, ...parts, nodeId: 'a', shareAlone: 0 });
    const lenient = await openCluster({ ...options, ...parts, nodeId: 'b', shareAlone: 0.5 });
    open.push(strict, lenient);
    await Promise.all([strict, lenient].map(({ slots }) => slots.ready()));
    const limits = { concurrentCalls: 4, cps: 100 };
    const held = await strict.slots.take('k', limits);
    expect(held.ok).toBe(true);
    await own.kill();
    expect(await strict.slots.take('k', limits)).toMatchObject({ error: { kind: 'away' } });
    await expect(strict.slots.running('k')).rejects.toMatchObject({ code: 'CLUSTER_UNAVAILABLE' });
    const alone = [];
    for (let call = 0; call < 3; call += 1) alone.push((await lenient.slots.take('k', limits)).ok);
    expect(alone).toEqual([true, true, false]);
    await own.start();
    await soon(async () => expect(await strict.slots.running('k')).toBe(3));
    await own.kill();
  });

  it('grants no slot in an empty Redis until each live node has registered its slots or is declared dead', async () => {
    const own = await startRedis();
    let living = ['a', 'b'];
    const join = async (nodeId: string): Promise<Cluster> => {
      const joined = await openCluster({
        url: own.url,
        answerMs: 300,
        nodeId,
        shareAlone: 0,
        listNodes: async () => living,
        clock: systemClock,
        random: systemRandom,
        logger: silentLogger,
      });
      open.push(joined);
      return joined;
    };
    const [a, b] = [await join('a'), await join('b')];
    await Promise.all([a, b].map(({ slots }) => slots.ready()));
    const limits = { concurrentCalls: 1, cps: 100 };
    expect((await b.slots.take('k', limits)).ok).toBe(true);
    // The node has a slot and does not run when Redis loses its data.
    b.stop();
    await own.kill();
    await own.start();
    await soon(async () =>
      expect(await a.redis.send('KEYS', 'carillon:slots:registered:*')).toHaveLength(1),
    );
    expect(await a.slots.take('k', limits)).toMatchObject({ error: { kind: 'away' } });
    living = ['a'];
    await a.slots.ready();
    expect((await a.slots.take('k', limits)).ok).toBe(true);
    a.stop();
    await own.kill();
  });

  it('calls wait for an empty Redis until all nodes have registered their slots', async () => {
    const own = await startRedis();
    const options = {
      url: own.url,
      answerMs: 300,
      shareAlone: 0,
      listNodes: async (): Promise<readonly string[]> => ['a', 'b'],
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
    };
    const nodes = await Promise.all(
      ['a', 'b'].map((nodeId) => openCluster({ ...options, nodeId })),
    );
    open.push(...nodes);
    await Promise.all(nodes.map(({ slots }) => slots.ready()));
    await nodes[0]?.redis.send('FLUSHALL');
    const limits = { concurrentCalls: 2, cps: 100 };
    const takeOnBoth = () => Promise.all(nodes.map(({ slots }) => slots.take('k', limits)));
    expect((await takeOnBoth()).map(({ ok }) => ok)).toEqual([true, true]);
    expect((await takeOnBoth()).map(({ ok }) => ok)).toEqual([false, false]);
    await own.kill();
  });

  it('grants no slot after Redis refused writes until leases expired, until each live node has registered again', async () => {
    const own = await startRedis();
    const link = await openRedis(own.url, { clock: systemClock, logger: silentLogger });
    const cluster = { redis: link } as Cluster;
    let living = ['a'];
    const listNodes = async (): Promise<readonly string[]> => living;
    const a = await slotsOf(cluster, 'a', listNodes);
    living = ['a', 'b'];
    const b = await slotsOf(cluster, 'b', listNodes);
    const limits = { concurrentCalls: 1, cps: 100 };
    expect((await b.take('refused', limits)).ok).toBe(true);
    await own.refuseWrites(true);
    await soon(async () => expect(await a.running('refused')).toBe(0));
    expect(await a.take('refused', limits)).toMatchObject({ error: { kind: 'away' } });
    b.stop();
    await own.refuseWrites(false);
    for (let call = 0; call < 20; call += 1)
      expect(await a.take('refused', limits)).toMatchObject({ error: { kind: 'away' } });
    living = ['a'];
    await a.ready();
    expect((await a.take('refused', limits)).ok).toBe(true);
    a.stop();
    link.close();
    await own.kill();
  });

  it('rejects a first connection that Redis refuses, or that reaches no server', async () => {
    const own = await startRedis();
    const { port } = new URL(own.url);
    const open = (url: string) => openRedis(url, { clock: systemClock, logger: silentLogger });
    const code = { code: 'CLUSTER_UNAVAILABLE' };
    await expect(open(`redis://user:wrong@127.0.0.1:${port}`)).rejects.toMatchObject({
      ...code,
      message: expect.stringContaining('WRONGPASS'),
    });
    await own.kill();
    await expect(open(own.url)).rejects.toMatchObject({
      ...code,
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('sends a script once, and again after Redis has lost it', async () => {
    const own = await startRedis();
    const link = await openRedis(own.url, { clock: systemClock, logger: silentLogger });
    const script = new RedisScript("return redis.call('INCRBY', KEYS[1], ARGV[1])");
    const add = () => script.run(link, ['n'], ['2']);
    const whole = async () => {
      const info = String(await link.send('INFO', 'commandstats'));
      return Number(/cmdstat_eval:calls=(\d+)/.exec(info)?.[1] ?? 0);
    };
    expect([await add(), await add(), await add()]).toEqual([2, 4, 6]);
    expect(await whole()).toBe(1);
    await link.send('SCRIPT', 'FLUSH');
    expect(await add()).toBe(8);
    expect(await whole()).toBe(2);
    await expect(new RedisScript('this is not Lua').run(link, [], [])).rejects.toMatchObject({
      code: 'CLUSTER_UNAVAILABLE',
    });
    link.close();
    await own.kill();
  });

  it('returns responses of another node, including bytes and errors', async () => {
    const [a, b] = [await join('a'), await join('b')];
    b.bus.answer('double', async (n: number) => 2 * n);
    b.bus.answer('bytes', async () => Buffer.from([0, 255]));
    b.bus.answer('fail', async () => {
      throw new Error('broken');
    });
    expect(await a.bus.ask('b', 'double', [21])).toBe(42);
    expect(await a.bus.ask('b', 'bytes', [])).toEqual(Buffer.from([0, 255]));
    await expect(a.bus.ask('b', 'fail', [])).rejects.toThrow('broken');
    await expect(a.bus.ask('b', 'unknown', [])).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  });

  it('fails within the time limit if a node is missing or does not respond', async () => {
    const [a, b] = [await join('a'), await join('b')];
    b.bus.answer('silence', () => new Promise(() => undefined));
    const code = { code: 'NODE_UNREACHABLE' };
    await expect(a.bus.ask('nobody', 'double', [1])).rejects.toMatchObject(code);
    await expect(a.bus.ask('b', 'silence', [])).rejects.toMatchObject(code);
  });

  it('delivers a notification to all other nodes', async () => {
    const [a, b, c] = [await join('a'), await join('b'), await join('c')];
    const received: string[] = [];
    for (const [name, node] of Object.entries({ a, b, c }))
      node.bus.hear('news', (given, from) => received.push(`${name} ${String(given)} ${from}`));
    a.bus.notify('news', 'x');
    await soon(() => expect(received.sort()).toEqual(['b x a', 'c x a']));
  });

  it('shares registrations with other nodes, and restores them after Redis lost its data', async () => {
    const own = await startRedis();
    const parts = { clock: systemClock, random: systemRandom, logger: silentLogger };
    const listNodes = async (): Promise<readonly string[]> => ['a', 'b'];
    const options = { url: own.url, answerMs: 300, shareAlone: 0, listNodes, ...parts };
    const nodes = await Promise.all(
      ['a', 'b'].map((nodeId) => openCluster({ ...options, nodeId })),
    );
    open.push(...nodes);
    const known = nodes.map(({ bindings }) => {
      const here = new Map<string, Binding>();
      bindings.listen({
        registrations: () => [...here.values()],
        bindingsElsewhere(saved, removed) {
          for (const one of saved) here.set(one.contactUri, one);
          for (const one of removed) here.delete(one.contactUri);
        },
      });
      return here;
    });
    const bob = {
      username: 'bob',
      contactUri: 'sip:bob@192.0.2.1',
      path: ['<sip:e;lr>'],
    } as unknown as Binding;
    known[0]?.set(bob.contactUri, bob);
    await nodes[0]?.bindings.save(bob);
    await soon(() => expect(known[1]?.get(bob.contactUri)).toEqual(bob));
    await own.kill();
    await own.start();
    await soon(async () => expect(await nodes[1]?.bindings.listAll()).toEqual([bob]));
    await nodes[1]?.bindings.remove(bob.username, bob.contactUri);
    await soon(() => expect(known[0]?.size).toBe(0));
    await own.kill();
  });

  it('reads registrations whose messages were lost because the subscriber connection ended', async () => {
    const [a, b] = [await join('a'), await join('b')];
    let reads = 0;
    const known = new Set<string>();
    b.bindings.listen({
      registrations: () => [],
      bindingsElsewhere: (saved) => {
        reads += 1;
        for (const { contactUri } of saved) known.add(contactUri);
      },
    });
    await soon(() => expect(reads).toBe(1));
    const eve = { username: 'eve', contactUri: 'sip:eve@192.0.2.2' } as unknown as Binding;
    const field = `${eve.username} ${eve.contactUri}`;
    // Stored by another node whose message was lost.
    await a.redis.send('HSET', 'carillon:bindings', field, JSON.stringify(eve));
    await redis.endSubscribers();
    await soon(() => expect([...known]).toEqual([eve.contactUri]));
    await a.bindings.remove(eve.username, eve.contactUri);
  });

  it('finds the node of a call until the call ends', async () => {
    const [a, b] = [await join('a'), await join('b')];
    a.directory.put('call:1');
    await soon(async () => expect(await b.directory.find('call:1')).toBe('a'));
    expect(await b.directory.find('call:2')).toBeUndefined();
    await soon(async () => expect(await b.isHeard('a')).toBe(true));
    a.directory.drop('call:1');
    await soon(async () => expect(await b.directory.find('call:1')).toBeUndefined());
    a.stop();
    await soon(async () => expect(await b.isHeard('a')).toBe(false));
  });
});
