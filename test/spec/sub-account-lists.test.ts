/** Lists of a sub-account: `next` and `previous` lead to pages of the same list, and `resource_uri` to the object. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asCallUuid } from '../../src/base/ids.ts';
import { aCdr } from '../edge/store/records.ts';
import { type Credentials, type Service, startService } from './service.ts';

let service: Service;
let sub: Credentials;
let root: string;
const uuid = (n: number): string => `7f0cf0f6-0f4b-4f0e-8f57-${String(n).padStart(12, '0')}`;

beforeAll(async () => {
  service = await startService();
  sub = await service.addSubAccount();
  root = `/api/v1/Account/${sub.authId}`;
  for (const [n, as] of [sub, service.account, sub, sub].entries()) {
    const path = `/api/v1/Account/${as.authId}`;
    const app = { app_name: `app${n}`, answer_url: 'https://a.example/x' };
    expect((await service.post(`${path}/Application/`, app, { as })).status).toBe(201);
    const endpoint = { username: `user${n}`, alias: `user${n}`, password: 'password-1' };
    expect((await service.post(`${path}/Endpoint/`, endpoint, { as })).status).toBe(201);
    const cdr = aCdr({
      callUuid: asCallUuid(uuid(n)),
      accountId: service.account.authId,
      subAccount: as === sub ? sub.authId : undefined,
    });
    await service.store.calls.settle({ cdr, entries: [], notification: undefined });
  }
});
afterAll(() => service.stop());

it.each([['Application'], ['Endpoint'], ['Call']])('%s', async (kind) => {
  for (const as of [sub, service.account]) {
    const first = await service.get(`${root}/${kind}/?limit=2`, { as });
    expect(first.body.meta, first.text).toMatchObject({ total_count: 3, previous: null });
    const second = await service.get(`/api${first.body.meta.next}`, { as });
    expect(second.status, first.body.meta.next).toBe(200);
    expect(second.body.meta).toMatchObject({ total_count: 3, next: null });
    for (const { resource_uri: uri } of first.body.objects) {
      expect((await service.get(`/api${uri}`, { as })).status, uri).toBe(200);
    }
    const back = await service.get(`/api${second.body.meta.previous}`, { as });
    expect(back.body.objects).toEqual(first.body.objects);
  }
});
