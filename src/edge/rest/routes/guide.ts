/** Serves the documentation site that `scripts/docs.mjs` builds from docs/. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok } from '../../../base/result.ts';
import { failure } from '../http/failure.ts';
import { publicRoute, type Route } from '../http/route.ts';
import { Type } from '../http/schema.ts';

const BUILT = join(import.meta.dirname, '../../../../build/docs');
const common = {
  method: 'GET',
  tag: 'Documentation',
  errors: 'plain',
  produces: 'text/html',
} as const;

/** Names of files and folders that the site generator writes. Excludes `..` and hidden files. */
const NAME = /^[\w@~-][\w@.~-]{0,120}$/;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  mp3: 'audio/mpeg',
  woff2: 'font/woff2',
  txt: 'text/plain; charset=utf-8',
};

/** The first start builds the site in the background; the page reloads until the site exists. */
const PENDING = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5">
<title>Documentation · Carillon</title></head><body><h1>Documentation</h1>
<p>The documentation site is being built. This page reloads automatically. To build it now, run <code>npm run docs</code>.</p>
<p>The same pages are in the folder <code>docs</code>. The REST API is described at <a href="/docs">/docs</a>.</p></body></html>`;

/**
 * Policy of one page: scripts of this origin, and the inline scripts that the page itself contains, by hash. Diagrams and syntax
 * highlighting use inline styles.
 */
function policy(html: string): string {
  const inline = [...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)];
  const hashes = inline.map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return `default-src 'none'; script-src 'self' ${hashes.join(' ')}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

/** One file of the site. A path without an extension is a page. */
async function file(parts: readonly string[]) {
  const last = parts.at(-1) ?? '';
  if (!parts.every((part) => NAME.test(part) && !part.includes('..'))) return notFoundPage();
  const extension = /\.(\w+)$/.exec(last)?.[1];
  const path = join(BUILT, ...parts) + (extension === undefined ? '.html' : '');
  const contentType = CONTENT_TYPES[extension ?? 'html'];
  const body = await read(path);
  if (contentType === undefined || body === undefined) return notFoundPage();
  if (contentType.startsWith('text/html')) return page(body.toString('utf8'));
  // Names in `assets` contain a hash of the content.
  const cache = parts[0] === 'assets' ? 'public, max-age=31536000, immutable' : 'no-cache';
  return ok({ contentType, headers: { 'cache-control': cache }, body });
}

const page = (html: string, status = 200) =>
  ok({
    contentType: 'text/html; charset=utf-8',
    status,
    headers: { 'content-security-policy': policy(html), 'cache-control': 'no-cache' },
    body: html,
  });

const read = (path: string): Promise<Buffer | undefined> => readFile(path).catch(() => undefined);

async function notFoundPage() {
  const html = await read(join(BUILT, '404.html'));
  if (html === undefined) return err(failure(404, 'no such page'));
  return page(html.toString('utf8'), 404);
}

async function home() {
  const html = await read(join(BUILT, 'index.html'));
  return page(html?.toString('utf8') ?? PENDING);
}

export const guideRoutes: readonly Route[] = [
  publicRoute({
    ...common,
    path: '/docs/guide',
    summary: 'Documentation site',
    run: home,
  }),
  publicRoute({
    ...common,
    path: '/docs/guide/{page}',
    summary: 'Page of the documentation',
    params: Type.Object({ page: Type.String() }),
    run: (_needs, { params }) => file([params.page]),
  }),
  publicRoute({
    ...common,
    path: '/docs/guide/{section}/{page}',
    summary: 'Page or file of the documentation',
    params: Type.Object({ section: Type.String(), page: Type.String() }),
    run: (_needs, { params }) => file([params.section, params.page]),
  }),
  publicRoute({
    ...common,
    path: '/docs/guide/{section}/{folder}/{page}',
    summary: 'File of the documentation',
    params: Type.Object({ section: Type.String(), folder: Type.String(), page: Type.String() }),
    run: (_needs, { params }) => file([params.section, params.folder, params.page]),
  }),
];
