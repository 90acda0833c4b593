/** A backup that is not restored is none: copied while the service runs, put into an empty folder, and everything is there. */
import { copyFileSync, cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Handset } from './handset.ts';
import { makeUser, type SipUser } from './phone.ts';
import { type AccountKey, newPlace, removePlace, Service, type ServicePlace } from './service.ts';

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
  const backup = await service.admin('POST', '/backup', { name: 'kept.db' });
  expect(backup.status, backup.text).toBe(201);
  await service.admin('POST', `/accounts/${kept.authId}/credit`, credit);
  await service.kill();

  mkdirSync(to.dataDir, { recursive: true });
  copyFileSync(join(from.dataDir, 'backups', 'kept.db'), join(to.dataDir, 'carillon.db'));
  cpSync(join(from.dataDir, 'keys'), join(to.dataDir, 'keys'), { recursive: true });
  service = await Service.start(to);

  expect((await service.admin('POST', '/verify')).body).toEqual({ ok: true, faults: [] });
  const balance = await service.api('GET', 'balance/USD', undefined, kept);
  expect([balance.status, balance.body['balance']]).toEqual([200, 7.5]);
  const phone = await Handset.waiting(service, user);
  await phone.close();
});
