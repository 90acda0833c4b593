/** An object that is deleted between the check of a request and its write is reported like an unknown one. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AppId } from '../../../src/base/ids.ts';
import {
  createProvisioning,
  type Provisioning,
} from '../../../src/domain/provisioning/provisioning.ts';
import { type OpenedStore, openInMemory } from '../../edge/store/open.ts';
import { anAccount } from '../../edge/store/records.ts';

const ACCOUNT = anAccount().authId;
const E164 = '14155550100';

let opened: OpenedStore;
let provisioning: Provisioning;
/** Deletes the object that was read last. Does nothing by default. */
let afterRead: () => Promise<unknown>;

/** Returns the store with a `get` after which another request deletes what it returned. */
const racing = <T extends { get(...given: never[]): Promise<unknown> }>(store: T): T => ({
  ...store,
  get: async (...given: never[]) => {
    const found = await store.get(...given);
    const act = afterRead;
    afterRead = async () => undefined;
    await act();
    return found;
  },
});

beforeEach(async () => {
  opened = await openInMemory();
  afterRead = async () => undefined;
  const { store } = opened;
  await store.accounts.create(anAccount(), 't');
  const stores = {
    ...store,
    applications: racing(store.applications),
    trunks: racing(store.trunks),
    ipAcls: racing(store.ipAcls),
  };
  provisioning = createProvisioning(stores, opened, { realm: 'r', usernameSuffix: 'always' });
  await provisioning.numbers.add({
    e164: E164,
    country: 'US',
    currency: 'USD',
    accountId: ACCOUNT,
  });
});
afterEach(() => opened.store.close());

const anApplication = async (): Promise<AppId> => {
  const given = { accountId: ACCOUNT, name: 'demo', answerUrl: 'http://127.0.0.1/answer' };
  return (await provisioning.applications.create(given)).appId;
};
const removing = (appId: AppId) => () =>
  opened.store.applications.remove(ACCOUNT, appId, undefined);
const endpoint = { accountId: ACCOUNT, username: 'alice', password: 'correct horse', alias: 'a' };
const UNKNOWN_APPLICATION = { ok: false, error: { kind: 'unknownApplication' } };

it('refuses a number whose application is deleted', async () => {
  const appId = await anApplication();
  afterRead = removing(appId);
  const changed = await provisioning.numbers.attachApplication(ACCOUNT, E164, appId);
  expect(changed).toEqual(UNKNOWN_APPLICATION);
});

it('refuses a number whose trunk is deleted', async () => {
  const made = await provisioning.trunks.create({ accountId: ACCOUNT, name: 'pbx' });
  if (!made.ok) throw new Error(made.error.kind);
  const { trunkId } = made.value;
  afterRead = () => opened.store.trunks.remove(ACCOUNT, trunkId);
  const assigned = await provisioning.numbers.assignTrunk(ACCOUNT, E164, trunkId);
  expect(assigned).toEqual({ ok: false, error: { kind: 'unknownTrunk' } });
});

it('refuses an endpoint whose application is deleted', async () => {
  const appId = await anApplication();
  afterRead = removing(appId);
  expect(await provisioning.endpoints.create({ ...endpoint, appId })).toEqual(UNKNOWN_APPLICATION);
  const made = await provisioning.endpoints.create(endpoint);
  if (!made.ok) throw new Error(made.error.kind);
  const other = await anApplication();
  afterRead = removing(other);
  const patched = await provisioning.endpoints.patch(ACCOUNT, made.value.endpointId, {
    appId: other,
  });
  expect(patched).toEqual(UNKNOWN_APPLICATION);
});

it('refuses a trunk whose access list is deleted', async () => {
  const given = { accountId: ACCOUNT, name: 'pbx' };
  const refused = { ok: false, error: { kind: 'unknownTrunkPart', part: 'ipaclUuid' } };
  const { id } = await provisioning.trunks.createIpAcl({
    accountId: ACCOUNT,
    ipAddress: '192.0.2.1',
  });
  afterRead = () => opened.store.ipAcls.remove(ACCOUNT, id);
  expect(await provisioning.trunks.create({ ...given, ipaclUuid: id })).toEqual(refused);
  const made = await provisioning.trunks.create(given);
  if (!made.ok) throw new Error(made.error.kind);
  const next = await provisioning.trunks.createIpAcl({
    accountId: ACCOUNT,
    ipAddress: '192.0.2.2',
  });
  afterRead = () => opened.store.ipAcls.remove(ACCOUNT, next.id);
  const patch = { ipaclUuid: next.id };
  expect(await provisioning.trunks.patch(ACCOUNT, made.value.trunkId, patch)).toEqual(refused);
});

it('refuses a deletion that binds endpoints to a deleted application', async () => {
  const [appId, target] = [await anApplication(), await anApplication()];
  await provisioning.endpoints.create({ ...endpoint, appId });
  afterRead = removing(target);
  const removed = await provisioning.applications.remove(ACCOUNT, appId, target);
  expect(removed).toEqual(UNKNOWN_APPLICATION);
  expect((await provisioning.applications.get(ACCOUNT, appId)).ok).toBe(true);
});
