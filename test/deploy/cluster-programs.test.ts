/** `npm run cluster` names the packages that it lacks. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
let folder = '';
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs it where all programs are there, but apt-get; with all modules of Kamailio but these. */
function runWithout(...missing: readonly string[]) {
  folder = mkdtempSync(join(tmpdir(), 'carillon-programs-'));
  const [bin, modules] = [join(folder, 'bin'), join(folder, 'modules')];
  for (const path of [bin, modules]) mkdirSync(path);
  for (const name of ['redis-server', 'kamailio', 'ip', 'iptables'])
    writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
  symlinkSync(process.execPath, join(bin, 'node'));
  const settings = readFileSync(join(ROOT, 'deploy/kamailio/kamailio.cfg'), 'utf8');
  for (const [, name = ''] of settings.matchAll(/^\s*loadmodule "(\w+)\.so"/gm))
    if (!missing.includes(name)) writeFileSync(join(modules, `${name}.so`), '');
  return spawnSync(process.execPath, [join(ROOT, 'scripts/cluster.mjs')], {
    env: { PATH: bin, KAMAILIO_MODULES: modules },
    encoding: 'utf8',
  });
}

it('packages of Kamailio modules that are missing are named, without a stack trace', () => {
  const { status, stderr } = runWithout('tls', 'websocket');
  expect(status).toBe(1);
  expect(stderr).toContain('Kamailio lacks the modules tls, websocket');
  expect(stderr).toContain('kamailio-tls-modules');
  expect(stderr).toContain('kamailio-websocket-modules');
  expect(stderr).toContain('apt-get install');
  expect(stderr).not.toMatch(/\n\s+at /);
});

it('a module of the main package is named with it', () => {
  const { status, stderr } = runWithout('dispatcher');
  expect([status, stderr]).toEqual([1, expect.stringContaining('not installed: kamailio')]);
});
