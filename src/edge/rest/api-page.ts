/** The API page: Swagger UI for the OpenAPI document. The setup copies its files from the package `swagger-ui-dist`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok } from '../../base/result.ts';
import { failure } from './http/failure.ts';
import { publicRoute, type Route } from './http/route.ts';
import { Type } from './http/schema.ts';
import { API_PAGE_POLICY } from './http/security-headers.ts';

const BUILT = join(import.meta.dirname, '../../../build/web/api');

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'init.js': 'text/javascript; charset=utf-8',
};

/** Returns the HTML of the page. `document`: path of the OpenAPI document to show. */
export const apiPage = (document: string) => ({
  contentType: 'text/html; charset=utf-8',
  headers: { 'content-security-policy': API_PAGE_POLICY },
  body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>REST API · Carillon</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/docs/api/swagger-ui.css"></head>
<body><div id="api" data-document="${document}"></div>
<noscript>This page needs JavaScript. The API is also described at <a href="${document}">${document}</a>.</noscript>
<script src="/docs/api/swagger-ui-bundle.js"></script><script type="module" src="/docs/api/init.js"></script></body></html>`,
});

const files = new Map<string, string>();

function read(name: string): string | undefined {
  try {
    const text = files.get(name) ?? readFileSync(join(BUILT, name), 'utf8');
    files.set(name, text);
    return text;
  } catch {
    return undefined;
  }
}

export const apiPageFileRoute: Route = publicRoute({
  method: 'GET',
  tag: 'Documentation',
  errors: 'plain',
  produces: 'text/javascript',
  path: '/docs/api/{file}',
  summary: 'Get a script or style of the API page',
  params: Type.Object({ file: Type.String() }),
  run: (_needs, { params }) => {
    const contentType = CONTENT_TYPES[params.file];
    const body = contentType === undefined ? undefined : read(params.file);
    if (contentType === undefined || body === undefined) return err(failure(404, 'no such file'));
    return ok({ contentType, headers: { 'cache-control': 'no-cache' }, body });
  },
});
