/** Optional programs, packages, libraries and keys, hidden in turn: doctor names the part, the feature and the installation. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { checkOptional, type Installed, installedHere } from '../../src/cli/doctor/optional.ts';
import { testSettings } from '../foundation.ts';
import { canHide, nodeWithout, PARTS } from '../hidden-parts.ts';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAMS = ['flite', 'espeak-ng', 'pocketsphinx_continuous'];
const folder = mkdtempSync(join(tmpdir(), 'carillon-doctor-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A machine with every optional part except the hidden ones. */
const machineWithout = (...hidden: readonly string[]): Installed => ({
  hasProgram: (name) => PROGRAMS.includes(name) && !hidden.includes(name),
  hasPackage: () => !hidden.includes('mcp'),
  env: hidden.includes('keys') ? {} : { OPENAI_API_KEY: 'secret-key' },
});

const examined = (installed: Installed, over: Parameters<typeof testSettings>[0] = {}) =>
  checkOptional(testSettings(over), installed);
const named = (findings: readonly Finding[], check: string) =>
  findings.find((finding) => finding.check === check);

it('finds no fault on a machine with every part, and does not show keys', () => {
  const findings = examined(machineWithout());
  expect(findings.map(({ verdict }) => verdict)).toEqual(['ok', 'ok', 'ok', 'ok']);
  expect(JSON.stringify(findings)).not.toContain('secret-key');
});

describe.each([
  [['flite'], 'speech', 'English is spoken by espeak-ng', 'apt-get install flite'],
  [['espeak-ng'], 'speech', 'only English, rehearsals', 'apt-get install espeak-ng'],
  [['flite', 'espeak-ng'], 'speech', 'Speak is skipped', 'apt-get install flite espeak-ng'],
  [
    ['pocketsphinx_continuous'],
    'recognition',
    'hear only keys',
    'apt-get install pocketsphinx pocketsphinx-en-us',
  ],
  [['mcp'], 'mcp', 'carillon mcp does not run', 'npm install --no-save @modelcontextprotocol/sdk'],
  [['keys'], 'model keys', 'OPENAI_API_KEY', '/etc/carillon/environment'],
] as const)('without %j', (hidden, check, effect, install) => {
  it('names the feature and the installation, and only that', () => {
    const findings = examined(machineWithout(...hidden));
    expect(named(findings, check)).toMatchObject({
      verdict: 'skipped',
      found: expect.stringContaining(effect),
      advice: expect.stringContaining(install),
    });
    expect(findings.filter(({ verdict }) => verdict !== 'ok')).toHaveLength(1);
  });
});

it.each([
  [{ CARILLON_SPEECH_ENGINE: 'flite' }, 'flite', 'speech'],
  [{ CARILLON_RECOGNITION_ENGINE: 'pocketsphinx' }, 'pocketsphinx_continuous', 'recognition'],
] as const)(
  'a part that the settings %j select and that is missing is a problem',
  (over, hidden, check) => {
    expect(named(examined(machineWithout(hidden), over), check)).toMatchObject({
      verdict: 'problem',
      advice: expect.stringContaining('apt-get install'),
    });
  },
);

it('finds programs in the folders in which the service looks for them', () => {
  writeFileSync(join(folder, 'flite'), '#!/bin/sh\n');
  expect(installedHere({}, folder).hasProgram('flite')).toBe(false);
  chmodSync(join(folder, 'flite'), 0o755);
  expect(installedHere({}, `/nowhere:${folder}`).hasProgram('flite')).toBe(true);
  expect(installedHere({ PATH: folder }, '/nowhere').hasProgram('flite')).toBe(false);
  expect(installedHere({}).hasPackage('@modelcontextprotocol/sdk-without-name')).toBe(false);
});

const withoutParts = (args: readonly string[], environment: Readonly<Record<string, string>>) => {
  const node = nodeWithout([...PARTS, 'packages'], folder);
  return spawnSync(node, [join(ROOT, 'bin/carillon.mjs'), ...args], {
    encoding: 'utf8',
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      CARILLON_DATA_DIR: join(folder, 'data'),
      ...environment,
    },
  });
};

describe.skipIf(!canHide)('the program on a machine without optional parts', () => {
  it('doctor names each part with its installation', { timeout: 120_000 }, () => {
    const { stdout, stderr } = withoutParts(['--json', 'doctor'], {
      CARILLON_STORE_URL: 'postgres://127.0.0.1:1/none',
      CARILLON_CLUSTER_REDIS: 'redis://127.0.0.1:1',
    });
    const { findings } = JSON.parse(stdout || stderr) as { findings: Finding[] };
    const advices = findings.map(({ check, advice = '' }) => `${check}: ${advice}`).join('\n');
    for (const [check, install] of [
      ['store', 'sudo apt-get install libpq5'],
      ['audio cleaning', 'sudo apt-get install libspeexdsp1'],
      ['speech', 'sudo apt-get install flite espeak-ng'],
      ['recognition', 'sudo apt-get install pocketsphinx'],
      ['redis', 'Run npm install'],
      ['mcp', 'npm install --no-save @modelcontextprotocol/sdk@1'],
      ['mail', 'set mail.smtpUrl'],
      ['model keys', '/etc/carillon/environment'],
    ])
      expect(advices).toMatch(new RegExp(`^${check}: .*${install}`, 'm'));
  });

  it.each([[['mcp'], 'carillon mcp needs the package @modelcontextprotocol/sdk: run npm install']])(
    '%j fails with the installation',
    { timeout: 60_000 },
    (args, text) => {
      const { status, stderr } = withoutParts(args, {});
      expect(stderr).toContain(text);
      expect(status).not.toBe(0);
    },
  );
});
