/** The documentation: its reference is that of the code, its links lead somewhere, and its commands work. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
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
import { xmlReference } from '../../scripts/xml-reference/page.ts';
import { newPlace, ROOT, removePlace, Service, type ServicePlace } from '../e2e/service.ts';

const { PAGES } = (await import(join(ROOT, 'scripts/docs/pages.mjs'))) as {
  readonly PAGES: readonly { readonly name: string; readonly file?: string }[];
};
const { TITLES } = (await import(join(ROOT, 'scripts/docs/benchmarks.mjs'))) as {
  readonly TITLES: Readonly<Record<string, string>>;
};

const folder = mkdtempSync(join(tmpdir(), 'carillon-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the site', () => {
  it('has every page that is written for users', () => {
    const missing = ['docs', 'deploy', 'deploy/kamailio', 'packages/client'].flatMap((place) =>
      readdirSync(join(ROOT, place))
        .filter((name) => name.endsWith('.md'))
        .map((name) => `${place}/${name}`)
        .filter((file) => !PAGES.some((page) => page.file === file)),
    );
    expect(missing).toEqual([]);
    expect(new Set(PAGES.map(({ name }) => name)).size).toBe(PAGES.length);
  });

  it('reports every benchmark of which there are results', () => {
    const measured = readdirSync(join(ROOT, 'bench/results')).flatMap((name) =>
      readFileSync(join(ROOT, 'bench/results', name), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { readonly bench: string })
        // `attack` and `soak` tell whether it holds, not how fast it is.
        .filter(({ bench }) => !/^(attack|soak)/.test(bench))
        .map(({ bench }) => bench),
    );
    expect([...new Set(measured)].filter((bench) => !(bench in TITLES))).toEqual([]);
  });
});

describe('the pages', () => {
  const built = join(folder, 'pages');
  beforeAll(() => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(ROOT, 'scripts/docs.mjs'), built],
      {
        encoding: 'utf8',
      },
    );
    expect([status, stderr]).toEqual([0, '']);
  });

  it('have the reference that the readers of documents give (scripts/xml-reference.ts writes it)', () => {
    expect(readFileSync(join(ROOT, 'docs/xml.md'), 'utf8')).toBe(xmlReference());
  });

  it('link to pages and headings that there are', () => {
    const pages = new Map(
      readdirSync(built).map((name) => [
        name.replace('.html', ''),
        readFileSync(join(built, name), 'utf8'),
      ]),
    );
    expect(pages.size).toBeGreaterThan(15);
    const dead: string[] = [];
    for (const [from, text] of pages) {
      for (const [, name = '', part] of text.matchAll(
        /href="\/docs\/guide\/([\w-]+)(?:#([\w-]+))?"/g,
      )) {
        const target = pages.get(name);
        const isThere =
          target !== undefined && (part === undefined || target.includes(`id="${part}"`));
        if (!isThere) dead.push(`${from} → ${name}#${part ?? ''}`);
      }
    }
    expect(dead).toEqual([]);
    expect(pages.get('benchmarks')).toContain('<svg');
    expect(pages.get('xml')).toContain('id="getinput"');
  });
});

/** Blocks that begin with ```sh run: they are to work as they are written, one after the other, beside a running service. */
const FILES = readdirSync(join(ROOT, 'docs'))
  .filter((name) =>
    /^```sh run$/m.test(name.endsWith('.md') ? readFileSync(join(ROOT, 'docs', name), 'utf8') : ''),
  )
  .map((name) => name.replace('.md', ''));

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
    // The programs that npm and npx find in the project's folder, without a set-up of their own.
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

  it.each(FILES)('of docs/%s.md do what they say', (name) => {
    const text = readFileSync(join(ROOT, `docs/${name}.md`), 'utf8');
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

  it('the built pages are served beside the API', async () => {
    if (!existsSync(join(ROOT, 'build/docs/index.html'))) return;
    const reply = await fetch(`${service.baseUrl}/docs/guide/xml`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toContain('text/html');
    expect(await reply.text()).toContain('Answer XML');
    expect((await fetch(`${service.baseUrl}/docs/guide/..%2fpackage`)).status).toBe(404);
    expect((await fetch(`${service.baseUrl}/docs/guide`)).status).toBe(200);
  });
});
