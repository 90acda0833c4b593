/** The documentation, as the set-up has made it from docs/. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok } from '../../../base/result.ts';
import { failure } from '../http/failure.ts';
import { publicRoute, type Route } from '../http/route.ts';
import { Type } from '../http/schema.ts';
import { PAGE_POLICY } from '../http/security-headers.ts';

const BUILT = join(import.meta.dirname, '../../../../build/docs');
const common = {
  method: 'GET',
  tag: 'Documentation',
  errors: 'plain',
  produces: 'text/html',
} as const;
const NAME = /^[a-z-]{1,40}$/;

async function page(name: string) {
  if (!NAME.test(name)) return err(failure(404, 'no such page'));
  try {
    return ok({
      contentType: 'text/html; charset=utf-8',
      headers: { 'content-security-policy': PAGE_POLICY, 'cache-control': 'no-cache' },
      body: await readFile(join(BUILT, `${name}.html`), 'utf8'),
    });
  } catch {
    return err(failure(404, 'no such page; the set-up makes them: npm run build'));
  }
}

export const guideRoutes: readonly Route[] = [
  publicRoute({
    ...common,
    path: '/docs/guide',
    summary: 'The documentation',
    run: () => page('index'),
  }),
  publicRoute({
    ...common,
    path: '/docs/guide/{page}',
    summary: 'A page of the documentation',
    params: Type.Object({ page: Type.String() }),
    run: (_needs, { params }) => page(params.page),
  }),
];
