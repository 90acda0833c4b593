import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkBy, writer } from '../../../src/edge/rest/http/compilers.ts';
import { openApiDocument, operationId } from '../../../src/edge/rest/openapi.ts';
import { ROUTES } from '../../../src/edge/rest/routes.ts';
import { type Service, startService } from '../../spec/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

describe('the API page', () => {
  it('lists every route in one OpenAPI 3.1 document, each with a unique ID', async () => {
    const { body } = await service.get('/openapi.json', { as: null });
    expect(body.openapi).toBe('3.1.0');
    const listed = Object.values<object>(body.paths).flatMap((item) => Object.keys(item)).length;
    expect(listed).toBe(ROUTES.length);
    expect(new Set(ROUTES.map(operationId)).size).toBe(ROUTES.length);
  });

  it('states the authorization and error statuses of each operation', () => {
    const document = openApiDocument(ROUTES, 'http://x') as {
      paths: Record<string, Record<string, { security: object[]; responses: object }>>;
    };
    const credit = document.paths['/admin/v1/accounts/{auth_id}/credit']?.['post'];
    expect(credit?.security).toEqual([{ adminToken: [] }]);
    const statuses = [201, 400, 401, 403, 404, 409, 413, 415, 429, 500, 503, 507].map(String);
    expect(Object.keys(credit?.responses ?? {})).toEqual(statuses);
    const list = document.paths['/api/v1/Account/{auth_id}/transactions']?.['get'];
    expect(list?.security).toContainEqual({ accessToken: [] });
  });

  it('has valid schemas, which are compiled on first use', () => {
    const checked = ROUTES.flatMap(({ params, query, body }) => [params, query, body]);
    const schemas = checked.filter((schema) => schema !== undefined);
    expect(schemas.length).toBeGreaterThan(ROUTES.length);
    for (const schema of schemas) void checkBy({ schema, method: 'GET', url: '/' })({});
    const replies = ROUTES.flatMap(({ reply }) => (reply === undefined ? [] : [reply]));
    for (const schema of replies) expect(() => writer(schema)).not.toThrow();
  });

  it('describes every parameter of every path', () => {
    for (const route of ROUTES) {
      const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const { properties = {} } = (route.params ?? {}) as { properties?: object };
      expect(Object.keys(properties).sort(), route.path).toEqual(inPath.sort());
    }
  });

  it('is a page that loads only from its own host', async () => {
    const page = await service.get('/docs', { as: null });
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.text).not.toMatch(/https?:\/\//);
    const files = [...page.text.matchAll(/(?:src|href)="(\/docs\/api\/[^"]+)"/g)].map(
      ([, url = '']) => url,
    );
    expect(files).toHaveLength(3);
    for (const file of files) expect((await service.get(file, { as: null })).status).toBe(200);
    expect((await service.get('/docs/api/package.json', { as: null })).status).toBe(404);
  });
});
