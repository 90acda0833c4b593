import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashHex } from '../../../src/base/hash.ts';
import { asAccountId } from '../../../src/base/ids.ts';
import type { NewEndpoint } from '../../../src/domain/provisioning/endpoints.ts';
import {
  carrierFormat,
  createProvisioning,
  type Provisioning,
} from '../../../src/domain/provisioning/provisioning.ts';
import type { Application } from '../../../src/domain/provisioning/types.ts';
import { type OpenedStore, openInMemory } from '../../edge/store/open.ts';
import { anAccount } from '../../edge/store/records.ts';

const ACCOUNT = anAccount().authId;
const OTHER = asAccountId('MA_OTHER');

let opened: OpenedStore;
let provisioning: Provisioning;
beforeEach(async () => {
  opened = await openInMemory();
  await opened.store.accounts.create(anAccount(), 't');
  await opened.store.accounts.create(anAccount({ authId: OTHER }), 't');
  provisioning = withSuffix('always');
});
afterEach(() => opened.store.close());

const withSuffix = (usernameSuffix: 'always' | 'when-taken'): Provisioning =>
  createProvisioning(opened.store, opened, { realm: 'carillon.test', usernameSuffix });

const createApplication = (accountId = ACCOUNT): Promise<Application> =>
  provisioning.applications.create({
    accountId,
    name: 'demo',
    answerUrl: 'http://127.0.0.1/answer',
  });

const endpoint = (over: Partial<NewEndpoint> = {}): NewEndpoint => ({
  accountId: ACCOUNT,
  username: 'alice',
  password: 'correct horse',
  alias: 'alice',
  ...over,
});

describe('applications', () => {
  it('have increasing numeric IDs and report the hangup to the answer URL by default', async () => {
    const [first, second] = [await createApplication(), await createApplication()];
    expect(first.appId).toBe(10_000_001);
    expect(second.appId).toBe(10_000_002);
    expect(first.hangupUrl).toBe('http://127.0.0.1/answer');
  });

  it('are visible to their account only', async () => {
    const { appId } = await createApplication();
    expect((await provisioning.applications.get(ACCOUNT, appId)).ok).toBe(true);
    expect((await provisioning.applications.get(OTHER, appId)).ok).toBe(false);
    expect((await provisioning.applications.patch(OTHER, appId, { name: 'x' })).ok).toBe(false);
    expect((await provisioning.applications.remove(OTHER, appId)).ok).toBe(false);
  });

  it('in use are not deleted unless their users are bound to another application', async () => {
    const [old, next] = [await createApplication(), await createApplication()];
    const made = await provisioning.endpoints.create(endpoint({ appId: old.appId }));
    if (!made.ok) throw new Error(made.error.kind);
    const { applications, endpoints } = provisioning;
    expect(await applications.remove(ACCOUNT, old.appId)).toMatchObject({
      error: { kind: 'applicationInUse' },
    });
    expect((await applications.remove(ACCOUNT, old.appId, next.appId)).ok).toBe(true);
    const moved = await endpoints.get(ACCOUNT, made.value.endpointId);
    expect(moved).toMatchObject({ value: { appId: next.appId } });
  });
});

describe('endpoints', () => {
  it('always get a numeric suffix (decisions: endpoint username)', async () => {
    const made = await provisioning.endpoints.create(endpoint());
    expect(made.ok && made.value.username).toMatch(/^alice[1-9]\d{3}$/);
    expect(made).toMatchObject({ value: { requestedUsername: 'alice', allowVideo: false } });
  });

  it('keep a free name and add a suffix to a taken one with when-taken', async () => {
    provisioning = withSuffix('when-taken');
    const first = await provisioning.endpoints.create(endpoint());
    const second = await provisioning.endpoints.create(endpoint({ accountId: OTHER }));
    expect(first.ok && first.value.username).toBe('alice');
    expect(second.ok && second.value.username).toMatch(/^alice\d{5}$/);
  });

  it('require a unique submitted name per account (spec: duplicate gives 409)', async () => {
    await provisioning.endpoints.create(endpoint());
    expect(await provisioning.endpoints.create(endpoint())).toEqual({
      ok: false,
      error: { kind: 'usernameTaken', username: 'alice' },
    });
  });

  it('belong to applications of their account only', async () => {
    const foreign = await createApplication(OTHER);
    const refused = { ok: false, error: { kind: 'unknownApplication' } };
    const { endpoints } = provisioning;
    expect(await endpoints.create(endpoint({ appId: foreign.appId }))).toEqual(refused);
    const made = await endpoints.create(endpoint());
    if (!made.ok) throw new Error(made.error.kind);
    const patch = { appId: foreign.appId };
    expect(await endpoints.patch(ACCOUNT, made.value.endpointId, patch)).toEqual(refused);
  });

  it('report what revokes their registrations and calls, each once', async () => {
    const made = await provisioning.endpoints.create(endpoint());
    if (!made.ok) throw new Error(made.error.kind);
    const { endpointId, username } = made.value;
    const { endpoints } = provisioning;
    const revoked: string[] = [];
    endpoints.onRevoked(async (one) => void revoked.push(`${one.username} ${one.why}`));
    await endpoints.patch(ACCOUNT, endpointId, { alias: 'Alice' });
    await endpoints.patch(ACCOUNT, endpointId, { allowVoice: false });
    await endpoints.patch(ACCOUNT, endpointId, { alias: 'Bob' });
    await endpoints.patch(ACCOUNT, endpointId, { password: 'battery staple' });
    await endpoints.remove(OTHER, endpointId);
    await endpoints.remove(ACCOUNT, endpointId);
    await endpoints.remove(ACCOUNT, endpointId);
    const whys = ['voice', 'password', 'deleted'];
    expect(revoked).toEqual(whys.map((why) => `${username} ${why}`));
  });

  it('store HA1 of a changed password for the stored name', async () => {
    const made = await provisioning.endpoints.create(endpoint());
    if (!made.ok) throw new Error(made.error.kind);
    const { endpointId, username } = made.value;
    await provisioning.endpoints.patch(ACCOUNT, endpointId, { password: 'battery staple' });
    const found = await opened.store.endpointDirectory.byUsername(username);
    const text = `${username}:carillon.test:battery staple`;
    expect(found?.secrets.md5).toBe(hashHex('md5', text));
  });

  it('store HA1 of the stored name for every algorithm, and no password', async () => {
    const made = await provisioning.endpoints.create(endpoint());
    if (!made.ok) throw new Error(made.error.kind);
    const { username } = made.value;
    const found = await opened.store.endpointDirectory.byUsername(username);
    const text = `${username}:carillon.test:correct horse`;
    expect(found?.secrets).toEqual({
      md5: hashHex('md5', text),
      sha256: hashHex('sha256', text),
      sha512256: hashHex('sha512-256', text),
    });
    expect(JSON.stringify(made.value)).not.toContain('horse');
  });

  it('change HA1 with a new password only', async () => {
    const made = await provisioning.endpoints.create(endpoint());
    if (!made.ok) throw new Error(made.error.kind);
    const { endpointId, username } = made.value;
    const md5 = async () =>
      (await opened.store.endpointDirectory.byUsername(username))?.secrets.md5;
    const before = await md5();
    await provisioning.endpoints.patch(ACCOUNT, endpointId, { alias: 'a2' });
    expect(await md5()).toBe(before);
    await provisioning.endpoints.patch(ACCOUNT, endpointId, { password: 'another one' });
    expect(await md5()).not.toBe(before);
  });

  it("cannot be bound to another account's application", async () => {
    const { appId } = await createApplication(OTHER);
    expect(await provisioning.endpoints.create(endpoint({ appId }))).toMatchObject({
      error: { kind: 'unknownApplication' },
    });
  });

  it('are deleted with their bindings', async () => {
    const made = await provisioning.endpoints.create(endpoint());
    if (!made.ok) throw new Error(made.error.kind);
    const binding = {
      username: made.value.username,
      contactUri: 'sip:alice@192.0.2.1',
      callId: 'c',
      cseq: 1,
      expiresUs: 5,
      q: 0.5,
      instanceId: undefined,
      userAgent: 'phone',
      flow: { transport: 'udp', address: '192.0.2.1', port: 5060, connectionId: undefined },
      path: ['<sip:edge.test;lr>'],
      updatedUs: 1,
    } as const;
    await opened.store.bindings.save(binding);
    expect(await opened.store.bindings.listAll()).toEqual([binding]);
    await provisioning.endpoints.remove(ACCOUNT, made.value.endpointId);
    expect(await opened.store.bindings.listAll()).toEqual([]);
  });

  it('are listed by their filters', async () => {
    for (const username of ['alice', 'alan', 'bob']) {
      await provisioning.endpoints.create(endpoint({ username, alias: `the-${username}` }));
    }
    const count = async (filter: object) =>
      (
        await provisioning.endpoints.list(
          { accountId: ACCOUNT, ...filter },
          { limit: 20, offset: 0 },
        )
      ).total;
    expect(await count({})).toBe(3);
    expect(await count({ usernameStartsWith: 'al' })).toBe(2);
    expect(await count({ usernameContains: 'O' })).toBe(1);
    expect(await count({ aliasExact: 'the-bob' })).toBe(1);
    expect(await count({ appIsNull: false })).toBe(0);
  });
});

describe('carriers', () => {
  it('are tried by longest prefix, then priority, without disabled ones', async () => {
    const { carriers } = provisioning;
    await carriers.create({ name: 'world', host: 'w.test' });
    await carriers.create({ name: 'us-2', host: 'u.test', prefixes: ['1'], priority: 2 });
    await carriers.create({ name: 'us-1', host: 'u.test', prefixes: ['1', '44'], priority: 1 });
    await carriers.create({ name: 'off', host: 'o.test', prefixes: ['1415'], enabled: false });
    const names = (number: string) => carriers.routesFor(number).map((carrier) => carrier.name);
    expect(names('14155550100')).toEqual(['us-1', 'us-2', 'world']);
    expect(names('4930123456')).toEqual(['world']);
  });

  it('keep their password and are loaded after a restart', async () => {
    const auth = { username: 'u', password: 'p', register: true };
    await provisioning.carriers.create({
      name: 'c',
      host: 'c.test',
      auth,
      strip: 1,
      prepend: '00',
    });
    const restarted = withSuffix('always');
    await restarted.carriers.load();
    const carrier = restarted.carriers.get('c');
    expect(carrier?.auth).toEqual(auth);
    expect(carrier && carrierFormat(carrier, '14155550100')).toBe('004155550100');
  });
});

describe('trunks', () => {
  it('refer only to parts of the same account', async () => {
    const { trunks } = provisioning;
    const uri = await trunks.createOriginationUri({
      accountId: OTHER,
      name: 'u',
      sipUri: 'sip:a@b.test:5070',
    });
    expect(
      await trunks.create({ accountId: ACCOUNT, name: 't', primaryUriUuid: uri.id }),
    ).toMatchObject({ error: { kind: 'unknownTrunkPart', part: 'primaryUriUuid' } });
  });

  it('protect a part from deletion while they use it', async () => {
    const { trunks } = provisioning;
    const acl = await trunks.createIpAcl({ accountId: ACCOUNT, ipAddress: '192.0.2.0/24' });
    const made = await trunks.create({ accountId: ACCOUNT, name: 't', ipaclUuid: acl.id });
    if (!made.ok) throw new Error(made.error.kind);
    expect(await trunks.removeIpAcl(ACCOUNT, acl.id)).toMatchObject({ error: { kind: 'inUse' } });
    await trunks.patch(ACCOUNT, made.value.trunkId, { ipaclUuid: undefined });
    expect((await trunks.removeIpAcl(ACCOUNT, acl.id)).ok).toBe(true);
  });

  it("keep a credential's password readable for authentication and out of its record", async () => {
    const made = await provisioning.trunks.createCredential({
      accountId: ACCOUNT,
      username: 'u',
      password: 'pass-word',
    });
    expect(JSON.stringify(made)).not.toContain('pass-word');
    expect(await opened.store.credentials.passwordOf(made.id)).toBe('pass-word');
  });
});

describe('caller IDs', () => {
  it('are owned if verified or rented, by that account only', async () => {
    const { callerIds, numbers } = provisioning;
    await callerIds.verify(ACCOUNT, '14155550100');
    await numbers.add({ e164: '14155550101', country: 'US', currency: 'USD', accountId: ACCOUNT });
    expect(await callerIds.owns(ACCOUNT, '14155550100')).toBe(true);
    expect(await callerIds.owns(ACCOUNT, '14155550101')).toBe(true);
    expect(await callerIds.owns(OTHER, '14155550100')).toBe(false);
    expect(await callerIds.owns(ACCOUNT, '14155550199')).toBe(false);
  });
});
