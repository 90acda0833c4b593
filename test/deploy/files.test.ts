/** Checks the files of `deploy/` with the programs that read them, if installed. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { listSettings } from '../../src/config/schema.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const read = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8');
const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;
/** Highest permitted exposure score of the unit, on a scale from 0 to 10. */
const EXPOSURE_MAX = 3;

describe('the systemd unit', () => {
  it.skipIf(!has('systemd-analyze'))('is valid and hardened', () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-unit-'));
    // Replaces the programs of the unit, which are not installed here.
    const unit = read('carillon.service').replaceAll(/^(Exec\w+=)\/opt\S+.*$/gm, '$1/bin/true');
    const file = join(folder, 'carillon.service');
    writeFileSync(file, unit);
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
      encoding: 'utf8',
    });
    expect([verified.status, verified.stderr]).toEqual([0, '']);
    const threshold = `--threshold=${EXPOSURE_MAX * 10}`;
    const { status, stdout } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=true', threshold, file],
      { encoding: 'utf8' },
    );
    expect([status, /Overall exposure level.*/.exec(stdout)?.[0]]).toEqual([0, expect.anything()]);
    rmSync(folder, { recursive: true });
  });

  it('names existing settings', () => {
    const known = new Set(listSettings().map(({ environment }) => environment));
    known.add('CARILLON_CONFIG');
    for (const file of ['carillon.service', 'Dockerfile', 'compose.yaml']) {
      const named = read(file).match(/CARILLON_[A-Z_]*[A-Z]/g) ?? [];
      expect([file, named.filter((name) => !known.has(name))]).toEqual([file, []]);
    }
  });

  it('gives the service more time to stop than the drain limit', () => {
    const drain = listSettings().find(({ path }) => path.join('.') === 'calls.drainMs');
    const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(read('carillon.service'))?.[1]);
    // Adds the time for records, recordings and callbacks after the last call (compose.ts).
    expect(seconds * 1000).toBeGreaterThan(Number(drain?.setting.default) + 22_000);
  });
});

describe('the image', () => {
  it('runs as an unprivileged user, with ports, a health check and a stop signal', () => {
    const last =
      read('Dockerfile')
        .split(/^FROM /m)
        .at(-1) ?? '';
    expect(last).toMatch(/^USER carillon$/m);
    expect(last).toMatch(/^HEALTHCHECK .*healthcheck\.mjs/m);
    expect(last).toMatch(/^EXPOSE .*5060\/udp.*20000-29999\/udp$/m);
    expect(last).toMatch(/^STOPSIGNAL SIGTERM$/m);
    // Only the first stage contains the compiler.
    expect(last).not.toMatch(/g\+\+|cmake/);
  });

  it('copies no file that the build context excludes', () => {
    const ignored = read('Dockerfile.dockerignore').split('\n');
    for (const needed of ['src', 'bin', 'config', 'native', 'scripts', 'deploy', 'web'])
      expect(ignored).not.toContain(needed);
    expect(ignored).toContain('data');
  });
});

describe('compose.yaml', () => {
  interface Service {
    readonly profiles?: readonly string[];
    readonly volumes?: readonly string[];
    readonly image: string;
  }
  const compose = parse(read('compose.yaml')) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes: object;
  };

  it('starts only the service unless a profile is selected', () => {
    const always = Object.entries(compose.services).filter(([, { profiles }]) => !profiles);
    expect(always.map(([name]) => name)).toEqual(['carillon']);
  });

  it('mounts existing files and pins every image', () => {
    for (const [name, { volumes = [], image }] of Object.entries(compose.services)) {
      for (const volume of volumes) {
        const [source = ''] = volume.split(':');
        const isThere = source.startsWith('.')
          ? existsSync(join(DEPLOY, source))
          : Object.hasOwn(compose.volumes, source);
        expect([name, source, isThere]).toEqual([name, source, true]);
      }
      if (name !== 'carillon') expect(image).toMatch(/:v?\d+\.\d+/);
    }
  });
});
