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
import { PAGES } from './pages.ts';

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

/** Files with ```sh run blocks. Each block must run as written, in order, with a running service. */
const FILES = PAGES.map(({ file }) => file).filter(
  (file) => file.startsWith('docs/') && /^```sh run$/m.test(read(file)),
);

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
});
