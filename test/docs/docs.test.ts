/** Verifies the documentation: generated pages match the code, links resolve, and commands succeed. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GENERATED } from '../../scripts/reference.ts';
import { newPlace, ROOT, removePlace, Service, type ServicePlace } from '../e2e/service.ts';

const { PAGES } = (await import(join(ROOT, 'docs/.vitepress/pages.mjs'))) as {
  readonly PAGES: readonly {
    readonly title: string;
    readonly path: string;
    readonly file: string;
  }[];
};
const { performancePage, readResults } = (await import(join(ROOT, 'scripts/performance.mjs'))) as {
  performancePage(results: unknown): {
    readonly text: string;
    readonly plots: ReadonlyMap<string, string>;
  };
  readResults(): unknown;
};

const folder = mkdtempSync(join(tmpdir(), 'carillon-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const markdownIn = (place: string): readonly string[] =>
  readdirSync(join(ROOT, place), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !/node_modules|^(index|README)\.md$/.test(name))
    .map((name) => `${place}/${name}`);

describe('generated pages', () => {
  it.each(GENERATED)('%s matches the code (node scripts/reference.ts)', async (file, text) => {
    expect(read(file)).toBe(await text());
  });

  it('docs/performance.md matches bench/results (node scripts/performance.mjs)', () => {
    const { text, plots } = performancePage(readResults());
    expect(read('docs/performance.md')).toBe(text);
    for (const [name, svg] of plots) expect(read(`docs/performance/${name}`)).toBe(svg);
    expect(readdirSync(join(ROOT, 'docs/performance')).sort()).toEqual([...plots.keys()].sort());
  });
});

describe('the site', () => {
  const built = join(ROOT, 'build/docs');
  beforeAll(() => {
    const build = [join(ROOT, 'scripts/docs.mjs'), '--if-stale'];
    const { status, stderr } = spawnSync(process.execPath, build, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  }, 600_000);

  it('lists every page of docs/ in its sidebar', () => {
    const listed = new Set(PAGES.map(({ file }) => file));
    expect(markdownIn('docs').filter((file) => !listed.has(file))).toEqual([]);
    expect(new Set(PAGES.map(({ path }) => path)).size).toBe(PAGES.length);
  });

  it('links only to pages and headings that exist', () => {
    const pages = new Map(
      readdirSync(built, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.html'))
        .map((name) => [name.replace(/\.html$/, ''), readFileSync(join(built, name), 'utf8')]),
    );
    expect(pages.size).toBeGreaterThan(PAGES.length);
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
    for (const { title, path } of PAGES)
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

/** Files with ```sh run blocks. Each block must run as written, in order, with a running service. */
const FILES = markdownIn('docs').filter((file) => /^```sh run$/m.test(read(file)));

describe('the commands', () => {
  let place: ServicePlace;
  let service: Service;
  const work = join(folder, 'work');
  const bin = join(folder, 'bin');
  beforeAll(async () => {
    place = await newPlace({
      CARILLON_SIP_TLS_PORT: '0',
      CARILLON_SIP_WS_PORT: '0',
      CARILLON_SIP_WSS_PORT: '0',
    });
    service = await Service.start(place);
    for (const path of [work, bin]) mkdirSync(path);
    symlinkSync(place.dataDir, join(work, 'data'));
    // Replaces the programs that npm and npx would find in the project's folder, to avoid an installation.
    const script = (name: string, lines: string): void => {
      writeFileSync(join(bin, name), `#!/bin/sh\n${lines}\n`);
      chmodSync(join(bin, name), 0o755);
    };
    script(
      'npx',
      `program=$1; shift; case $program in node) exec ${process.execPath} "$@";; carillon) exec ${process.execPath} ${ROOT}/bin/carillon.mjs "$@";; esac; exit 9`,
    );
    script('npm', `[ "$2" = call ] && exec ${process.execPath} ${ROOT}/src/phone/main.ts; exit 9`);
  });
  afterAll(async () => {
    await service.kill();
    removePlace(place);
  });

  it('run next to a recording that the service delivers', async () => {
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

  it.each(FILES)('of %s succeed', (file) => {
    const text = read(file);
    const blocks = [...text.matchAll(/^```sh run\n([\s\S]*?)^```$/gm)].map(
      ([, block = '']) => block,
    );
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) {
      const script = block.replaceAll('http://127.0.0.1:8080', service.baseUrl);
      const { status, stdout, stderr } = spawnSync(
        'bash',
        ['--norc', '-euo', 'pipefail', '-c', script],
        {
          cwd: work,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'pipe'],
          env: { ...place.environment, PATH: `${bin}:${process.env['PATH']}`, HOME: folder },
        },
      );
      expect([block, status, status === 0 ? '' : stdout + stderr]).toEqual([block, 0, '']);
    }
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
