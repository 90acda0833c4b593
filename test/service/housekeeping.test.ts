import { afterEach, beforeEach, expect, it } from 'vitest';
import { wallUs } from '../../src/base/clock.ts';
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

const NUMBER = { e164: '14155550100', country: 'US', currency: 'USD' };

/** A service with a number, a call record and an idempotency key. `failing` parts of housekeeping reject. */
async function stage(failing: boolean) {
  const { store, clock } = opened;
  const provisioning = createProvisioning(store, opened, { realm: 'r', usernameSuffix: 'always' });
  await provisioning.numbers.add({ ...NUMBER, accountId: ACCOUNT });
  await store.calls.settle({ cdr: aCdr(), entries: [], notification: undefined });
  await store.idempotency.begin(ACCOUNT, 'key', 'f');
  const failed: unknown[] = [];
  const retention = { recordingDays: 1, cdrDays: 30, callLogDays: 1, campaignDays: 1 };
  const act = (error: string) => () =>
    failing ? Promise.reject(new Error(error)) : Promise.resolve(0);
  const housekeeping = new Housekeeping({
    store,
    clock,
    provisioning,
    recordings: { expire: act('EACCES') } as unknown as Recordings,
    phoneLogins: { purge: async () => undefined },
    users: { purge: act('not purged') } as unknown as Users,
    forgetLists: async () => undefined,
    settings: { retention: { ...retention, doNotCallDays: 1 } } as unknown as Settings,
    logger: { ...silentLogger, error: ({ step }) => failed.push(step) },
  });
  const kept = async () => ({
    calls: (await store.cdrs.page({ accountId: ACCOUNT }, { limit: 1, offset: 0 })).total,
    number: await provisioning.numbers.get(NUMBER.e164),
  });
  return { housekeeping, failed, kept };
}

const HOUR_MS = 3_600_000;

it('deletes expired call records and charges rents although recordings cannot be deleted', async () => {
  const { housekeeping, failed, kept } = await stage(true);
  const before = await kept();
  await opened.clock.advance(40 * DAY_MS);
  housekeeping.start();
  await eventually('the deletion of the call record', async () =>
    (await kept()).calls === 0 ? true : undefined,
  );
  await housekeeping.stop();
  expect(failed).toEqual(['users', 'recordings']);
  expect((await kept()).number).not.toEqual(before.number);
});

it('deletes and charges nothing while the clock is a year ahead, and works on when it is back', async () => {
  const { clock, store } = opened;
  const { housekeeping, kept } = await stage(false);
  housekeeping.start();
  await clock.advance(HOUR_MS);
  const before = await kept();
  expect(before).toMatchObject({ calls: 1 });
  clock.stepWall(365 * DAY_MS);
  await clock.advance(20 * HOUR_MS);
  await store.idempotency.begin(ACCOUNT, 'other', 'f');
  expect(await kept()).toEqual(before);
  clock.stepWall(-365 * DAY_MS);
  expect(await store.idempotency.begin(ACCOUNT, 'key', 'f')).toEqual({ kind: 'running' });
  await clock.advance(20 * HOUR_MS);
  expect(await kept()).toEqual(before);
  // Housekeeping has deleted `key`; `other` seems to be from the future.
  expect(await store.idempotency.purge(wallUs(clock), 10)).toBe(0);
  await housekeeping.stop();
});

it('trusts a clock that stays ahead for a day, as after a long downtime', async () => {
  const { clock } = opened;
  const { housekeeping, kept } = await stage(false);
  housekeeping.start();
  await clock.advance(HOUR_MS);
  clock.stepWall(40 * DAY_MS);
  await clock.advance(23 * HOUR_MS);
  expect(await kept()).toMatchObject({ calls: 1 });
  await clock.advance(3 * HOUR_MS);
  expect(await kept()).toMatchObject({ calls: 0 });
  await housekeeping.stop();
});

type Recordings = HousekeepingNeeds['recordings'];
type Users = HousekeepingNeeds['users'];
