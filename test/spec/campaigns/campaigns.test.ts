/** Dialect §3.11 over REST: agents, campaigns and their operations. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../service.ts';
import { FOREIGN_NUMBER } from './service.ts';

let service: Service;
let root: string;
beforeAll(async () => {
  service = await startService();
  root = `/api/v1/account/${service.account.authId}`;
});
afterAll(() => service.stop());

const AGENT = { name: 'Reminders', answer_url: 'https://bot.example/answer' };
const createAgent = async (over: object = {}) => {
  const reply = await service.post(`${root}/campaign/agents`, { ...AGENT, ...over });
  expect(reply.status, reply.text).toBe(201);
  return reply.body;
};
const plan = (over: object = {}) => ({
  name: 'Spring',
  max_concurrent: 2,
  timezone: 'Asia/Kolkata',
  caller_id_strategy: 'fixed',
  fixed_caller_id: '+14155550100',
  ...over,
});
const create = async (over: object = {}) => {
  const { id } = await createAgent();
  const reply = await service.post(`${root}/campaigns`, plan({ agent_id: id, ...over }));
  expect(reply.status, reply.text).toBe(201);
  return reply.body;
};
const ready = async (over: object = {}) => {
  const { id } = await create(over);
  const reply = await service.post(`${root}/campaigns/${id}/upload`, [{ to: '14155550101' }]);
  expect(reply.body, reply.text).toMatchObject({ valid_contacts: 1 });
  return id as string;
};
const act = (id: string, command: string, body: object = {}) =>
  service.post(`${root}/campaigns/${id}/${command}`, body);

/** Makes both of the next two updates read the agent before either writes. */
function bothReadFirst(): void {
  const { campaigns } = service.store;
  const read = campaigns.agent;
  const { promise: bothRead, resolve } = Promise.withResolvers<void>();
  let calls = 0;
  campaigns.agent = async (id) => {
    calls += 1;
    const found = await read(id);
    if (calls >= 2) resolve();
    await bothRead;
    return found;
  };
}

describe('simultaneous updates of different fields', () => {
  const put = (path: string, body: object) => service.send('PUT', `${root}/${path}`, { body });

  it('are both kept', async () => {
    const { id, agent_id: agentId } = await create();
    bothReadFirst();
    await Promise.all([
      put(`campaigns/${id}`, { name: 'Summer' }),
      act(id, 'schedule', { scheduled_at: '2030-01-01T09:00:00Z' }),
    ]);
    expect((await service.get(`${root}/campaigns/${id}`)).body).toMatchObject({
      name: 'Summer',
      scheduled_at: '2030-01-01T09:00:00.000000Z',
    });
    bothReadFirst();
    await Promise.all([
      put(`campaign/agents/${agentId}`, { name: 'Other' }),
      put(`campaign/agents/${agentId}`, { ring_timeout: 20 }),
    ]);
    expect((await service.get(`${root}/campaign/agents/${agentId}`)).body).toMatchObject({
      name: 'Other',
      ring_timeout: 20,
    });
  });
});

describe('agents', () => {
  it('keep adaptive machine detection when another field changes', async () => {
    const { id } = await createAgent({ machine_detection: 'true' });
    const adaptive = async () =>
      (await service.store.campaigns.agent(id))?.machineDetection?.adaptive;
    expect(await adaptive()).toBe(true);
    const url = `${root}/campaign/agents/${id}`;
    await service.send('PUT', url, { body: { name: 'Renamed' } });
    expect(await adaptive()).toBe(true);
    await service.send('PUT', url, { body: { machine_detection_maximum_words: 3 } });
    expect(await adaptive()).toBe(false);
    await service.send('PUT', url, { body: { name: 'Again' } });
    expect(await adaptive()).toBe(false);
  });

  it('are created, read, listed, updated and deleted', async () => {
    const created = await createAgent({
      hangup_url: 'https://bot.example/bye',
      hangup_method: 'GET',
      static_headers: [{ key: 'Kind', value: 'reminder' }],
      machine_detection: 'true',
      machine_detection_time: 3000,
      record: true,
      ring_timeout: 30,
    });
    expect(created).toMatchObject({
      account_id: service.account.authId,
      answer_method: 'POST',
      hangup_method: 'GET',
      sip_headers: { Kind: 'reminder' },
      static_headers: [{ key: 'Kind', value: 'reminder' }],
      machine_detection: 'true',
      record: true,
      time_limit: 14_400,
    });
    const url = `${root}/campaign/agents/${created.id}`;
    expect((await service.get(url)).body).toEqual(created);
    const listed = await service.get(`${root}/campaign/agents?limit=100`);
    expect(listed.body.objects).toContainEqual(created);
    const changed = await service.send('PUT', url, { body: { name: 'New', ring_url: '' } });
    expect(changed.body).toMatchObject({ name: 'New', sip_headers: { Kind: 'reminder' } });
    expect(changed.body).toMatchObject({ machine_detection: 'true', record: true });
    const stored = await service.store.campaigns.agent(created.id);
    expect(stored?.machineDetection?.totalMs).toBe(3000);
    const headers = { sip_headers: { Other: 'x' } };
    expect((await service.send('PUT', url, { body: headers })).body.sip_headers).toEqual({
      Other: 'x',
    });
    expect((await service.send('DELETE', url)).status).toBe(204);
    expect((await service.get(url)).status).toBe(404);
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ answer_url: 'bot' }, 'answer_url'],
    [{ answer_method: 'PUT' }, 'answer_method'],
    [{ sip_headers: { 'First Name': 'x' } }, 'sip_headers'],
    [{ static_headers: [{ key: 'A', value: 'x\r\nB: y' }] }, 'static_headers'],
    [{ static_headers: [{ key: 'A' }] }, 'static_headers.0.value'],
    [{ machine_detection: 'maybe' }, 'machine_detection'],
  ])('refuses %j and names %s', async (over, field) => {
    const reply = await service.post(`${root}/campaign/agents`, { ...AGENT, ...over });
    expect(reply.status).toBe(400);
    expect(reply.body.details).toHaveProperty([field]);
  });

  it('cannot be deleted while unfinished campaigns use them', async () => {
    const { agent_id: agentId } = await create();
    const reply = await service.send('DELETE', `${root}/campaign/agents/${agentId}`);
    expect(reply.status).toBe(409);
    expect(reply.body.error).toBe('agent is in use');
  });
});

describe('a campaign', () => {
  it('is created as a draft with every field of its record', async () => {
    const created = await create({
      window_enabled: 'true',
      window_start_time: '09:00',
      window_end_time: '18:30',
      window_days: [5, 1],
      holidays: ['2026-12-25'],
      retry_attempts: 2,
      retry_delays: [60, 240],
      notify_url: 'https://bot.example/told',
      cps: 0,
      expires_at: '2027-01-01T00:00:00+05:30',
    });
    expect(created).toMatchObject({
      account_id: service.account.authId,
      sub_account: null,
      status: 'draft',
      health: 'not_started',
      pause_reason: null,
      cps: 1,
      fixed_caller_id: '+14155550100',
      window_enabled: true,
      window_start_time: '09:00',
      window_end_time: '18:30',
      window_days: [1, 5],
      window_hours: [],
      holidays: ['2026-12-25'],
      retry_attempts: 2,
      retry_delays: [60, 240],
      retry_window_days: 7,
      retry_on: ['busy', 'no_answer', 'failed'],
      pool_max_calls_per_number: null,
      expires_at: '2026-12-31T18:30:00.000000Z',
      total_contacts: 0,
      pending: 0,
    });
    const url = `${root}/campaigns/${created.id}`;
    expect((await service.get(url)).body).toEqual(created);
    const upper = `${service.root}/campaigns/${created.id}`;
    expect((await service.get(upper)).body).toEqual(created);
  });

  it.each([
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ agent_id: 'nobody' }, 'agent_id'],
    [{ max_concurrent: 0 }, 'max_concurrent'],
    // The account's limit is ten.
    [{ max_concurrent: 11 }, 'max_concurrent'],
    [{ timezone: 'Mars/Olympus' }, 'timezone'],
    [{ caller_id_strategy: 'any' }, 'caller_id_strategy'],
    [{ fixed_caller_id: null }, 'fixed_caller_id'],
    [{ fixed_caller_id: FOREIGN_NUMBER }, 'fixed_caller_id'],
    [{ scheduled_at: 'tomorrow' }, 'scheduled_at'],
    [{ scheduled_at: '2026-13-01T00:00:00Z' }, 'scheduled_at'],
    [{ scheduled_at: '2026-12-01T00:00:00' }, 'scheduled_at'],
    [{ window_enabled: true }, 'window_start_time'],
    [{ window_enabled: true, window_start_time: '09:00' }, 'window_end_time'],
    [
      { window_enabled: true, window_start_time: '09:00', window_end_time: '09:00' },
      'window_end_time',
    ],
    [{ window_enabled: true, window_start_time: '24:00' }, 'window_start_time'],
    [{ holidays: ['2026-12-25'] }, 'holidays'],
    [
      {
        window_enabled: true,
        window_start_time: '09:00',
        window_end_time: '10:00',
        holidays: ['2026-02-30'],
      },
      'holidays',
    ],
    [{ retry_attempts: 6 }, 'retry_attempts'],
    [{ retry_delays: [0] }, 'retry_delays.0'],
    [{ notify_url: 'ftp://x' }, 'notify_url'],
    [{ pool_max_calls_per_number: 0 }, 'pool_max_calls_per_number'],
  ])('refuses %j and names %s', async (over, field) => {
    const { id } = await createAgent();
    const reply = await service.post(`${root}/campaigns`, plan({ agent_id: id, ...over }));
    expect(reply.status, reply.text).toBe(400);
    expect(reply.body.details).toHaveProperty([field]);
  });

  it('keeps cps unchanged, including fractions; below 1 it is 1', async () => {
    expect(await create({ cps: 2.5 })).toMatchObject({ cps: 2.5 });
    expect(await create({ cps: -1 })).toMatchObject({ cps: 1 });
  });

  it('is updated while it is a draft or ready; absent fields stay unchanged', async () => {
    const { id } = await create({ scheduled_at: '2027-01-01T00:00:00Z', notify_url: null });
    const url = `${root}/campaigns/${id}`;
    const put = (body: object) => service.send('PUT', url, { body });
    expect((await put({ max_concurrent: 3 })).body).toMatchObject({
      name: 'Spring',
      max_concurrent: 3,
      scheduled_at: '2027-01-01T00:00:00.000000Z',
    });
    expect((await put({ clear_schedule: true })).body.scheduled_at).toBeNull();
    const hours = [
      { weekday: 1, start_time: '22:00', end_time: '02:00' },
      { weekday: 2, start_time: '09:00', end_time: '17:00' },
    ];
    const widened = await put({ window_enabled: true, window_hours: hours });
    expect(widened.body).toMatchObject({ window_hours: hours, window_start_time: null });
    expect((await put({ name: 'Autumn' })).body.window_hours).toEqual(hours);
    const evened = await put({ window_start_time: '08:00', window_end_time: '12:00' });
    expect(evened.body).toMatchObject({ window_hours: [], window_start_time: '08:00' });
    expect((await put({ window_enabled: false })).body).toMatchObject({
      window_enabled: false,
      holidays: [],
    });
    expect((await put({ agent_id: 'nobody' })).status).toBe(400);
  });

  it('allows only valid state changes; 409 names the current state', async () => {
    const { id: draft } = await create();
    const refused = await act(draft, 'start');
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('draft');
    const id = await ready();
    const status = async (command: string) => (await act(id, command)).body.status;
    for (const command of ['pause', 'resume', 'cancel']) {
      expect((await act(id, command)).status, command).toBe(409);
    }
    expect(await status('start')).toBe('running');
    for (const command of ['start', 'resume', 'archive']) {
      expect((await act(id, command)).status, command).toBe(409);
    }
    const change = await service.send('PUT', `${root}/campaigns/${id}`, { body: { name: 'x' } });
    expect(change.status).toBe(409);
    expect((await act(id, 'upload', [{ to: '14155550101' }])).status).toBe(409);
    const paused = await act(id, 'pause');
    expect(paused.body).toMatchObject({
      status: 'paused',
      pause_reason: 'manual_pause',
      paused_reason: 'manual_pause',
    });
    service.dialer.obstacleNow = { reason: 'balance_insufficient', detail: 'top up first' };
    const still = await act(id, 'resume');
    expect(still.status).toBe(409);
    expect(still.body).toMatchObject({ pause_reason: 'balance_insufficient' });
    service.dialer.obstacleNow = undefined;
    expect((await act(id, 'resume')).body).toMatchObject({ status: 'running', pause_reason: null });
    expect(await status('cancel')).toBe('cancelled');
    expect(await status('archive')).toBe('archived');
    const listed = await service.get(`${root}/campaigns?archived=true`);
    expect(listed.body).toMatchObject({ total: 1, objects: [{ id }] });
    const others = await service.get(`${root}/campaigns?limit=100`);
    expect(others.body.objects.map((one: { id: string }) => one.id)).not.toContain(id);
  });

  it('is scheduled, and the schedule removed', async () => {
    const id = await ready();
    const at = '2027-06-01T09:00:00+02:00';
    expect((await act(id, 'schedule', { scheduled_at: at })).body.scheduled_at).toBe(
      '2027-06-01T07:00:00.000000Z',
    );
    expect((await act(id, 'schedule', { scheduled_at: null })).body.scheduled_at).toBeNull();
    expect((await act(id, 'schedule')).status).toBe(400);
    expect((await act(id, 'schedule', { scheduled_at: '2027-02-30T25:00:00Z' })).status).toBe(400);
  });

  it('is cloned as a draft without contacts', async () => {
    const id = await ready({ name: 'x'.repeat(100) });
    const cloned = await act(id, 'clone');
    expect(cloned.status).toBe(201);
    expect(cloned.body).toMatchObject({ status: 'draft', total_contacts: 0, scheduled_at: null });
    expect(cloned.body.name).toBe(`${'x'.repeat(93)} (copy)`);
    expect((await act(id, 'clone', { name: 'Second' })).body.name).toBe('Second');
  });

  it('returns 404 everywhere if it does not exist', async () => {
    for (const command of ['start', 'pause', 'resume', 'cancel', 'archive', 'clone']) {
      const reply = await act('00000000-0000-4000-8000-000000000000', command);
      expect(reply.status, command).toBe(404);
      expect(reply.body.error).toBe('campaign not found');
    }
  });
});

describe('a pool', () => {
  it('adds, lists and removes numbers of the account', async () => {
    const { id } = await create({ caller_id_strategy: 'pool', fixed_caller_id: null });
    const url = `${root}/campaigns/${id}/pool`;
    const numbers = [
      { from_number: '+14155550111', label: 'North' },
      { from_number: '14155550112' },
    ];
    const added = await service.post(url, { numbers });
    expect(added.status, added.text).toBe(201);
    expect(added.body.added).toMatchObject([
      { from_number: '+14155550111', label: 'North', total_calls: 0 },
      { from_number: '+14155550112', label: '' },
    ]);
    const [first] = added.body.added;
    expect((await service.send('DELETE', `${url}/${first.id}`)).status).toBe(204);
    expect((await service.send('DELETE', `${url}/${first.id}`)).status).toBe(404);
    expect((await service.get(url)).body).toMatchObject({
      total: 1,
      objects: [{ from_number: '+14155550112' }],
    });
    const [, second] = added.body.added;
    const changed = await service.send('PUT', `${url}/${second.id}`, { body: { label: 'South' } });
    expect(changed.status, changed.text).toBe(200);
    expect(changed.body).toMatchObject({ from_number: '+14155550112', label: 'South' });
    const moved = await service.send('PUT', `${url}/${second.id}`, {
      body: { from_number: '14155550113' },
    });
    expect(moved.body).toMatchObject({
      from_number: '+14155550113',
      label: 'South',
      total_calls: 0,
    });
    await service.post(url, { numbers: [{ from_number: '14155550114' }] });
    const put = async (of: string, body: object) =>
      (await service.send('PUT', `${url}/${of}`, { body })).status;
    expect(await put(second.id, { from_number: '14155550114' })).toBe(409);
    expect(await put(second.id, { from_number: FOREIGN_NUMBER })).toBe(400);
    expect(await put(second.id, { total_calls: 3 })).toBe(200);
    expect(await put(first.id, { label: 'gone' })).toBe(404);
    for (const wrong of [[], [{ from_number: 'x' }], [{ from_number: FOREIGN_NUMBER }]]) {
      expect((await service.post(url, { numbers: wrong })).status).toBe(400);
    }
  });
});

describe('do-not-call lists', () => {
  it('are managed by the account and by the operator', async () => {
    const url = `${root}/do-not-call`;
    const numbers = ['+14155550131', '14155550132', '+14155550131'];
    const added = await service.post(url, { numbers });
    expect(added.status, added.text).toBe(201);
    expect(added.body).toEqual({ added: 2 });
    expect((await service.get(`${url}?search=0132`)).body).toMatchObject({
      total: 1,
      objects: [{ number: '+14155550132', added_at: expect.stringMatching(/Z$/) }],
    });
    expect((await service.send('DELETE', `${url}/%2B14155550131`)).status).toBe(204);
    expect((await service.send('DELETE', `${url}/14155550131`)).status).toBe(404);
    for (const wrong of [[], ['x'], ['12'], Array(1001).fill('14155550131')]) {
      expect((await service.post(url, { numbers: wrong })).status).toBe(400);
    }
    const admin = '/do-not-call';
    const listed = await service.admin('POST', admin, { numbers: ['14155550140'] });
    expect(listed.status, listed.text).toBe(201);
    expect((await service.admin('GET', admin)).body).toMatchObject({
      total: 1,
      objects: [{ number: '+14155550140' }],
    });
    // The account's list excludes the operator's numbers.
    expect((await service.get(url)).body.total).toBe(1);
    expect((await service.admin('DELETE', `${admin}/14155550140`)).status).toBe(204);
  });
});

describe('capacity', () => {
  it('shows running campaigns with active and waiting calls', async () => {
    const { id } = await create();
    const campaign = (await service.store.campaigns.get(id))!;
    service.dialer.active = { accountId: service.account.authId, campaign };
    expect((await service.get(`${root}/capacity`)).body.running_campaigns).toEqual([
      {
        campaign_id: id,
        name: 'Spring',
        status: 'running',
        max_concurrent: 5,
        running: 2,
        queued: 7,
      },
    ]);
    const sub = await service.addSubAccount();
    const own = `/api/v1/account/${sub.authId}/capacity`;
    expect((await service.get(own, { as: sub })).body.running_campaigns).toEqual([]);
    service.dialer.active = {
      accountId: service.account.authId,
      campaign: { ...campaign, subAccount: sub.authId },
    };
    expect((await service.get(own, { as: sub })).body.running_campaigns).toHaveLength(1);
    service.dialer.active = undefined;
  });
});
