/** Makes a backup while the service runs, restores it into an empty folder, and verifies all data. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Customer } from './customer.ts';
import { Handset } from './handset.ts';
import { makeUser, type RunningCall, type SipUser, startCall } from './phone.ts';
import {
  type AccountKey,
  eventually,
  type Json,
  newPlace,
  ROOT,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

let places: ServicePlace[];
let service: Service;
let customer: Customer;

beforeAll(async () => {
  places = [await newPlace(), await newPlace()];
  customer = await Customer.listen();
  service = await Service.start(places[0] as ServicePlace);
});
afterAll(async () => {
  await service.kill();
  await customer.close();
  for (const place of places) removePlace(place);
});

const carillon = ({ dataDir }: ServicePlace, ...args: readonly string[]) => {
  const program = [join(ROOT, 'bin/carillon.mjs'), '--data-dir', dataDir, ...args];
  const { PATH = '' } = process.env;
  return spawnSync(process.execPath, program, { encoding: 'utf8', env: { PATH } });
};

async function aRunningCall(at: Service, caller: SipUser): Promise<RunningCall> {
  const call = await startCall(at, caller, { seconds: 60 });
  await call.answered;
  return call;
}

it('backup, restore, verify: preserves accounts, money, tokens and phones', async () => {
  const [from, to] = places as [ServicePlace, ServicePlace];
  const made = await service.admin('POST', '/accounts', { name: 'Kept', currency: 'USD' });
  const retained: AccountKey = {
    authId: String(made.body['auth_id']),
    authToken: String(made.body['auth_token']),
  };
  const credit = { amount: 7.5, currency: 'USD', description: 'before the backup' };
  await service.admin('POST', `/accounts/${retained.authId}/credit`, credit);
  const user: SipUser = await makeUser(
    service,
    'kept',
    { answer_url: 'http://127.0.0.1:9/x' },
    retained,
  );
  // The backup holds running calls as open records; the restore closes them.
  const room = '<Response><Conference>kept</Conference></Response>';
  const caller = await makeUser(
    service,
    'caller',
    { answer_url: customer.xml('/room', room) },
    retained,
  );
  const running = [await aRunningCall(service, caller), await aRunningCall(service, caller)];
  const copied = carillon(from, 'backup', '--name', 'kept.db');
  expect(copied).toMatchObject({ status: 0 });
  const live = (await service.admin('GET', '/calls')).body['calls'] as readonly Json[];
  expect(live).toHaveLength(2);
  await service.admin('POST', `/accounts/${retained.authId}/credit`, credit);
  await service.kill();
  for (const call of running) call.hangUp();
  await Promise.allSettled(running.map(({ report }) => report));

  const backup = join(from.dataDir, 'backups', 'kept.db');
  expect(carillon(from, 'verify', backup)).toMatchObject({ status: 0 });
  const keys = join(from.dataDir, 'keys');
  expect(carillon(to, 'restore', backup, '--keys', keys)).toMatchObject({ status: 0 });
  service = await Service.start(to);

  expect((await service.admin('POST', '/verify')).body).toEqual({ ok: true, faults: [] });
  let charged = 0;
  for (const { call_uuid: uuid } of live) {
    const cdr = await eventually('the record of the interrupted call', async () => {
      const { status, body } = await service.api('GET', `cdr/${String(uuid)}`, undefined, retained);
      return status === 200 ? ((body['data'] ?? body) as Json) : undefined;
    });
    expect(Number(cdr['total_cost'])).toBeGreaterThan(0);
    charged += Number(cdr['total_cost']);
  }
  // The balance excludes the credit added after the backup, and includes one charge per interrupted call.
  const balance = await service.balance(retained);
  expect(balance).toMatchObject({ reserved_funds: 0 });
  expect(balance['balance']).toBeCloseTo(7.5 - charged, 6);
  expect((await service.admin('POST', '/verify')).body).toEqual({ ok: true, faults: [] });
  const phone = await Handset.waiting(service, user);
  await phone.close();
});
