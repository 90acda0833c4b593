/**
 * Tests that no caller reads, changes or ends objects of others. Generated from the API description: each operation on an
 * object, each kind of caller, one foreign ID. No response may leak or change data.
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wallUs } from '../../src/base/clock.ts';
import { asCallUuid, asRecordingId, asRequestUuid } from '../../src/base/ids.ts';
import { err } from '../../src/base/result.ts';
import { ROUTES } from '../../src/edge/rest/routes.ts';
import { aCdr } from '../edge/store/records.ts';
import { aLiveCall, aLiveStream, FakeControl } from './fake-control.ts';
import { type Credentials, type Method, type Service, startService } from './service.ts';

const OF_CALLS = [
  'hangup',
  'transfer',
  'handOver',
  'cancelHandOver',
  'startRecording',
  'stopRecording',
  'pauseRecording',
  'play',
  'stopPlay',
  'speak',
  'stopSpeak',
  'sendDigits',
  'startStream',
  'streams',
  'stopStream',
  'callLog',
] as const;

/** Treats calls of other accounts as unknown, like the real control, and records requests about known ones. */
class TenantControl extends FakeControl {
  constructor() {
    super();
    const operations = this as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const operation of OF_CALLS) {
      const act = operations[operation]?.bind(this);
      operations[operation] = (...args) => {
        const [accountId, uuid] = args;
        const known = this.calls.some(
          (call) =>
            call.accountId === accountId && (call.callUuid === uuid || call.requestUuid === uuid),
        );
        if (!known) return err({ kind: 'notFound', what: 'call' });
        if (this.requested.at(-1)?.operation !== operation)
          this.requested.push({ operation, args });
        return act?.(...args);
      };
    }
  }
}

const PASSWORD = 'password-1';
let service: Service;
let control: TenantControl;

/** A tenant with one object of every kind. */
interface Tenant extends Credentials {
  readonly name: string;
  readonly ids: Readonly<Record<string, string>>;
}
let main: Tenant;
let sub: Tenant;
let sibling: Tenant;
let other: Tenant;

const SECRET = (name: string): string => `secret-of-${name}`;
let serial = 0;
const uuid = (): string => `7f0cf0f6-0f4b-4f0e-8f57-${String(++serial).padStart(12, '0')}`;

async function furnish(name: string, who: Credentials, owner: Credentials): Promise<Tenant> {
  const root = `/api/v1/Account/${who.authId}`;
  const isSub = who.authId !== owner.authId;
  const post = async (path: string, body: object) => {
    const reply = await service.post(root + path, body, { as: who });
    expect(reply.status, `${path} ${reply.text}`).toBe(201);
    return reply.body;
  };
  const subAccount = isSub ? who.authId : undefined;
  const secret = SECRET(name);
  const app = await post('/Application/', { app_name: secret, answer_url: 'https://a.example/x' });
  const user = { username: `user${name}`, alias: secret, password: PASSWORD };
  const endpoint = await post('/Endpoint/', { ...user, application: Number(app.app_id) });
  const call = aLiveCall({
    accountId: owner.authId,
    subAccount,
    callUuid: asCallUuid(uuid()),
    from: secret,
  });
  const queued = {
    ...call,
    callUuid: asCallUuid(uuid()),
    requestUuid: asRequestUuid(uuid()),
    status: 'queued' as const,
  };
  control.calls.push(call, queued);
  const agent = await post('/campaign/agents', { name: secret, answer_url: 'https://a.example/x' });
  const campaign = await post('/campaigns', {
    name: secret,
    agent_id: agent.id,
    max_concurrent: 1,
    timezone: 'UTC',
    caller_id_strategy: 'pool',
  });
  const pool = await post(`/campaigns/${campaign.id}/pool`, {
    numbers: [{ from_number: '14155550100', label: secret }],
  });
  const cdr = aCdr({
    callUuid: asCallUuid(uuid()),
    accountId: owner.authId,
    subAccount,
    callerName: secret,
  });
  await service.store.calls.settle({ cdr, entries: [], notification: undefined });
  const recordingId = uuid();
  await service.store.recordings.insert({
    recordingId: asRecordingId(recordingId),
    accountId: owner.authId,
    subAccount,
    callUuid: cdr.callUuid,
    conferenceName: undefined,
    conferenceUuid: undefined,
    fromNumber: secret,
    toNumber: '',
    format: 'mp3',
    type: 'call',
    status: 'ready',
    file: 'x',
    bytes: 1,
    durationMs: 1,
    startUs: undefined,
    endUs: undefined,
    addedUs: wallUs(service.clock),
    pendingCharges: undefined,
  });
  const ids: Record<string, string> = {
    app_id: String(app.app_id),
    endpoint_id: endpoint.endpoint_id,
    call_uuid: call.callUuid,
    request_uuid: queued.requestUuid,
    finished: cdr.callUuid,
    recording_id: recordingId,
    sub_auth_id: who.authId,
    agent_id: agent.id,
    campaign_id: campaign.id,
    number_id: pool.added[0].id,
  };
  if (isSub) return { ...who, name, ids };
  const e164 = `1415555${String(++serial).padStart(4, '0')}`;
  const number = { e164, country: 'US', currency: 'USD', account_id: who.authId, region: secret };
  expect((await service.admin('POST', '/numbers', number)).status).toBe(201);
  const uri = await post('/origination-uris', {
    name: secret,
    sip_uri: 'sip:a@trunk.example:5060',
    priority: 1,
  });
  const credential = await post('/credentials', { username: secret, password: PASSWORD });
  const acl = await post('/ip-acl', { ip_address: '192.0.2.0/24', description: secret });
  const trunk = await post('/trunks', { name: secret, primary_uri_uuid: uri.id });
  return {
    ...who,
    name,
    ids: {
      ...ids,
      e164_number: `%2B${e164}`,
      trunk_id: trunk.trunk_id,
      'origination-uris': uri.id,
      credentials: credential.id,
      'ip-acl': acl.id,
    },
  };
}

beforeAll(async () => {
  control = new TenantControl();
  service = await startService({ deps: { control } });
  const parent = service.account;
  const outsider = await service.addAccount({ name: 'Other' });
  main = await furnish('main', parent, parent);
  sub = await furnish('sub', await service.addSubAccount(), parent);
  sibling = await furnish('sibling', await service.addSubAccount(), parent);
  other = await furnish('other', outsider, outsider);
  const theirs = await service.addSubAccount(outsider);
  other = { ...other, ids: { ...other.ids, sub_auth_id: theirs.authId } };
  control.liveStreams = [aLiveStream()];
});
afterAll(() => service.stop());

/** Returns the tenant's ID for a path parameter. */
function idOf(path: string, parameter: string, tenant: Tenant): string | undefined {
  if (parameter === 'id') return tenant.ids[/\/([a-z-]+)\/\{id\}/.exec(path)?.[1] ?? ''];
  if (parameter === 'call_uuid' && path.includes('/cdr/')) return tenant.ids['finished'];
  return tenant.ids[parameter];
}

/** Values of parameters that name no tenant object. */
const HARMLESS: Readonly<Record<string, string>> = {
  currency: 'USD',
  format: 'mp3',
  stream_id: aLiveStream().streamId,
  name: 'room',
  member_id: '1',
  export_id: uuid(),
  customer_auth_id: 'MA_XXXXXXXXXXXXXXXXX',
};

const OPERATIONS = ROUTES.filter(({ path, audience }) => {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const isTenants = audience !== 'admin' && path.startsWith('/api/');
  return isTenants && named.some((name) => name !== 'auth_id' && HARMLESS[name] === undefined);
});

/** Complete bodies, so that only the ID is wrong. */
const BODIES: Readonly<Record<string, object>> = {
  aleg_url: { aleg_url: 'https://evil.example/' },
  urls: { urls: 'https://evil.example/x.mp3' },
  text: { text: 'hello' },
  digits: { digits: '1' },
  service_url: { service_url: 'wss://evil.example/' },
  application_id: { application_id: 1 },
  trunk_group_id: { trunk_group_id: uuid() },
  sub_account_id: { sub_account_id: '' },
  app_name: { app_name: 'stolen' },
  app_id: { alias: 'stolen' },
  name: { name: 'stolen' },
  description: { description: 'stolen' },
  username: { username: 'stolen' },
  scheduled_at: { scheduled_at: '2030-01-01T00:00:00Z' },
  numbers: { numbers: [{ from_number: '14155550109' }] },
};
/** A valid contact list. */
const LIST = { body: 'to\n14155550101\n', headers: { 'content-type': 'text/csv' } };
const bodyOf = (schema: unknown): object | undefined => {
  const properties = Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});
  const known = properties.find((name) => BODIES[name] !== undefined);
  return known === undefined ? undefined : BODIES[known];
};

/** Returns the whole state of the store and the requests about running calls. */
async function state(): Promise<string> {
  const { applications, campaigns, endpoints, numbers, trunks, recordings } = service.store;
  const slice = { limit: 100, offset: 0 };
  const owners = [main.authId, other.authId];
  const retained = await Promise.all(
    owners.flatMap((accountId) => [
      applications.list({ accountId }, slice),
      endpoints.list({ accountId }, slice),
      numbers.list({ accountId }, slice),
      trunks.list(accountId, slice),
      recordings.page({ accountId }, slice),
      service.store.originationUris.list(accountId, slice),
      service.store.credentials.list(accountId, slice),
      service.store.ipAcls.list(accountId, slice),
      service.accounts.list({ parentAuthId: accountId }, slice),
      campaigns.agents({ accountId, subAccount: undefined }, slice),
      campaigns.page({ accountId, subAccount: undefined, archived: false }, slice),
      campaigns.page({ accountId, subAccount: undefined, archived: true }, slice),
    ]),
  );
  return JSON.stringify(retained);
}

const CASES = [
  { who: 'another account', caller: () => other, foreign: () => main },
  {
    who: 'another account, with the owner in the path',
    caller: () => other,
    foreign: () => main,
    in: () => main,
  },
  {
    who: "an account, for objects of another account's sub-account",
    caller: () => other,
    foreign: () => sub,
  },
  { who: 'a sub-account, for objects of its parent', caller: () => sub, foreign: () => main },
  {
    who: 'a sub-account, with its parent in the path',
    caller: () => sub,
    foreign: () => main,
    in: () => main,
  },
  { who: 'a sub-account, for objects of its sibling', caller: () => sub, foreign: () => sibling },
  {
    who: 'a sub-account, with its sibling in the path',
    caller: () => sub,
    foreign: () => sibling,
    in: () => sibling,
  },
  { who: 'a parent, for objects of another account', caller: () => main, foreign: () => other },
  {
    who: 'a parent acting as its sub-account, for objects of the sibling',
    caller: () => main,
    foreign: () => sibling,
    in: () => sub,
  },
] as const;

describe.each(CASES)('$who', (one) => {
  it('is refused by every operation on an object, without leaks or changes', async () => {
    const [caller, foreign] = [one.caller(), one.foreign()];
    const place = 'in' in one ? one.in() : caller;
    const before = await state();
    control.requested.length = 0;
    let tried = 0;
    for (const route of OPERATIONS) {
      let missing = false;
      const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
        if (name === 'auth_id') return place.authId;
        const id = idOf(route.path, name, foreign) ?? HARMLESS[name];
        missing ||= id === undefined;
        return id ?? '';
      });
      // Skips numbers and trunks of a sub-account, which has none, and paths without an account, which mean the caller's own.
      if (missing || ('in' in one && !route.path.includes('{auth_id}'))) continue;
      tried += 1;
      const body = bodyOf(route.body);
      const live = path.includes('/Call/') && route.method === 'GET' ? '?status=live' : '';
      const reply = await service.send(route.method as Method, path + live, {
        as: caller,
        ...(route.streamsBody ? LIST : body && { body }),
      });
      expect(reply.status, `${route.method} ${path} ${reply.text}`).toBeGreaterThanOrEqual(400);
      expect(reply.status, `${route.method} ${path} ${reply.text}`).toBeLessThan(500);
      expect(reply.text).not.toContain(SECRET(foreign.name));
    }
    expect(tried).toBeGreaterThan(25);
    expect(await state()).toBe(before);
    // No request may reach a running call.
    expect(control.requested).toEqual([]);
  });
});

describe('an ID in a body', () => {
  const refused = async (as: Credentials, method: Method, path: string, body: object) => {
    const reply = await service.send(method, `/api/v1/Account/${as.authId}${path}`, { as, body });
    expect([400, 403, 404], `${path} ${reply.text}`).toContain(reply.status);
  };

  it('must belong to the caller', async () => {
    const before = await state();
    const numbers = `/numbers/${main.ids['e164_number']}`;
    const endpoint = (tenant: Tenant) => `/Endpoint/${tenant.ids['endpoint_id']}/`;
    const user = { username: 'thief', alias: 'thief', password: PASSWORD };
    for (const [caller, foreign] of [
      [main, other],
      [sub, main],
      [sub, sibling],
      [sub, other],
    ] as const) {
      const appId = Number(foreign.ids['app_id']);
      await refused(caller, 'POST', '/Endpoint/', { ...user, application: appId });
      await refused(caller, 'POST', endpoint(caller), { app_id: appId });
      const remove = `/Application/${caller.ids['app_id']}/`;
      await refused(caller, 'DELETE', remove, { new_endpoint_application: appId });
      const foreignSub = foreign.ids['sub_auth_id'];
      const app = { app_name: 'x', answer_url: 'https://a.example', sub_account: foreignSub };
      await refused(caller, 'POST', '/Application/', app);
      await refused(caller, 'POST', '/Endpoint/', { ...user, sub_account: foreignSub });
      const { agent_id: agentId, campaign_id: campaignId } = foreign.ids;
      const plan = {
        name: 'x',
        max_concurrent: 1,
        timezone: 'UTC',
        caller_id_strategy: 'pool',
      };
      await refused(caller, 'POST', '/campaigns', { ...plan, agent_id: agentId });
      const own = `/campaigns/${caller.ids['campaign_id']}`;
      await refused(caller, 'PUT', own, { agent_id: agentId });
      await refused(caller, 'GET', `/campaigns/${campaignId}`, {});
    }
    await refused(sub, 'POST', `/Application/${sub.ids['app_id']}/`, {
      default_endpoint_app: true,
    });
    await refused(main, 'POST', `${numbers}/application`, {
      application_id: Number(other.ids['app_id']),
    });
    await refused(main, 'POST', `${numbers}/assign`, { trunk_group_id: other.ids['trunk_id'] });
    await refused(main, 'POST', `${numbers}/assign-subaccount`, {
      sub_account_id: other.ids['sub_auth_id'],
    });
    for (const [field, kind] of [
      ['primary_uri_uuid', 'origination-uris'],
      ['fallback_uri_uuid', 'origination-uris'],
      ['credential_uuid', 'credentials'],
      ['ipacl_uuid', 'ip-acl'],
    ] as const) {
      const part = { [field]: other.ids[kind] };
      await refused(main, 'POST', '/trunks', { name: 'x', ...part });
      await refused(main, 'PUT', `/trunks/${main.ids['trunk_id']}`, part);
    }
    expect(await state()).toBe(before);
    expect((await service.accounts.get(main.authId))?.defaultEndpointApp).toBeUndefined();
  });
});

describe('an object of the caller', () => {
  it('is accessible to the sub-account and its parent, which proves that the refusals above depend on the ID', async () => {
    for (const caller of [sub, main]) {
      for (const path of [
        `Application/${sub.ids['app_id']}/`,
        `Endpoint/${sub.ids['endpoint_id']}/`,
        `Call/${sub.ids['call_uuid']}/?status=live`,
        `Recording/${sub.ids['recording_id']}/`,
        `cdr/${sub.ids['finished']}`,
        `campaign/agents/${sub.ids['agent_id']}`,
        `campaigns/${sub.ids['campaign_id']}`,
        `campaigns/${sub.ids['campaign_id']}/pool`,
      ]) {
        const reply = await service.get(`/api/v1/Account/${caller.authId}/${path}`, { as: caller });
        expect(reply.status, path).toBe(200);
        expect(reply.text, path).toContain(sub.name);
      }
    }
    const request = `/api/v1/Account/${sub.authId}/Request/${sub.ids['request_uuid']}/`;
    expect((await service.send('DELETE', request, { as: sub })).status).toBe(204);
    expect(control.requested.at(-1)?.operation).toBe('hangup');
  });
});
