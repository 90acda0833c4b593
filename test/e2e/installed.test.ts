/** Installs the contents of `carillon install` and the image below a folder, and runs them as an unprivileged user. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installSteps } from '../../src/cli/install/plan.ts';
import { postgresMissing, sharedCluster } from '../postgres.ts';
import { someOf } from '../thorough.ts';
import { eventually, newPlace, Program, ROOT, removePlace, type ServicePlace } from './service.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'carillon-root-'));
  chmodSync(root, 0o755);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const runInstall = (from: string, to: string, more: readonly string[] = []) =>
  spawnSync(
    process.execPath,
    [join(from, 'bin/carillon.mjs'), '--json', 'install', '--root', to, ...more],
    { encoding: 'utf8', env: { PATH: process.env['PATH'], SKIP_DOCS: '1' } },
  );

function install(...more: readonly string[]) {
  const { status, stdout, stderr } = runInstall(ROOT, root, more);
  expect([status, status === 0 || stderr]).toEqual([0, true]);
  return JSON.parse(stdout) as { readonly dry_run: boolean; readonly steps: readonly string[] };
}

it('a dry run prints the steps and changes no file', () => {
  const { dry_run: dryRun, steps } = install('--dry-run');
  expect(dryRun).toBe(true);
  expect(steps.join('\n')).toContain('etc/systemd/system/carillon.service');
  expect(statSync(join(root, 'opt'), { throwIfNoEntry: false })).toBeUndefined();
});

it('installs to the paths of the systemd unit; a second install keeps the settings', () => {
  install('--public-host', '192.0.2.10');
  const settings = join(root, 'etc/carillon/carillon.yaml');
  const first = readFileSync(settings, 'utf8');
  expect(first).toContain('publicHost: 192.0.2.10');
  expect(statSync(join(root, 'etc/carillon/environment')).mode & 0o777).toBe(0o600);
  const { steps } = install('--dry-run');
  expect(steps).toContain(`keep ${settings}`);
  const unit = readFileSync(join(root, 'etc/systemd/system/carillon.service'), 'utf8');
  const started = /^ExecStart=(\S+) (\S+)$/m.exec(unit)?.slice(1) ?? [];
  expect(started.map((file) => statSync(join(root, file)).isFile())).toEqual([true, true]);
});

it('keeps the previous program, also if the same version is installed twice', () => {
  const path = join(root, 'opt/carillon/package.json');
  rmSync(path); // a hard link to the source
  writeFileSync(path, '{"version":"0.0.1"}');
  const previous = () => readFileSync(join(root, 'opt/carillon.old/package.json'), 'utf8');
  install();
  expect(previous()).toContain('0.0.1');
  install();
  expect(previous()).toContain('0.0.1');
});

it('checks the settings with the secrets, before it replaces the program', () => {
  const settings = join(root, 'etc/carillon/carillon.yaml');
  const before = readFileSync(settings, 'utf8');
  const program = statSync(join(root, 'opt/carillon')).ino;
  try {
    writeFileSync(settings, `${before}\ncluster: { redis: 'redis://127.0.0.1:6379' }\n`);
    const { status, stderr } = runInstall(ROOT, root);
    expect([status, stderr]).toEqual([1, expect.stringContaining('store.url')]);
    expect(statSync(join(root, 'opt/carillon')).ino).toBe(program);
    const url = "CARILLON_STORE_URL='postgres://carillon:secret@db.invalid/carillon'\n";
    writeFileSync(join(root, 'etc/carillon/environment'), url);
    install();
  } finally {
    writeFileSync(settings, before);
  }
});

it('an installed program, and thus a release archive, installs itself', () => {
  const other = mkdtempSync(join(tmpdir(), 'carillon-root-'));
  try {
    const { status, stderr } = runInstall(join(root, 'opt/carillon'), other);
    expect([status, status === 0 || stderr]).toEqual([0, true]);
    expect(statSync(join(other, 'opt/carillon/src/main.ts')).isFile()).toBe(true);
  } finally {
    rmSync(other, { recursive: true, force: true });
  }
});

it('upgrades a service on PostgreSQL without a backup; a backup that fails stops the upgrade', () => {
  const backUp = (run: () => string) =>
    installSteps({ from: ROOT, root: '', publicHost: '', start: true }, run)
      .find(({ text }) => text.includes('carillon backup'))
      ?.act();
  const failing = (reason: string) => () => {
    throw new Error(reason);
  };
  expect(backUp(() => 'backup written')).toBe(undefined);
  expect(backUp(failing('the store is on PostgreSQL: use pg_dump'))).toContain('pg_dump');
  expect(() => backUp(failing('the disk is full'))).toThrow('full');
});

const STORES = [
  ['PostgreSQL', postgresMissing],
  ['SQLite', undefined],
] as const;

describe.each(someOf(STORES, 1))('the installed program on %s', (name, missing) => {
  let place: ServicePlace;
  beforeAll(async () => {
    place = await newPlace();
    mkdirSync(place.dataDir);
    if (!isRoot) return;
    chmodSync(join(place.dataDir, '..'), 0o755);
    chownSync(place.dataDir, NOBODY, NOBODY);
  });
  afterAll(() => removePlace(place));

  it.skipIf(missing !== undefined)(
    'runs standalone as an unprivileged user, reports its health and serves backup requests',
    async () => {
      const program = join(root, 'opt/carillon');
      const environment = {
        ...place.environment,
        CARILLON_DEMO: 'off',
        PATH: '/usr/bin:/bin',
        ...(name === 'PostgreSQL' && {
          CARILLON_STORE_URL: (await sharedCluster()).database('installed'),
        }),
      };
      const node = join(program, 'node_modules/node/bin/node');
      const service = new Program(join(program, 'src/main.ts'), [], environment, {
        node,
        ...(isRoot && { uid: NOBODY }),
      });
      const healthy = (): number | null =>
        spawnSync(node, [join(program, 'deploy/healthcheck.mjs')], {
          env: environment,
        }).status;
      const command = (...args: readonly string[]) =>
        spawnSync(node, [join(program, 'bin/carillon.mjs'), '--json', ...args], {
          env: environment,
          encoding: 'utf8',
        });
      try {
        await eventually('a healthy service', () => healthy() === 0 || undefined);
        const port = place.environment['CARILLON_HTTP_PORT'];
        for (const page of ['docs', 'phone', 'phone.js', 'metrics']) {
          const reply = await fetch(`http://127.0.0.1:${port}/${page}`);
          expect([page, reply.status]).toEqual([page, 200]);
          await reply.arrayBuffer();
        }
        const { findings } = JSON.parse(command('doctor').stdout) as {
          findings: { check: string; found: string }[];
        };
        expect(findings.find(({ check }) => check === 'service')?.found).toContain('accepts calls');
        expect(findings.find(({ check }) => check === 'spool')?.found).toMatch(/^0 /);
        const backup = command('backup');
        if (name === 'SQLite') {
          expect([backup.status, backup.stderr]).toEqual([0, '']);
        } else {
          expect(backup.status).toBe(1);
          expect(backup.stderr).toContain('pg_dump');
        }
      } finally {
        service.child.kill('SIGTERM');
      }
      expect([await service.exited, service.stderr]).toEqual([0, '']);
      expect(healthy()).toBe(1);
    },
    90_000,
  );
});
