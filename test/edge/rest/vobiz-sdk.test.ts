/**
 * The requests of Vobiz client libraries. `vobiz-operations.txt` lists the requests in the source of its Python library
 * (2026-07-20), one per line. Each has a route here, except vendor-specific ones.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { canonicalPath, pathPattern } from '../../../src/edge/rest/http/url.ts';
import { ROUTES } from '../../../src/edge/rest/routes.ts';
import { startService } from '../../spec/service.ts';

const OPERATIONS = readFileSync(join(import.meta.dirname, 'vobiz-operations.txt'), 'utf8')
  .trim()
  .split('\n');
/** Identity checks, purchased channels, and customers of partners. */
const NOT_OFFERED =
  /kyc|channel-(pricing|subscriptions)|\/partner\/(me|dashboard|accounts)$|\/(cdrs|numbers|transactions|transfer-balance)$/;

const patterns = ROUTES.map(({ method, path }) => ({ method, pattern: pathPattern(method, path) }));

/** Replaces each parameter of a path with a value. */
const filled = (path: string): string =>
  path
    .replaceAll(/\{\w*auth_id\}/g, 'MA_0123456789ABCDEFG')
    .replaceAll(/\{\w*(uuid|_id|id)\}/g, '7f0cf0f6-0f4b-4f0e-8f57-000000000001')
    .replaceAll(/\{\w+\}/g, '14155550100');

function isOffered(operation: string): boolean {
  const [method = '', path = ''] = operation.split(' ');
  const requested = canonicalPath(method, filled(path));
  return patterns.some((route) => route.method === method && route.pattern.test(requested));
}

it('each have a route, except vendor-specific ones', () => {
  expect(OPERATIONS.length).toBe(114);
  const missing = OPERATIONS.filter((operation) => !isOffered(operation));
  expect(missing.filter((operation) => !NOT_OFFERED.test(operation))).toEqual([]);
  expect(missing).toHaveLength(30);
});

it('assigns a number to a sub-account and unassigns it', async () => {
  const service = await startService();
  try {
    const { authId } = service.account;
    const number = { e164: '14155550199', country: 'US', currency: 'USD', account_id: authId };
    await service.admin('POST', '/numbers', number);
    const sub = await service.addSubAccount();
    const one = `/api/v1/account/${authId}/numbers/%2B14155550199/assign-subaccount`;
    const owner = async (): Promise<unknown> =>
      (await service.get(`${service.root}/numbers/%2B14155550199`)).body.sub_account_id;
    expect((await service.post(one, { sub_account_id: sub.authId })).status).toBe(204);
    expect(await owner()).toBe(sub.authId);
    expect((await service.send('DELETE', `${one}?force=true`)).status).toBe(204);
    expect(await owner()).toBeFalsy();
  } finally {
    await service.stop();
  }
});
