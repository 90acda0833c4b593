import { afterEach, beforeEach, expect, it } from 'vitest';
import { DAY_MS } from '../../src/base/duration.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { Settings } from '../../src/config/schema.ts';
import { createProvisioning } from '../../src/domain/provisioning/provisioning.ts';
import { Housekeeping, type HousekeepingNeeds } from '../../src/service/housekeeping.ts';
import { type OpenedStore, openInMemory } from '../edge/store/open.ts';
import { aCdr, anAccount } from '../edge/store/records.ts';
import { eventually } from '../eventually.ts';

const ACCOUNT = anAccount().authId;

let opened: OpenedStore;
beforeEach(async () => {
  opened = await openInMemory();
  await opened.store.accounts.create(anAccount(), 'token');
});
afterEach(() => opened.store.close());

it('deletes expired call records and charges rents although recordings cannot be deleted', async () => {
  const { store, clock } = opened;
  const provisioning = createProvisioning(store, opened, { realm: 'r', usernameSuffix: 'always' });
  const number = { e164: '14155550100', country: 'US', currency: 'USD' };
  await provisioning.numbers.add({ ...number, accountId: ACCOUNT });
  const before = await provisioning.numbers.get(number.e164);
  await store.calls.settle({ cdr: aCdr(), entries: [], notification: undefined });
  await clock.advance(40 * DAY_MS);
  const failed: unknown[] = [];
  const retention = { recordingDays: 1, cdrDays: 30, callLogDays: 1, campaignDays: 1 };
  const housekeeping = new Housekeeping({
    store,
    clock,
    provisioning,
    recordings: { expire: () => Promise.reject(new Error('EACCES')) } as unknown as Recordings,
    phoneLogins: { purge: async () => undefined },
    users: { purge: () => Promise.reject(new Error('not purged')) } as unknown as Users,
    forgetLists: async () => undefined,
    settings: { retention: { ...retention, doNotCallDays: 1 } } as unknown as Settings,
    logger: { ...silentLogger, error: ({ step }) => failed.push(step) },
  });
  housekeeping.start();
  const page = () => store.cdrs.page({ accountId: ACCOUNT }, { limit: 1, offset: 0 });
  await eventually('the deletion of the call record', async () =>
    (await page()).total === 0 ? true : undefined,
  );
  await housekeeping.stop();
  expect(failed).toEqual(['users', 'recordings']);
  expect(await provisioning.numbers.get(number.e164)).not.toEqual(before);
});

type Recordings = HousekeepingNeeds['recordings'];
type Users = HousekeepingNeeds['users'];
