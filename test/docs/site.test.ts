/** Builds the documentation site and checks its pages, links and delivery. Only with `npm run test:all`: the build takes a minute. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPlace, ROOT, removePlace, Service, type ServicePlace } from '../e2e/service.ts';
import { SITE_PAGES } from './pages.ts';

const built = join(ROOT, 'build/docs');
beforeAll(() => {
  const build = [join(ROOT, 'scripts/docs.mjs'), '--if-stale'];
  const { status, stderr } = spawnSync(process.execPath, build, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
}, 600_000);

describe('the site', () => {
  it('links only to pages and headings that exist', () => {
    const pages = new Map(
      readdirSync(built, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.html'))
        .map((name) => [name.replace(/\.html$/, ''), readFileSync(join(built, name), 'utf8')]),
    );
    expect(pages.size).toBeGreaterThan(SITE_PAGES.length);
    const dead: string[] = [];
    for (const [from, text] of pages) {
      for (const [, name = '', part] of text.matchAll(
        /href="\/docs\/guide\/([\w/-]*)(?:#([^"]+))?"/g,
      )) {
        const target = pages.get(name === '' ? 'index' : name);
        const exists =
          target !== undefined && (part === undefined || target.includes(`id="${part}"`));
        if (!exists) dead.push(`${from} → ${name}#${part ?? ''}`);
      }
    }
    expect(dead).toEqual([]);
    expect(pages.get('reference/xml')).toContain('id="getinput"');
  });

  it('has an index and a full text for language models', () => {
    const index = readFileSync(join(built, 'llms.txt'), 'utf8');
    const whole = readFileSync(join(built, 'llms-full.txt'), 'utf8');
    for (const { title, path } of SITE_PAGES)
      expect(index).toContain(`[${title}](/docs/guide/${path}): `);
    expect(whole).toContain('# Answer XML');
  });

  it('loads nothing from other hosts', () => {
    for (const name of readdirSync(built, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(html|css)$/.test(name)) continue;
      const text = readFileSync(join(built, name), 'utf8');
      expect([
        name,
        text.match(/(?:src|<link[^>]+href)="https?:[^"]+"|url\(["']?https?:/g),
      ]).toEqual([name, null]);
    }
  });
});

describe('the service', () => {
  let place: ServicePlace;
  let service: Service;
  beforeAll(async () => {
    place = await newPlace();
    service = await Service.start(place);
  });
  afterAll(async () => {
    await service.kill();
    removePlace(place);
  });

  it('delivers the recording of a page', async () => {
    const page = readFileSync(join(ROOT, 'build/docs/guides/bots.html'), 'utf8');
    const [, source = ''] = /<audio [^>]*><source src="([^"]+\.mp3)"/.exec(page) ?? [];
    const reply = await fetch(`${service.baseUrl}${source}`);
    expect(reply.headers.get('content-type')).toBe('audio/mpeg');
    const { byteLength } = await reply.arrayBuffer();
    expect(byteLength).toBeGreaterThan(50_000);
    expect(byteLength).toBeLessThan(300_000);
    const html = await fetch(`${service.baseUrl}/docs/guide/guides/bots`);
    expect(html.headers.get('content-security-policy')).toContain("media-src 'self'");
  });

  it('serves the built site with a policy that allows its own scripts', async () => {
    const reply = await fetch(`${service.baseUrl}/docs/guide/reference/xml`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toContain('text/html');
    expect(reply.headers.get('content-security-policy')).toMatch(/script-src 'self' 'sha256-/);
    const text = await reply.text();
    expect(text).toContain('Answer XML');
    const [, script = ''] =
      /<script type="module" src="(\/docs\/guide\/assets\/app[^"]+)"/.exec(text) ?? [];
    expect((await fetch(service.baseUrl + script)).headers.get('content-type')).toContain(
      'javascript',
    );
    expect((await fetch(`${service.baseUrl}/docs/guide`)).status).toBe(200);
    for (const path of [
      'nowhere',
      '..%2fpackage',
      'assets/..%2f..%2f..%2fpackage.json',
      '.carillon-stamp',
    ])
      expect([path, (await fetch(`${service.baseUrl}/docs/guide/${path}`)).status]).toEqual([
        path,
        404,
      ]);
  });
});
