#!/usr/bin/env node
// Static checks of both languages. Each passes or fails. scripts/test.mjs uses the exported list.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkProse } from './prose.mjs';
import { proseBites } from './prose-planted.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);
/** Minimum number of analyzed modules, so that a misconfigured check does not pass without checking. */
const MODULES_AT_LEAST = 700;

const run = (command, args) => {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 });
  return {
    ok: result.status === 0,
    output: `${result.stdout ?? ''}${result.stderr ?? ''}`,
    stdout: result.stdout ?? '',
  };
};

const cruise = () =>
  run(bin('depcruise'), [
    'src',
    'test',
    '--config',
    '.dependency-cruiser.cjs',
    '--output-type',
    'json',
  ]);

function dependencies() {
  const { stdout, output } = cruise();
  try {
    const { summary } = JSON.parse(stdout);
    if (summary.totalCruised < MODULES_AT_LEAST)
      return { ok: false, output: `only ${summary.totalCruised} modules were seen` };
    const lines = summary.violations.map((v) => `${v.rule.name}: ${v.from} → ${v.to}`);
    return { ok: lines.length === 0, output: lines.join('\n') };
  } catch {
    return { ok: false, output };
  }
}

/** Plants forbidden imports and type-only cycles, and requires that the check reports each of them. */
function dependenciesBite() {
  const planted = [
    [
      'src/base/planted-violation.ts',
      "import '../domain/call/needs.ts';\n",
      'base-is-the-ground-floor',
    ],
    [
      'src/domain/call/planted-violation.ts',
      "import 'node:fs';\nimport type { Circle } from './planted-circle.ts';\nexport type Planted = Circle;\n",
      'only-edges-do-io',
    ],
    [
      'src/domain/ledger/planted-violation.ts',
      "import '../../edge/clock/system-clock.ts';\n",
      'domain-knows-no-edge',
    ],
    // A cycle of types only.
    [
      'src/domain/call/planted-circle.ts',
      "import type { Planted } from './planted-violation.ts';\nexport type Circle = Planted;\n",
      'no-cycles',
    ],
    [
      'test/sim/planted-circle.ts',
      "import type { Back } from './planted-back.ts';\nexport type Circle = Back;\n",
      undefined, // a cycle is reported for one of its files
    ],
    [
      'test/sim/planted-back.ts',
      "import type { Circle } from './planted-circle.ts';\nexport type Back = Circle;\n",
      'no-cycles',
    ],
  ];
  try {
    for (const [file, text] of planted) writeFileSync(join(root, file), text);
    const seen = new Set(
      JSON.parse(cruise().stdout).summary.violations.map((v) => `${v.from} ${v.rule.name}`),
    );
    const missed = planted
      .filter(([file, , name]) => name !== undefined && !seen.has(`${file} ${name}`))
      .map(([file, , name]) => `${name} did not see ${file}`);
    return { ok: missed.length === 0, output: missed.join('\n') };
  } finally {
    for (const [file] of planted) rmSync(join(root, file), { force: true });
  }
}

const nativeSources = () =>
  run('git', [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    'native/*.cpp',
    'native/*.hpp',
  ])
    .stdout.trim()
    .split('\n');

/** Checks C++ format and lint. Skipped if clang-format or clang-tidy is missing. */
function nativeFormat() {
  if (run('clang-format', ['--version']).ok === false) return SKIPPED;
  return run('clang-format', ['--dry-run', '-Werror', '--style=file', ...nativeSources()]);
}

const SKIPPED = { ok: true, skipped: true, output: 'the tool is not installed' };

export const checks = [
  [
    'types (tsc)',
    () => {
      mkdirSync(join(root, 'build'), { recursive: true });
      const own = run(bin('tsc'), ['-p', 'tsconfig.json']);
      return own.ok ? run(bin('tsc'), ['-p', 'web/tsconfig.json']) : own;
    },
  ],
  [
    'format and lint (biome)',
    () =>
      run(bin('biome'), [
        'ci',
        '--colors=off',
        '--diagnostic-level=error',
        '--max-diagnostics=50',
        '.',
      ]),
  ],
  ['C++ format (clang-format)', nativeFormat],
  [
    'no dead files or packages (knip)',
    () => run(bin('knip'), ['--no-progress', '--include', 'files,dependencies,unlisted']),
  ],
  ['plain English (prose.mjs)', checkProse],
  ['the prose rules see planted phrases', proseBites],
  ['direction of dependencies', dependencies],
  ['the dependency rules see planted violations', dependenciesBite],
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  let failed = 0;
  for (const [name, check] of checks) {
    const startedMs = Date.now();
    const { ok, skipped, output } = check();
    const verdict = skipped ? 'skip' : ok ? 'ok  ' : 'FAIL';
    console.log(`${verdict} ${name} (${Date.now() - startedMs} ms)`);
    if (!ok || skipped) console.log(output);
    failed += ok ? 0 : 1;
  }
  process.exit(failed === 0 ? 0 : 1);
}
