/** Tests that every listed filter works and that unknown ones are rejected instead of ignored. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wallUs } from '../../src/base/clock.ts';
import { asCallUuid, asRecordingId } from '../../src/base/ids.ts';
import type { Cdr } from '../../src/domain/cdr/types.ts';
import { ROUTES } from '../../src/edge/rest/routes.ts';
import { aCdr, START_US } from '../edge/store/records.ts';
import { aLiveCall } from './fake-control.ts';
import { type Service, startService } from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const SECOND = 1_000_000;
const uuid = (n: number): string => `7f0cf0f6-0f4b-4f0e-8f57-${String(n).padStart(12, '0')}`;

/** Creates five calls of a second account. Call `n` ends at 00:0n:00 and was answered for `n` × 10 seconds. */
async function fiveCalls() {
  const owner = await service.addAccount({ name: 'Filters' });
  for (const n of [1, 2, 3, 4, 5]) {
    const endUs = START_US + n * 60 * SECOND;
    const over: Partial<Cdr> = {
      callUuid: asCallUuid(uuid(n)),
      accountId: owner.authId,
      from: `1415555010${n}`,
      endUs,
      answerUs: endUs - n * 10 * SECOND,
    };
    await service.store.calls.settle({ cdr: aCdr(over), entries: [], notification: undefined });
  }
  return async (query: string): Promise<readonly number[]> => {
    const reply = await service.get(`/api/v1/Account/${owner.authId}/Call/?${query}`, {
      as: owner,
    });
    expect(reply.status, query).toBe(200);
    return reply.body.objects.map((call: { call_uuid: string }) =>
      Number(call.call_uuid.slice(-1)),
    );
  };
}

describe('GET Call/', () => {
  it('combines end_time and bill_duration in all their forms', async () => {
    const calls = await fiveCalls();
    const day = (time: string): string => encodeURIComponent(`2026-01-01 ${time}`);
    expect(await calls(`end_time__gt=${day('00:03:00')}`)).toEqual([5, 4]);
    expect(await calls(`end_time__gte=${day('00:03:00')}`)).toEqual([5, 4, 3]);
    expect(await calls(`end_time__lt=${day('00:03:00')}`)).toEqual([2, 1]);
    expect(await calls(`end_time__lte=${day('00:03')}`)).toEqual([3, 2, 1]);
    expect(await calls(`end_time=${day('00:03:00')}`)).toEqual([3]);
    expect(await calls('end_time=2026-01-01')).toEqual([5, 4, 3, 2, 1]);
    expect(await calls('end_time__gt=2026-01-02')).toEqual([]);
    const window = `end_time__gt=${day('00:01:00')}&end_time__lt=${day('00:05:00')}`;
    expect(await calls(window)).toEqual([4, 3, 2]);
    expect(await calls('bill_duration=30')).toEqual([3]);
    expect(await calls('bill_duration__gt=30')).toEqual([5, 4]);
    expect(await calls('bill_duration__gte=30&bill_duration__lt=50')).toEqual([4, 3]);
    expect(await calls('bill_duration__lte=20')).toEqual([2, 1]);
    expect(await calls(`${window}&bill_duration__gte=30`)).toEqual([4, 3]);
  });

  it('refuses an invalid UUID with 400 and accepts capitals', async () => {
    const calls = await fiveCalls();
    expect(await calls(`parent_call_uuid=${uuid(1).toUpperCase()}`)).toEqual([]);
    const { root } = service;
    const refused = [
      [`${root}/Call/`, 'parent_call_uuid'],
      ...['call_uuid', 'conference_uuid', 'mpc_uuid'].map((name) => [`${root}/Recording/`, name]),
    ];
    for (const [path, name] of refused as [string, string][]) {
      for (const wrong of ['1', 'not-a-uuid', `${uuid(1)}0`, '']) {
        const reply = await service.get(`${path}?${name}=${wrong}`);
        expect([name, wrong, reply.status]).toEqual([name, wrong, 400]);
        expect(reply.text).toContain(name);
      }
      expect((await service.get(`${path}?${name}=${uuid(1)}`)).status).toBe(200);
    }
  });

  it('applies filters to live calls, and refuses those for finished calls with 400', async () => {
    const { authId: accountId } = service.account;
    service.control.calls = [
      aLiveCall({
        accountId,
        callUuid: asCallUuid(uuid(1)),
        from: '14155550100',
        direction: 'inbound',
      }),
      aLiveCall({ accountId, callUuid: asCallUuid(uuid(2)), from: '14155550109' }),
    ];
    const live = async (query: string) =>
      (await service.get(`${service.root}/Call/?status=live&${query}`)).body.calls;
    expect(await live('')).toEqual([uuid(1), uuid(2)]);
    for (const written of [
      '14155550109',
      '%2B14155550109',
      '+14155550109',
      '%2B1%20415-555-0109',
    ]) {
      expect(await live(`from_number=${written}`)).toEqual([uuid(2)]);
    }
    expect(await live('call_direction=inbound')).toEqual([uuid(1)]);
    expect(await live('limit=1&offset=1')).toEqual([uuid(2)]);
    const unfit = await service.get(`${service.root}/Call/?status=live&bill_duration__gt=1`);
    expect(unfit.status).toBe(400);
    expect(unfit.body.details).toHaveProperty(['bill_duration__gt']);
    service.control.calls = [];
  });
});

describe('invalid filters', () => {
  const refused = async (path: string) => {
    const reply = await service.get(service.root + path);
    expect(reply.status, path).toBe(400);
    return JSON.stringify(reply.body);
  };

  it('names a malformed one', async () => {
    expect(await refused('/Call/?end_time__gte=yesterday')).toContain('end_time__gte');
    expect(await refused('/Call/?bill_duration__lt=long')).toContain('bill_duration__lt');
    expect(await refused('/Call/?hangup_cause_code=busy')).toContain('hangup_cause_code');
    expect(await refused('/Recording/?add_time__lt=now')).toContain('add_time__lt');
    const days = '/Recording/?recording_storage_duration__gt=many';
    expect(await refused(days)).toContain('recording_storage_duration__gt');
    expect(await refused('/Endpoint/?limit=all')).toContain('limit');
  });

  it('lists the allowed words for a wrong one', async () => {
    expect(await refused('/Call/?call_direction=sideways')).toContain('one of inbound, outbound');
    expect(await refused('/Call/?status=dead')).toContain('one of live, queued');
  });

  it('names an unknown one in every list; the transactions list ignores it (spec: rule 2)', async () => {
    const { authId } = service.account;
    const lists = ROUTES.filter(
      (route) =>
        route.method === 'GET' &&
        route.query !== undefined &&
        route.audience !== 'link' &&
        // test/spec/console covers the lists that need a session.
        route.audience !== 'user' &&
        !route.path.includes('call_uuid'),
    );
    expect(lists.length).toBeGreaterThan(20);
    for (const route of lists) {
      const path = route.path.replace('{auth_id}', authId);
      const headers = { authorization: 'Bearer operator-token' };
      const reply = await service.get(
        `${path}?colour=red`,
        route.audience === 'admin' ? { as: null, headers } : {},
      );
      if (route.dropsUnknownQuery) {
        expect(reply.status, path).toBe(200);
        continue;
      }
      expect(reply.status, path).toBe(400);
      expect(reply.text).toContain('colour');
    }
  });

  it('refuses a repeated one with 400 on every route', async () => {
    for (const path of [
      '/Endpoint/?limit=1&limit=2',
      '/transactions?page=1&page=2',
      '/cdr?page=1&page=1',
    ]) {
      expect(await refused(path)).toContain('more than once');
    }
  });

  it("refuses another sub-account's objects for a sub-account", async () => {
    const sub = await service.addSubAccount();
    for (const [list, name] of [
      ['Call', 'subaccount'],
      ['Application', 'subaccount'],
      ['Recording', 'subaccount'],
      ['Endpoint', 'sub_account'],
      ['cdr', 'sub_account'],
    ]) {
      const path = `/api/v1/Account/${sub.authId}/${list}?${name}=SA_XXXXXXXXXXXXXXXXX`;
      const reply = await service.get(path.replace('Call?', 'Call/?'), { as: sub });
      expect(reply.status, path).toBe(400);
      expect(reply.text).toContain(name);
    }
  });
});

describe('integers of queries', () => {
  /** A database refuses an integer beyond 64 bits with an error. */
  it('have a maximum on every route', () => {
    const unbounded = ROUTES.flatMap(({ method, path, query }) => {
      const { properties = {} } = (query ?? {}) as {
        readonly properties?: Readonly<Record<string, { type?: unknown; maximum?: number }>>;
      };
      return Object.entries(properties)
        .filter(([, { type, maximum }]) => type === 'integer' && maximum === undefined)
        .map(([name]) => `${method} ${path} ${name}`);
    });
    expect(unbounded).toEqual([]);
  });
});

describe('recordings', () => {
  it('accept a single bound of days or time, and combine both', async () => {
    const { recordings } = service.store;
    const nowUs = wallUs(service.clock);
    const daysAgo = (days: number): number => nowUs - days * 86_400 * SECOND - SECOND;
    for (const days of [0, 3, 10]) {
      await recordings.insert({
        recordingId: asRecordingId(uuid(days)),
        accountId: service.account.authId,
        subAccount: undefined,
        callUuid: undefined,
        conferenceName: undefined,
        conferenceUuid: undefined,
        fromNumber: '',
        toNumber: '',
        format: 'mp3',
        type: 'call',
        status: 'ready',
        file: 'x',
        bytes: 1,
        durationMs: 1,
        startUs: undefined,
        endUs: undefined,
        addedUs: daysAgo(days),
        pendingCharges: undefined,
      });
    }
    const found = async (query: string) =>
      (await service.get(`${service.root}/Recording/?${query}`)).body.objects.map(
        (one: { recording_id: string }) => Number(one.recording_id.slice(-2)),
      );
    expect(await found('recording_storage_duration__gte=3')).toEqual([3, 10]);
    expect(await found('recording_storage_duration__lt=10')).toEqual([0, 3]);
    expect(await found('recording_storage_duration=3')).toEqual([3]);
    const since = new Date(daysAgo(4) / 1000).toISOString();
    expect(await found(`recording_storage_duration__gt=0&add_time__gt=${since}`)).toEqual([3]);
  });
});

describe('bodies', () => {
  it('refuse text instead of a list, a long name and a misspelled filter with 400', async () => {
    const exporting = { recipient: { customer_account: 'ada@example.com' } };
    const text = await service.post(`${service.root}/export/recording/`, exporting);
    expect([text.status, text.body.status]).toEqual([400, 'failure']);
    expect(text.body.message).toContain('must be a list');
    const typo = await service.post(`${service.root}/export/recording/`, {
      recipient: { customer_account: ['ada@example.com'] },
      from_numbr: '14155550100',
    });
    expect(typo.status).toBe(400);
    expect(typo.body.message).toContain('from_numbr');
    const long = await service.post(`${service.root}/Application/`, {
      app_name: 'x'.repeat(201),
      answer_url: `https://a.example/${'x'.repeat(2048)}`,
    });
    expect(long.status).toBe(400);
    expect(long.body.details).toEqual({
      app_name: 'must have at most 200 characters',
      answer_url: 'must have at most 2048 characters',
    });
  });

  it('refuse an empty filter of a bulk deletion and delete nothing', async () => {
    const { recordings } = service.store;
    const before = await recordings.page(
      { accountId: service.account.authId },
      { limit: 1, offset: 0 },
    );
    // A recording of a conference has no numbers, so that an empty filter matches it.
    expect(before.total).toBeGreaterThan(0);
    const url = `${service.root}/Recording/BulkDelete/`;
    for (const reply of [
      await service.send('DELETE', `${url}?from_number=`),
      await service.send('DELETE', url, { body: { from_number: '' } }),
      await service.send('DELETE', url, { body: { to_number: null, recording_format: 'mp3' } }),
    ]) {
      expect(reply.status, reply.text).toBe(400);
      expect(reply.text).toContain('must not be empty');
    }
    const after = await recordings.page(
      { accountId: service.account.authId },
      { limit: 1, offset: 0 },
    );
    expect(after.total).toBe(before.total);
  });

  it('refuse an unknown filter of a bulk deletion and delete nothing', async () => {
    const url = `${service.root}/Recording/BulkDelete/`;
    for (const reply of [
      await service.send('DELETE', `${url}?call_uid=1`),
      await service.send('DELETE', url, { body: { recording_format: 'mp3', call_uid: '1' } }),
    ]) {
      expect(reply.status).toBe(400);
      expect(reply.body.details).toHaveProperty('call_uid');
    }
  });
});
