/** `GET …/export/recording/`: list and state of exports. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from './service.ts';

let service: Service;
let root: string;
beforeAll(async () => {
  service = await startService();
  root = `${service.root}/export/recording/`;
});
afterAll(() => service.stop());

const queuedExports = async () => {
  const { recordings, account } = service;
  const filter = { accountId: account.authId, status: 'queued' as const };
  return (await recordings.listExports(filter, { limit: 10, offset: 0 })).items;
};

async function request(): Promise<string> {
  const body = { recipient: { customer_account: ['ada@example.com'] } };
  expect((await service.post(root, body)).status).toBe(202);
  const [job] = await queuedExports();
  if (job === undefined) throw new Error('no export was queued');
  return job.exportId;
}

it('lists exports newest first, with state, progress and the link of finished ones', async () => {
  const { recordings, clock } = service;
  const first = await request();
  expect((await service.get(root)).body.objects).toMatchObject([
    { export_id: first, state: 'queued', progress: 0, link: null, error: null },
  ]);
  await recordings.patchExport(first, { status: 'running', recordings: 5, attempts: 1 });
  expect((await service.get(`${root}${first}/`)).body).toMatchObject({
    state: 'running',
    progress: 99,
    recordings: 5,
  });
  await recordings.patchExport(first, { status: 'done', file: `${first}.zip` });
  await clock.advance(1000);
  const second = await request();
  await recordings.patchExport(second, { status: 'failed', error: 'given up after 3 attempts' });
  const { body } = await service.get(root);
  expect(body.meta).toMatchObject({ total_count: 2, limit: 20, offset: 0 });
  expect(body.objects).toMatchObject([
    { export_id: second, state: 'failed', error: 'given up after 3 attempts', link: null },
    { export_id: first, state: 'done', progress: 100 },
  ]);
  const link = new URL(body.objects[1].link);
  const opened = await service.get(link.pathname + link.search, { as: null });
  // The link is valid, but this test has no archive.
  expect([opened.status, opened.text]).toEqual([404, expect.not.stringContaining('token')]);
  expect((await service.get(`${root}?state=done&limit=1`)).body.objects).toHaveLength(1);
  await clock.advance(9 * 86_400_000);
  expect((await service.get(`${root}${first}/`)).body).toMatchObject({ state: 'done', link: null });
});

it('hides exports from other accounts and sub-accounts', async () => {
  const [{ export_id: id }] = (await service.get(root)).body.objects;
  const other = await service.addAccount({ name: 'Other' });
  const theirs = `/api/v1/Account/${other.authId}/export/recording/`;
  expect((await service.get(theirs, { as: other })).body.objects).toEqual([]);
  expect((await service.get(`${theirs}${id}/`, { as: other })).status).toBe(404);
  const sub = await service.addSubAccount();
  const subs = `/api/v1/Account/${sub.authId}/export/recording/`;
  expect((await service.get(subs, { as: sub })).status).toBe(403);
  expect((await service.get(`${subs}${id}.zip`, { as: sub })).status).toBe(403);
});

it('refuses a link after its account was suspended', async () => {
  const [{ export_id: id }] = (await service.get(root)).body.objects;
  await service.recordings.patchExport(id, { status: 'done', file: `${id}.zip` });
  const { link } = (await service.get(`${root}${id}/`)).body;
  const path = link.slice(link.indexOf('/api/'));
  const open = async () => (await service.get(path, { as: null })).status;
  expect(await open()).toBe(404);
  const status = (value: string) =>
    service.admin('PATCH', `/accounts/${service.account.authId}`, { status: value });
  await status('suspended');
  expect(await open()).toBe(403);
  await status('active');
});

it('with only `to`, exports the seven days before it', async () => {
  const { body } = await service.get(root);
  for (const { export_id: id } of body.objects) {
    await service.recordings.patchExport(id, { status: 'failed' });
  }
  const requested = {
    recipient: { customer_account: ['ada@example.com'] },
    to: '2025-06-15 12:00:00',
  };
  expect((await service.post(root, requested)).status).toBe(202);
  const [newest] = (await service.get(root)).body.objects;
  expect([newest.from, newest.to]).toEqual([
    '2025-06-08T12:00:00.000000Z',
    '2025-06-15T12:00:00.000000Z',
  ]);
});
