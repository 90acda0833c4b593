/** The browser phone: a test page, and the module that customers' pages import. The setup builds both. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from '../../../base/result.ts';
import { publicRoute, type RawReply, type Route } from '../http/route.ts';
import { PHONE_POLICY } from '../http/security-headers.ts';

const BUILT = join(import.meta.dirname, '../../../../build/web');
const common = { method: 'GET', tag: 'Phone', errors: 'plain' } as const;

/** Reads the file on first use; it changes only with the next setup. */
function once(file: string): () => string {
  let text: string | undefined;
  return () => {
    text ??= readFileSync(join(BUILT, file), 'utf8');
    return text;
  };
}

const page = once('page.html');
const pageScript = once('page.js');
const sdk = once('phone.js');
const types = once('phone.d.ts');

const script = (text: string, headers: Readonly<Record<string, string>> = {}): RawReply => ({
  contentType: 'text/javascript; charset=utf-8',
  headers: { 'cache-control': 'no-cache', ...headers },
  body: text,
});

export const phoneRoutes: readonly Route[] = [
  publicRoute({
    ...common,
    path: '/phone',
    produces: 'text/html',
    summary: 'Show a browser phone for test calls',
    run: ({ settings }) =>
      ok({
        contentType: 'text/html; charset=utf-8',
        headers: { 'content-security-policy': PHONE_POLICY },
        body: page().replace('{{domain}}', escaped(settings.registrarHost)),
      }),
  }),
  publicRoute({
    ...common,
    path: '/phone-page.js',
    produces: 'text/javascript',
    summary: 'Get the script of the phone page',
    run: () => ok(script(pageScript())),
  }),
  publicRoute({
    ...common,
    path: '/phone.js',
    produces: 'text/javascript',
    summary: "Get the phone as an ES module, for customers' web pages",
    // Customers' pages have other origins, and the module contains no secrets.
    run: () => ok(script(sdk(), { 'access-control-allow-origin': '*' })),
  }),
  publicRoute({
    ...common,
    path: '/phone.d.ts',
    produces: 'application/typescript',
    summary: 'Get the TypeScript types of /phone.js',
    run: () =>
      ok({
        contentType: 'application/typescript; charset=utf-8',
        headers: { 'cache-control': 'no-cache', 'access-control-allow-origin': '*' },
        body: types(),
      }),
  }),
];

const escaped = (text: string): string => text.replace(/[^\w.:-]/g, '');
