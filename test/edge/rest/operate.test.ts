/** Operator routes for settings, doctor, log, nodes and alarms, and the roles that may use them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../src/base/result.ts';
import type { Role } from '../../../src/domain/user/types.ts';
import { idleOperations, type Service, startService } from '../../spec/service.ts';

const PASSWORD = 'correct horse battery';
const ALARM = {
  nodeId: 'a',
  kind: 'disk',
  subject: '/data',
  detail: 'full',
  sinceUs: 0,
  acknowledgedUs: 5,
  acknowledgedBy: 'ada',
  clearedUs: undefined,
};
const acknowledged: object[] = [];
let service: Service;

beforeAll(async () => {
  service = await startService({
    deps: {
      operations: {
        ...idleOperations(),
        alarms: async () => [ALARM],
        endedAlarms: async (filter) => ({
          items: [{ ...ALARM, detail: JSON.stringify(filter), clearedUs: 9 }],
          total: 1,
        }),
        acknowledgeAlarm: async (alarm, by) => {
          acknowledged.push({ ...alarm, by });
          return alarm.nodeId !== 'gone';
        },
        runDoctor: async () => ok({ finishedUs: 0, findings: [] }),
        log: async (query, node) =>
          node === 'gone' ? undefined : { node: node ?? 'a', lines: [lineOf(query)] },
        nodes: async () => [{ id: 'b', epoch: 2, isSelf: false, begunUs: 0, status: undefined }],
        drainNode: async (node) => node === 'b',
      },
    },
  });
});
afterAll(() => service.stop());

const lineOf = (query: object) => ({
  number: 1,
  time: 't',
  level: 'info',
  message: JSON.stringify(query),
  callUuid: undefined,
  fields: '',
});

let invited = 0;
async function cookieOf(role: Role, isStaff: boolean): Promise<string> {
  invited += 1;
  const email = `${role}${invited}@example.test`;
  const account = isStaff ? {} : { account_id: service.account.authId };
  const made = await service.admin('POST', '/users', { email, role, ...account });
  const token = String(made.body.link).split('/welcome/')[1];
  const accepted = await service.send('POST', '/console/api/accept', {
    as: null,
    headers: { 'x-console': '1' },
    body: { token, email, password: PASSWORD },
  });
  return String(accepted.headers['set-cookie']).split(';')[0] ?? '';
}

describe('operator routes', () => {
  it.each<[Role, boolean, number, number]>([
    ['owner', true, 200, 202],
    ['operator', true, 200, 202],
    ['viewer', true, 200, 403],
    ['billing', true, 403, 403],
    ['owner', false, 403, 403],
  ])('let %s (staff: %s) read with %i and change with %i', async (role, isStaff, read, change) => {
    const cookie = await cookieOf(role, isStaff);
    const given = { as: null, headers: { 'x-console': '1', cookie } };
    for (const path of ['settings', 'doctor', 'log', 'nodes', 'alarms', 'alarms/history'])
      expect((await service.get(`/admin/v1/${path}`, given)).status, path).toBe(read);
    const drained = await service.send('POST', '/admin/v1/nodes/b/drain', given);
    expect(drained.status).toBe(change);
    const checked = await service.send('POST', '/admin/v1/doctor', given);
    expect(checked.status).toBe(change === 202 ? 200 : 403);
  });

  it('pass the filters of the log, and refuse an unknown level, limit and node', async () => {
    const query = 'level=warn&search=x&after=3&limit=5&node=b';
    const { body } = await service.admin('GET', `/log?${query}`);
    expect(body).toMatchObject({ node: 'b', lines: [{ number: 1, call_uuid: null }] });
    expect(JSON.parse(body.lines[0].message)).toEqual({
      level: 'warn',
      search: 'x',
      after: 3,
      limit: 5,
    });
    for (const wrong of ['level=loud', 'limit=0', 'limit=1001', 'colour=red'])
      expect((await service.admin('GET', `/log?${wrong}`)).status, wrong).toBe(400);
    expect((await service.admin('GET', '/log?node=gone')).status).toBe(404);
    expect((await service.admin('POST', '/nodes/gone/drain')).status).toBe(404);
  });

  it('show alarms with node and acknowledgement, and filter the history', async () => {
    const shown = { node: 'a', kind: 'disk', acknowledged_by: 'ada' };
    expect((await service.admin('GET', '/alarms')).body.alarms).toMatchObject([shown]);
    const ended = await service.admin('GET', '/alarms/history?kind=disk&search=data');
    expect(ended.body).toMatchObject({ total: 1, alarms: [shown] });
    expect(JSON.parse(ended.body.alarms[0].detail)).toEqual({ kind: 'disk', search: 'data' });
    const alarm = { kind: 'disk', subject: '/data' };
    expect((await service.admin('POST', '/alarms/acknowledge', alarm)).status).toBe(204);
    const gone = { ...alarm, node: 'gone' };
    expect((await service.admin('POST', '/alarms/acknowledge', gone)).status).toBe(404);
    expect(acknowledged).toEqual([
      { ...alarm, by: 'operator token' },
      { ...alarm, nodeId: 'gone', by: 'operator token' },
    ]);
  });

  it('list a node that does not answer', async () => {
    expect((await service.admin('GET', '/nodes')).body.nodes).toMatchObject([
      { node: 'b', epoch: 2, self: false, state: 'unreachable', version: null },
    ]);
  });
});
