import { ok } from '../../../base/result.ts';
import { docsPage } from '../docs-page.ts';
import { publicRoute, type Route } from '../http/route.ts';
import { openApiDocument } from '../openapi.ts';

const common = { method: 'GET', tag: 'Documentation', errors: 'plain' } as const;

/** Pages about `routes` and themselves; made once, at the first request. */
export function docsRoutes(routes: readonly Route[]): readonly Route[] {
  let page: string | undefined;
  let document: string | undefined;
  const own: readonly Route[] = [
    publicRoute({
      ...common,
      path: '/docs',
      summary: 'This API as a page',
      produces: 'text/html',
      run() {
        page ??= docsPage([...routes, ...own]);
        return ok({
          contentType: 'text/html; charset=utf-8',
          headers: {
            'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
            'x-content-type-options': 'nosniff',
          },
          body: page,
        });
      },
    }),
    publicRoute({
      ...common,
      path: '/openapi.json',
      summary: 'This API as an OpenAPI 3.1 document',
      produces: 'application/json',
      run({ settings }) {
        document ??= JSON.stringify(openApiDocument([...routes, ...own], settings.publicUrl));
        return ok({ contentType: 'application/json; charset=utf-8', body: document });
      },
    }),
  ];
  return own;
}
