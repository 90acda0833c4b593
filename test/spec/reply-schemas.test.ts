import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/edge/rest/routes.ts';
import { type Service, startService } from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

describe('routes and their schemas', () => {
  it('fail every test in this folder if a handler violates its reply schema', async () => {
    const proper = service.ledger.referenceTypes;
    service.ledger.referenceTypes = async () => [42 as never];
    const reply = await service.get(`${service.root}/transactions/reference-types`);
    service.ledger.referenceTypes = proper;
    expect(reply.status).toBe(500);
  });

  it('define a reply schema, a content type, or no body', () => {
    for (const route of ROUTES) {
      const described =
        route.reply !== undefined || route.produces !== undefined || route.status === 204;
      expect(described, `${route.method} ${route.path}`).toBe(true);
    }
  });

  it('describe every path parameter, and appear once', () => {
    const names = ROUTES.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('answer missing credentials with 401 and another account with 403', async () => {
    const outsider = await service.addAccount({ name: 'Stranger' });
    for (const route of ROUTES) {
      const ofAccount = route.audience === 'account' || route.audience === 'accountOrAccessToken';
      if (!ofAccount) continue;
      const url = route.path
        .replace('{auth_id}', service.account.authId)
        .replaceAll(/\{\w+\}/g, '14155550100');
      const nobody = await service.send(route.method, url, { as: null });
      expect(nobody.status, `${route.method} ${url}`).toBe(401);
      const other = await service.send(route.method, url, { as: outsider });
      expect(other.status, `${route.method} ${url}`).toBe(403);
    }
  });

  it('refuse sub-accounts with 403 on main-account resources', async () => {
    const sub = await service.addSubAccount();
    const ours = ROUTES.filter(({ mainAccountOnly }) => mainAccountOnly);
    expect(new Set(ours.map(({ tag }) => tag))).toEqual(
      new Set([
        'Account',
        'Numbers',
        'Trunks',
        'Recordings',
        'Conferences',
        'Multi-party calls',
        'Sub-accounts',
        'Ledger',
        'Campaigns',
      ]),
    );
    for (const route of ours) {
      const url = route.path.replace('{auth_id}', sub.authId).replaceAll(/\{\w+\}/g, '14155550100');
      const reply = await service.send(route.method, url, { as: sub });
      expect(reply.status, `${route.method} ${url}`).toBe(403);
    }
  });

  it('refuse account credentials on every operator route', async () => {
    for (const route of ROUTES.filter(({ audience }) => audience === 'admin')) {
      const url = route.path.replaceAll(/\{\w+\}/g, 'x');
      const reply = await service.send(route.method, url);
      expect(reply.status, `${route.method} ${url}`).toBe(401);
    }
  });
});
