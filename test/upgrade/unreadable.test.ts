/** An unreadable row stops no start and no list. The service skips it, records it with its original content, and logs it. */
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { asAccountId, asCallUuid } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { micros } from '../../src/base/money.ts';
import { recoverOpenCalls } from '../../src/domain/cdr/recovery.ts';
import { speechHold } from '../../src/domain/ledger/ledger.ts';
import { UnreadableLog } from '../../src/edge/store/unreadable-log.ts';
import { openAt } from '../edge/store/open.ts';
import { eventually } from '../eventually.ts';
import { SimClock } from '../sim/clock.ts';
import { RecordedFolder } from './recorded.ts';

const SLICE = { limit: 100, offset: 0 };
let folder: RecordedFolder;
beforeEach(() => {
  folder = new RecordedFolder('0.1.0-killed');
});
afterEach(() => folder.remove());

/** Corrupts rows with `sql` and returns their keys. */
function damage(sql: string): readonly string[] {
  const db = new Database(folder.file);
  const keys = db.prepare(sql).pluck().all().map(String);
  db.close();
  expect(keys.length).toBeGreaterThan(0);
  return keys;
}

const recorded = async (store: Awaited<ReturnType<typeof openAt>>['store'], table: string) => {
  await eventually('the record', async () => {
    const { total } = await store.unreadableRows.page(SLICE);
    return total > 0 || undefined;
  });
  const { items } = await store.unreadableRows.page(SLICE);
  return items.filter((row) => row.table === table);
};

it('an open call: the others are recovered, and its reservations are released when an operator removes it', async () => {
  const open = folder.facts().open.length;
  const [key = ''] = damage(
    'UPDATE open_call SET record = \'{"cdr":\' WHERE call_uuid = (SELECT max(call_uuid) FROM open_call) RETURNING call_uuid',
  );
  const { store } = await openAt(folder.dataDir);
  expect(await recoverOpenCalls(store.calls, silentLogger)).toHaveLength(open - 1);
  const [row] = await recorded(store, 'open_call');
  expect(row).toMatchObject({ key, reason: 'open call is not JSON' });
  expect(JSON.parse(row?.original ?? '')).toMatchObject({ record: '{"cdr":' });
  const held = async () =>
    (await store.ledger.balances(asAccountId(folder.account.authId)))[0]?.reservedFunds;
  const speech = { reservationId: speechHold(key, 'utterance'), amount: micros(3) };
  const ofAccount = { accountId: asAccountId(folder.account.authId), currency: 'USD' };
  const dailySpendLimit = undefined;
  const reserved = await store.ledger.reserve({ ...speech, ...ofAccount, dailySpendLimit });
  expect(reserved.ok).toBe(true);
  expect(await held()).toBeGreaterThan(3);
  expect(await store.unreadableRows.remove('open_call', key)).toBe(true);
  expect(await held()).toBe(0);
  expect(await store.calls.listOpen()).toEqual([]);
  expect(await store.verify()).toEqual([]);
  await store.close();
});

it('a call record: lists and scans continue, and a request for the record is refused', async () => {
  const { cdrs } = folder.facts();
  const [key = ''] = damage(
    "UPDATE cdr SET streams = '[{\"streamId\":1}]' WHERE streams <> '[]' RETURNING call_uuid",
  );
  const accountId = asAccountId(folder.account.authId);
  const { store } = await openAt(folder.dataDir);
  expect((await store.cdrs.page({ accountId }, SLICE)).items).toHaveLength(cdrs - 1);
  // Reads page by page: an unreadable row does not end the scan.
  let before: number | undefined;
  let walked = 0;
  for (;;) {
    const [record] = await store.cdrs.walk({ accountId }, before, 1);
    if (record === undefined) break;
    before = record.number;
    walked += 1;
  }
  expect(walked).toBe(cdrs - 1);
  await expect(store.cdrs.get(asCallUuid(key))).rejects.toMatchObject({ code: 'STORE_UNREADABLE' });
  const [row] = await recorded(store, 'cdr');
  expect(row?.key).toBe(key);
  expect(row?.reason).toContain('streamId is not text');
  expect(JSON.parse(row?.original ?? '').streams).toBe('[{"streamId":1}]');
  await store.close();
});

it.each([
  ['recording', 'recording_id', "dues = '[]' WHERE dues IS NOT NULL"],
  ['carrier', 'name', "prefixes = 'x'"],
  ['account', 'auth_id', "barred_prefixes = '{}' WHERE parent_auth_id IS NULL"],
])('a row of %s', async (table, keyColumn, change) => {
  const keys = damage(`UPDATE ${table} SET ${change} RETURNING ${keyColumn}`);
  const accountId = asAccountId(folder.account.authId);
  const { store } = await openAt(folder.dataDir);
  await store.recordings.unfinished();
  await store.recordings.walk({ accountId }, undefined, 100);
  expect(await store.carriers.listAll()).toHaveLength(table === 'carrier' ? 0 : 1);
  await store.accounts.list({ parentAuthId: undefined }, SLICE);
  expect((await store.endpoints.list({ accountId }, SLICE)).items.length).toBeGreaterThan(0);
  expect((await recorded(store, table)).map(({ key }) => key).sort()).toEqual([...keys].sort());
  await store.close();
});

it('is logged once in ten minutes', () => {
  const logged: object[] = [];
  const clock = new SimClock();
  const logger = { ...silentLogger, error: (fields: object) => void logged.push(fields) };
  const log = new UnreadableLog({ clock, logger });
  const row = { table: 'cdr', key: 'a', reason: 'because', original: '{}' };
  log.note([row]);
  log.note([row]);
  expect(logged).toEqual([{ table: 'cdr', key: 'a', reason: 'because' }]);
});
