/** A backup that is not restored is none: made while the service runs, restored into an empty folder, and everything is there. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Handset } from './handset.ts';
import { makeUser, type SipUser } from './phone.ts';
import {
  type AccountKey,
  newPlace,
  ROOT,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

let places: ServicePlace[];
let service: Service;

beforeAll(async () => {
  places = [await newPlace(), await newPlace()];
  service = await Service.start(places[0] as ServicePlace);
});
afterAll(async () => {
  await service.kill();
  for (const place of places) removePlace(place);
});

const carillon = ({ dataDir }: ServicePlace, ...args: readonly string[]) => {
  const program = [join(ROOT, 'bin/carillon.mjs'), '--data-dir', dataDir, ...args];
  const { PATH = '' } = process.env;
  return spawnSync(process.execPath, program, { encoding: 'utf8', env: { PATH } });
};

it('backup, restore, verify: accounts, money, tokens and phones are as they were', async () => {
  const [from, to] = places as [ServicePlace, ServicePlace];
  const made = await service.admin('POST', '/accounts', { name: 'Kept', currency: 'USD' });
  const kept: AccountKey = {
    authId: String(made.body['auth_id']),
    authToken: String(made.body['auth_token']),
  };
  const credit = { amount: 7.5, currency: 'USD', description: 'before the backup' };
  await service.admin('POST', `/accounts/${kept.authId}/credit`, credit);
  const user: SipUser = await makeUser(
    service,
    'kept',
    { answer_url: 'http://127.0.0.1:9/x' },
    kept,
  );
  const copied = carillon(from, 'backup', '--name', 'kept.db');
  expect(copied).toMatchObject({ status: 0 });
  await service.admin('POST', `/accounts/${kept.authId}/credit`, credit);
  await service.kill();

  const backup = join(from.dataDir, 'backups', 'kept.db');
  expect(carillon(from, 'verify', backup)).toMatchObject({ status: 0 });
  const keys = join(from.dataDir, 'keys');
  expect(carillon(to, 'restore', backup, '--keys', keys)).toMatchObject({ status: 0 });
  service = await Service.start(to);

  expect((await service.admin('POST', '/verify')).body).toEqual({ ok: true, faults: [] });
  const balance = await service.api('GET', 'balance/USD', undefined, kept);
  expect([balance.status, balance.body['balance']]).toEqual([200, 7.5]);
  const phone = await Handset.waiting(service, user);
  await phone.close();
});
