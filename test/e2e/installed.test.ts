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
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, newPlace, Program, ROOT, removePlace, type ServicePlace } from './service.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
let root: string;
let place: ServicePlace;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'carillon-root-'));
  chmodSync(root, 0o755);
  place = await newPlace();
});
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
  removePlace(place);
});

function install(...more: readonly string[]) {
  const args = [join(ROOT, 'bin/carillon.mjs'), '--json', 'install', '--root', root, ...more];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], SKIP_DOCS: '1' },
  });
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
}, 60_000);

it('the installed program runs standalone as an unprivileged user and reports its health', async () => {
  const program = join(root, 'opt/carillon');
  mkdirSync(place.dataDir);
  if (isRoot) {
    chmodSync(join(place.dataDir, '..'), 0o755);
    chownSync(place.dataDir, NOBODY, NOBODY);
  }
  const environment = { ...place.environment, CARILLON_DEMO: 'off', PATH: '/usr/bin:/bin' };
  const node = join(program, 'node_modules/node/bin/node');
  const service = new Program(join(program, 'src/main.ts'), [], environment, {
    node,
    ...(isRoot && { uid: NOBODY }),
  });
  const healthy = (): number | null =>
    spawnSync(node, [join(program, 'deploy/healthcheck.mjs')], {
      env: environment,
    }).status;
  try {
    await eventually('a healthy service', () => healthy() === 0 || undefined, 30_000);
    const port = place.environment['CARILLON_HTTP_PORT'];
    for (const page of ['docs', 'phone', 'phone.js', 'metrics']) {
      const reply = await fetch(`http://127.0.0.1:${port}/${page}`);
      expect([page, reply.status]).toEqual([page, 200]);
      await reply.arrayBuffer();
    }
    const doctor = spawnSync(node, [join(program, 'bin/carillon.mjs'), '--json', 'doctor'], {
      env: environment,
      encoding: 'utf8',
    });
    const { findings } = JSON.parse(doctor.stdout) as {
      findings: { check: string; found: string }[];
    };
    expect(findings.find(({ check }) => check === 'service')?.found).toContain('accepts calls');
  } finally {
    service.child.kill('SIGTERM');
  }
  expect([await service.exited, service.stderr]).toEqual([0, '']);
  expect(healthy()).toBe(1);
}, 90_000);
