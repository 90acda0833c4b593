/** Units of work on PostgreSQL, if its programs are installed: a separate database cluster, with every commit synced. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccountId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { openStore } from '../../src/edge/store/store.ts';
import { Cluster, postgresMissing } from '../../test/postgres.ts';
import { isQuick, least, type Row } from '../row.ts';
import { CALLS_AT_ONCE, clock, createAccount, rate, reserveAndPost } from './work.ts';

/** Calls of a round. The first round is a warm-up for the JIT compiler and is not counted. */
const CALLS = isQuick ? 2000 : 8000;
const ROUNDS = isQuick ? 3 : 6;
const WRITERS = 2;
const BARE = isQuick ? 500 : 2000;

export async function onPostgres(): Promise<Row[]> {
  if (postgresMissing !== undefined) {
    process.stderr.write(`${postgresMissing}\n`);
    return [];
  }
  const folder = mkdtempSync(join(tmpdir(), 'carillon-bench-pg-'));
  const cluster = new Cluster(folder, { fsync: 'on', full_page_writes: 'on' });
  cluster.create();
  try {
    const floor = bareUpdates(cluster);
    return [await measure(cluster, 1, 2000, floor), await measure(cluster, 100, 8000, floor)];
  } finally {
    cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(
  cluster: Cluster,
  accounts: number,
  goal: number,
  floor: number,
): Promise<Row> {
  const dataDir = mkdtempSync(join(tmpdir(), 'carillon-bench-'));
  const url = cluster.database(`accounts_${accounts}`);
  const store = await openStore({
    dataDir,
    synchronous: 'normal',
    postgres: { url, writers: WRITERS, spoolBytes: 1_000_000 },
    logger: silentLogger,
    clock,
    random: systemRandom,
  });
  try {
    const ids: AccountId[] = [];
    for (let index = 0; index < accounts; index += 1) ids.push(await createAccount(store));
    const rounds: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const calls = await rate(CALLS, (at) => {
        const index = round * CALLS + at;
        const accountId = ids[index % ids.length];
        return accountId === undefined
          ? Promise.resolve()
          : reserveAndPost(store, accountId, index);
      });
      if (round > 0) rounds.push(calls * 2);
    }
    rounds.sort((a, b) => a - b);
    const faults = await store.verify();
    if (faults.length > 0) throw new Error('balances do not add up');
    const value = rounds[Math.floor(rounds.length / 2)] ?? 0;
    return {
      name: `PostgreSQL: units of work, ${accounts} account${accounts === 1 ? '' : 's'}`,
      value,
      unit: 'units/s',
      floor,
      ratio: Math.round((value / floor) * 100) / 100,
      goal: least(goal),
      note: `median of ${rounds.length} rounds (${rounds.at(0)} to ${rounds.at(-1)}), ${CALLS_AT_ONCE} concurrent calls, each reserves and posts; floor: one updated row per transaction, sequentially`,
    };
  } finally {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function bareUpdates(cluster: Cluster): number {
  const db = cluster.connect('postgres');
  db.run('CREATE TABLE bare (id BIGINT PRIMARY KEY, n BIGINT)');
  db.run('INSERT INTO bare VALUES (1, 0)');
  const started = performance.now();
  for (let index = 0; index < BARE; index += 1) db.run('UPDATE bare SET n = n + 1 WHERE id = 1');
  const seconds = (performance.now() - started) / 1000;
  db.close();
  return Math.round(BARE / seconds);
}
