/** First starts of nodes that share a store, each with a separate data folder and without listening sockets. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { asAccountId } from '../src/base/ids.ts';
import { silentLogger } from '../src/base/logger.ts';
import { systemRandom } from '../src/base/system-random.ts';
import { SelfNode } from '../src/domain/cluster/cluster.ts';
import { systemClock } from '../src/edge/clock/system-clock.ts';
import type { Store } from '../src/edge/store/store.ts';
import type { DemoFile } from '../src/phone/options.ts';
import { firstStart } from '../src/service/first-start.ts';
import { testFoundation, testSettings } from './foundation.ts';

const NAMES = ['one', 'two'] as const;

/** Verifies that two nodes that start simultaneously create one account, application and endpoint, and both load them. */
export async function expectOneFirstStart(storeOf: (node: number) => Store): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'carillon-first-'));
  try {
    const nodes = await Promise.all(NAMES.map((name, index) => joined(name, storeOf(index), root)));
    const starts = await Promise.all(nodes.map((node) => node.start()));
    expect(starts.map((start) => start?.isFirst).sort()).toEqual([false, true]);
    const files = nodes.map((node) => node.file());
    for (const [index, file] of files.entries()) {
      expect(file).toEqual(starts[index]?.things);
      expect(file).toEqual({ ...files[0], baseUrl: `http://${NAMES[index]}` });
      await expectUsable(nodes[index] as Node, file);
    }
    for (const node of nodes) {
      node.requested.length = 0;
      expect((await node.start())?.isFirst).toBe(false);
      expect(new Set(node.requested)).toEqual(new Set(['settings.secret', 'applications.get']));
    }
    expect(nodes.map((node) => node.file())).toEqual(files);
    await expectOneOfEach(nodes[0] as Node, files[0] as DemoFile);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Verifies that a data folder whose file is from another store gets usable data of the new store, and of the old one again. */
export async function expectFirstStartPerStore(one: Store, other: Store): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'carillon-first-'));
  try {
    for (const [store, isFirst] of [
      [one, true],
      [other, true],
      [one, false],
    ] as const) {
      const node = await joined('same', store, root);
      expect((await node.start())?.isFirst).toBe(isFirst);
      await expectUsable(node, node.file());
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Kills consecutive first starts, each one step later. Verifies that the first complete start has created each item once. */
export async function expectResumedFirstStart(store: Store): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'carillon-first-'));
  try {
    const deaths: (string | undefined)[] = [];
    for (;;) {
      const node = await joined('one', store, root, deaths.length);
      const start = await node.start().catch((error: Error) => error);
      if (!(start instanceof Error)) {
        expect(start?.isFirst).toBe(true);
        await expectUsable(node, node.file());
        await expectOneOfEach(node, node.file());
        break;
      }
      expect(start.message).toBe('killed');
      deaths.push(node.requested.at(-1));
    }
    // The store calls at which the starts were killed, in order. The last write marks the first start as complete.
    expect(deaths).toEqual([
      ...['nodes.claim', 'settings.secret', 'settings.keepSecret', 'accounts.createDrawn'],
      ...['ledger.adjust', 'applications.list', 'applications.create', 'endpoints.list'],
      'settings.keepSecret',
    ]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Verifies that the next start writes a damaged file of the first account again. */
export async function expectRepairedFile(store: Store): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'carillon-first-'));
  try {
    const node = await joined('one', store, root);
    await node.start();
    const file = node.file();
    for (const damaged of ['', '{"authId": "MA', 'null', '{}', '[]']) {
      writeFileSync(join(root, 'one', 'demo.json'), damaged);
      await node.start();
      expect(node.file()).toEqual(file);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

type Node = Awaited<ReturnType<typeof joined>>;

/** Creates a node. `diesAt` is the index of the store call at which its first start is killed. */
async function joined(name: string, over: Store, root: string, diesAt?: number) {
  const self = new SelfNode(name);
  await self.begin(over.nodes, false);
  const basics = {
    settings: testSettings({}),
    lists: { rates: [], carriers: [] },
    logger: silentLogger,
    clock: systemClock,
    random: systemRandom,
    dataDir: join(root, name),
  };
  const foundation = testFoundation(basics, over.as(self), {
    prices: {},
    recordingFiles: { remove: async () => undefined } as never,
  });
  const place = { sip: { host: '127.0.0.1', port: 5060 }, baseUrl: `http://${name}` };
  const requested: string[] = [];
  const received = <T extends object>(part: T, called: string): T =>
    new Proxy(part, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => {
          requested.push(`${called}.${String(key)}`);
          if (requested.length - 1 === diesAt) throw new Error('killed');
          return value.apply(target, given);
        };
      },
    });
  const { accounts, ledger, provisioning, store } = foundation;
  const needs = {
    ...basics,
    ...place,
    accounts: received(accounts, 'accounts'),
    ledger: received(ledger, 'ledger'),
    store: {
      settings: received(store.settings, 'settings'),
      nodes: received(store.nodes, 'nodes'),
    },
    provisioning: {
      ...provisioning,
      applications: received(provisioning.applications, 'applications'),
      endpoints: received(provisioning.endpoints, 'endpoints'),
    },
  };
  return {
    ...foundation,
    requested,
    start: () => firstStart(needs, true),
    file: (): DemoFile => JSON.parse(readFileSync(join(root, name, 'demo.json'), 'utf8')),
  };
}

async function expectUsable(node: Node, file: DemoFile): Promise<void> {
  const entered = await node.accounts.authenticate(asAccountId(file.authId), file.authToken);
  expect(entered).toMatchObject({ ok: true });
  expect(await node.provisioning.endpoints.byUsername(file.username)).toMatchObject({
    accountId: file.authId,
  });
}

async function expectOneOfEach({ accounts, provisioning, ledger }: Node, { authId }: DemoFile) {
  const slice = { limit: 10, offset: 0 };
  const all = await accounts.list({ parentAuthId: undefined }, slice);
  const made = all.items.filter(({ name }) => name === 'First account');
  expect(made.map((account) => account.authId)).toEqual([authId]);
  const accountId = asAccountId(authId);
  expect((await provisioning.applications.list({ accountId }, slice)).items).toHaveLength(1);
  expect((await provisioning.endpoints.list({ accountId }, slice)).items).toHaveLength(1);
  expect(await ledger.balance(accountId, 'USD')).toMatchObject({
    value: { balance: 10_000_000 },
  });
}
