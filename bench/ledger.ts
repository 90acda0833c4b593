/** The ledger on disk: units of work, and lists over a million entries of one account. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import Database from 'better-sqlite3';
import type { AccountId } from '../src/base/ids.ts';
import { silentLogger } from '../src/base/logger.ts';
import { systemRandom } from '../src/base/system-random.ts';
import { Ledger } from '../src/domain/ledger/ledger.ts';
import type { EntryFilter } from '../src/domain/ledger/types.ts';
import { createProvisioning } from '../src/domain/provisioning/provisioning.ts';
import { openStore, type Store } from '../src/edge/store/store.ts';
import { onPostgres } from './ledger/postgres.ts';
import {
  CALLS_AT_ONCE,
  clock,
  createAccount,
  entry,
  rate,
  reserveAndPost,
  START_MS,
  wall,
} from './ledger/work.ts';
import { isQuick, type Row } from './row.ts';

/** `BENCH_LEDGER_ENTRIES` makes a quick run; the goals are for a million. */
const ENTRIES = Number(process.env['BENCH_LEDGER_ENTRIES'] ?? (isQuick ? 50_000 : 1_000_000));
const UNITS = 20_000;
const PER_PAGE = 50;
const YEAR_MS = 365 * 86_400_000;
export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-bench-'));
  const store = await openStore({
    dataDir: folder,
    synchronous: 'normal',
    logger: silentLogger,
    clock,
    random: systemRandom,
  });
  try {
    const accountId = await createAccount(store);
    const rows = [
      ...(await unitsOfWork(store, accountId, folder)),
      ...(await creation(store, accountId)),
    ];
    const large = await createAccount(store);
    await fill(store, large);
    return [...rows, ...(await lists(store, large)), ...(await onPostgres())];
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function unitsOfWork(store: Store, accountId: AccountId, folder: string): Promise<Row[]> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const perSecond = await rate(UNITS, (index) => reserveAndPost(store, accountId, index));
  delay.disable();
  const floor = bareInserts(join(folder, 'floor.db'));
  const reads = await rate(UNITS * 5, () => store.ledger.balance(accountId, 'USD'));
  return [
    {
      name: 'ledger: reserve and post',
      value: perSecond,
      unit: 'calls/s',
      floor,
      ratio: round(perSecond / floor),
      note: `goal ≥ 5000; ${CALLS_AT_ONCE} concurrent calls; floor: one bare row per transaction, same file settings`,
    },
    {
      name: 'ledger: delay of the main loop under load, p99',
      // The monitor counts its own 1 ms timer.
      value: round(Math.max(0, delay.percentile(99) / 1e6 - 1)),
      unit: 'ms',
      note: 'goal < 10',
    },
    { name: 'ledger: balance read through the store', value: reads, unit: '1/s' },
  ];
}

/** Rate of SQLite alone with one insert per transaction. */
function bareInserts(file: string): number {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = normal');
  db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)');
  const insert = db.prepare('INSERT INTO t (text) VALUES (?)');
  const started = performance.now();
  for (let index = 0; index < UNITS; index += 1) insert.run(`Call ${index}`);
  const seconds = (performance.now() - started) / 1000;
  db.close();
  return Math.round(UNITS / seconds);
}

async function creation(store: Store, accountId: AccountId): Promise<Row[]> {
  const provisioning = createProvisioning(
    store,
    { clock, random: systemRandom },
    { realm: 'bench', usernameSuffix: 'always' },
  );
  const applications = await rate(2000, () =>
    provisioning.applications.create({ accountId, name: 'a', answerUrl: 'http://127.0.0.1/' }),
  );
  const endpoints = await rate(2000, (index) =>
    provisioning.endpoints.create({
      accountId,
      username: `user${index}`,
      password: 'long enough',
      alias: 'a',
    }),
  );
  return [
    { name: 'create application, domain and store', value: applications, unit: '1/s' },
    { name: 'create endpoint, domain and store', value: endpoints, unit: '1/s' },
  ];
}

async function fill(store: Store, accountId: AccountId): Promise<void> {
  const batch = 1000;
  for (let done = 0; done < ENTRIES; done += batch) {
    wall.ms = START_MS + Math.floor((done / ENTRIES) * YEAR_MS);
    const entries = Array.from({ length: batch }, (_, index) =>
      entry(accountId, done + index, index % 100 === 0 ? 'credit' : 'debit', 6500),
    );
    await store.ledger.post(entries, { checked: false });
  }
}

async function lists(store: Store, accountId: AccountId): Promise<Row[]> {
  const ledger = new Ledger({ store: store.ledger, rates: store.rates, log: silentLogger });
  const list = (filter: Omit<EntryFilter, 'accountId'>, page: number): Promise<number> =>
    milliseconds(() => ledger.list({ accountId, ...filter }, page, PER_PAGE));
  const all = await ledger.list({ accountId }, 1, PER_PAGE);
  const day = (START_MS + 200 * 86_400_000) * 1000;
  const first = await list({}, 1);
  const last = await list({}, all.totalPages);
  const debits = { type: 'debit' };
  const debitPages = (await ledger.list({ accountId, ...debits }, 1, PER_PAGE)).totalPages;
  const firstDebits = await list(debits, 1);
  const lastDebits = await list(debits, debitPages);
  const of = `of ${all.total.toLocaleString('en')} entries`;
  return [
    { name: `first page and summary ${of}`, value: first, unit: 'ms', note: 'goal ≤ 150' },
    {
      name: `one day and its summary ${of}`,
      value: await list({ fromUs: day, toUs: day + 86_400_000_000 - 1 }, 1),
      unit: 'ms',
      note: 'goal ≤ 15',
    },
    {
      name: `last page, against the first ${of}`,
      value: last,
      unit: 'ms',
      floor: first,
      ratio: round(last / first),
      note: 'goal: ratio ≤ 3',
    },
    {
      name: `last page of all debits, against the first ${of}`,
      value: lastDebits,
      unit: 'ms',
      floor: firstDebits,
      ratio: round(lastDebits / firstDebits),
      note: 'goal: ratio ≤ 3',
    },
    {
      name: `text search ${of}`,
      value: await milliseconds(() => ledger.list({ accountId, description: 'Call 77' }, 1, 50), 3),
      unit: 'ms',
      note: 'reads every entry, on the thread for reports',
    },
  ];
}

/** Median. */
async function milliseconds(work: () => Promise<unknown>, rounds = 21): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < rounds; index += 1) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  return round(times[Math.floor(rounds / 2)] ?? 0);
}

const round = (value: number): number => Math.round(value * 100) / 100;
