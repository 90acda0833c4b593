/**
 * Plivo's client for Python. `plivo-python.jsonl` contains every request that plivo_python.py triggers in the library
 * (4.59.6). The test sends them again, so that Python is not required. If the library can be imported (PYTHONPATH), it runs
 * too, and its requests must equal the file.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { asAccountId } from '../../../src/base/ids.ts';
import { micros } from '../../../src/base/money.ts';
import { Program } from '../../e2e/service.ts';
import { aLiveCall, REQUEST_UUID } from '../../spec/fake-control.ts';
import { type Method, type Service, startService } from '../../spec/service.ts';
import { aCdr } from '../store/records.ts';

interface Sent {
  readonly method: Method;
  /** Path below the account. `{name}` is a member of an earlier reply. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly status: number;
}

const FILE = join(import.meta.dirname, 'plivo-python.jsonl');
const PYTHON = process.env['PLIVO_PYTHON'] ?? 'python3';
const hasLibrary = spawnSync(PYTHON, ['-c', 'import plivo']).status === 0;
const ROOM = 'case';
const LIVE = aLiveCall().callUuid;

let service: Service;
let finished: string;

beforeEach(async () => {
  service = await startService();
  const accountId = asAccountId(service.account.authId);
  const cdr = aCdr({ accountId });
  finished = cdr.callUuid;
  await service.store.calls.settle({ cdr, entries: [], notification: undefined });
  await service.book({ amount: 20, type: 'credit', referenceType: 'payment' });
  const number = { country: 'US', currency: 'USD', setup_fee: 0.5, monthly_fee: 1 };
  await service.admin('POST', '/numbers', { ...number, e164: '14155550190' });
  for (const [direction, prefix] of [
    ['inbound', ''],
    ['outbound', '44'],
  ] as const) {
    const price = { perMinute: micros(5500), pulseMs: 60_000, currency: 'USD' };
    await service.ledger.putRate({ direction, prefix, ...price, accountId: undefined });
  }
  const member = {
    memberId: '1',
    callUuid: LIVE,
    from: '1',
    to: '2',
    callerName: '',
    inRoomMs: 2000,
    ...({ direction: 'inbound', muted: false, deaf: false } as const),
  };
  const room = { uuid: REQUEST_UUID, name: ROOM, runningMs: 3000, members: [member] };
  service.control.calls = [aLiveCall({ accountId })];
  service.control.rooms = [room];
  service.control.parties = [{ ...room, hasBegun: true }];
});
afterEach(() => service.stop());

const recorded = (): readonly Sent[] =>
  readFileSync(FILE, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Sent);

it('serves every request of the library', async () => {
  const known: Record<string, string> = {};
  const filled = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? '');
  const stands = { live: LIVE, done: finished, auth_id: service.account.authId };
  Object.assign(known, stands);
  for (const { method, path, query, body, status } of recorded()) {
    const search = new URLSearchParams(JSON.parse(filled(JSON.stringify(query))));
    const url = `/v1/Account/${service.account.authId}${filled(path)}${search.size > 0 ? `?${search}` : ''}`;
    const sent = body === null ? {} : { body: JSON.parse(filled(JSON.stringify(body))) as unknown };
    const reply = await service.send(method, url, sent);
    expect([method, path, reply.status, reply.status < 300 || reply.text]).toEqual([
      ...[method, path, status],
      true,
    ]);
    for (const name of ['app_id', 'endpoint_id', 'sub_auth_id']) {
      const value = reply.body?.[name === 'sub_auth_id' ? 'auth_id' : name];
      if (method === 'POST' && reply.status === 201 && value !== undefined)
        known[name] = String(value);
    }
  }
});

it.skipIf(!hasLibrary)('serves the library itself, which sends the recorded requests', async () => {
  const { url } = await service.server.start();
  const { authId, authToken } = service.account;
  const script = join(import.meta.dirname, 'plivo_python.py');
  const args = [url, authId, authToken, LIVE, finished, ROOM];
  const python = { node: PYTHON };
  const environment = { PYTHONPATH: process.env['PYTHONPATH'] ?? '' };
  const program = new Program(script, args, environment, python);
  expect([await program.exited, program.stderr]).toEqual([0, '']);
  const ids: Record<string, string> = {
    [LIVE]: '{live}',
    [finished]: '{done}',
    [authId]: '{auth_id}',
  };
  const lines = program.stdout.trim().split('\n');
  const named = lines.map((line) => {
    const { path } = JSON.parse(line) as Sent;
    const [, kind, id = ''] = /^\/(Application|Endpoint|Subaccount)\/([^/]+)\/$/.exec(path) ?? [];
    if (id !== '')
      ids[id] ??=
        { Application: '{app_id}', Endpoint: '{endpoint_id}', Subaccount: '{sub_auth_id}' }[
          kind ?? ''
        ] ?? '';
    return line;
  });
  const text = Object.entries(ids).reduce(
    (all, [id, name]) => all.replaceAll(id, name),
    named.join('\n'),
  );
  if (process.env['RECORD'] === 'yes') writeFileSync(FILE, `${text}\n`);
  expect(text.split('\n')).toEqual(readFileSync(FILE, 'utf8').trim().split('\n'));
});
