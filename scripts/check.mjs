#!/usr/bin/env node
// Static checks of both languages. Each passes or fails. scripts/test.mjs uses the exported list.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { duplicates } from './duplicates.mjs';
import { functionSizes } from './function-sizes.mjs';
import { checkProse } from './prose.mjs';
import { proseBites } from './prose-planted.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);
/** Minimum number of analyzed modules, so that a misconfigured check does not pass without checking. */
const MODULES_AT_LEAST = 700;

/** Folders with JavaScript or TypeScript. Dependency rules and cycle detection read all of them. */
const FOLDERS = ['src', 'test', 'web', 'bench', 'scripts', 'packages', 'bin', 'examples'];

/** Runs a program without blocking. Resolves when it has ended. */
const run = (command, args, cwd = root) =>
  new Promise((resolve) => {
    const PATH = `${dirname(bin('node'))}:${process.env.PATH}`;
    const env = { ...process.env, PATH };
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (bytes) => (stdout += bytes));
    child.stderr.on('data', (bytes) => (stderr += bytes));
    child.on('error', (error) => resolve({ ok: false, output: String(error), stdout }));
    child.on('close', (code) => resolve({ ok: code === 0, output: stdout + stderr, stdout }));
  });

const cruise = (folders, cwd = root) =>
  run(
    bin('depcruise'),
    [...folders, '--config', join(root, '.dependency-cruiser.cjs'), '--output-type', 'json'],
    cwd,
  );

async function dependencies() {
  const { stdout, output } = await cruise(FOLDERS);
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

/** Files with forbidden imports: path, text, and the rule that must report it. */
const PLANTED = [
  ['src/base/planted.ts', "import '../domain/call/needs.ts';\n", 'base-is-the-ground-floor'],
  ['src/domain/call/needs.ts', 'export const planted = 1;\n', undefined],
  ['src/edge/clock/planted.ts', 'export const planted = 1;\n', undefined],
  ['src/domain/call/planted.ts', "import 'node:fs';\n", 'only-edges-do-io'],
  [
    'src/domain/ledger/planted.ts',
    "import '../../edge/clock/planted.ts';\n",
    'domain-knows-no-edge',
  ],
  // A cycle of types only, in each folder. It is reported for one of its files.
  ...FOLDERS.flatMap((folder) => [
    [`${folder}/circle.ts`, "import type { B } from './back.ts';\nexport type A = B;\n", undefined],
    [
      `${folder}/back.ts`,
      "import type { A } from './circle.ts';\nexport type B = A;\n",
      'no-cycles',
    ],
  ]),
];

/** Requires that the rules report each violation in a planted tree. */
async function dependenciesBite() {
  const tree = join(root, 'build', 'planted');
  rmSync(tree, { recursive: true, force: true });
  for (const [file, text] of [...PLANTED, ['tsconfig.json', '{}'], ['package.json', '{}']]) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), text);
  }
  const { stdout, output } = await cruise(FOLDERS, tree);
  rmSync(tree, { recursive: true, force: true });
  if (!stdout.startsWith('{')) return { ok: false, output };
  const seen = JSON.parse(stdout).summary.violations;
  const missed = PLANTED.filter(
    ([file, , name]) =>
      name !== undefined && !seen.some((v) => v.rule.name === name && sameCase(v.from, file)),
  ).map(([file, , name]) => `${name} did not see ${file}`);
  return { ok: missed.length === 0, output: missed.join('\n') };
}

/** A cycle is reported for either of its files. */
const sameCase = (from, file) =>
  from === file || (file.endsWith('back.ts') && from === file.replace('back.ts', 'circle.ts'));

/** Exports that production code does not use, not even in their own file: tests alone would keep them alive. */
async function testOnlyExports() {
  const config = join(root, 'build', 'knip-production.json');
  const knip = JSON.parse(readFileSync(join(root, 'knip.json'), 'utf8'));
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, JSON.stringify({ ...knip, ignoreExportsUsedInFile: true }));
  return run(bin('knip'), [...KNIP, '--config', config, '--production', '--exports']);
}

const KNIP = ['--no-progress', '--no-config-hints', '--max-show-issues', '50'];

/** Checks the format of C++ files. Skipped if clang-format is missing. */
async function nativeFormat() {
  if (!(await run('clang-format', ['--version'])).ok)
    return {
      ok: true,
      skipped: true,
      packages: ['clang-format'],
      output: 'clang-format is missing',
    };
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await run('git', [...listed, 'native/*.cpp', 'native/*.hpp']);
  return run('clang-format', [
    '--dry-run',
    '-Werror',
    '--style=file',
    ...stdout.trim().split('\n'),
  ]);
}

/** TypeScript's native compiler. The package `typescript` is an older version, for tools that use its JavaScript API. */
const tsc = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc');

async function types() {
  mkdirSync(join(root, 'build'), { recursive: true });
  const own = await run(process.execPath, [tsc, '-p', 'tsconfig.json']);
  return own.ok ? run(process.execPath, [tsc, '-p', 'web/tsconfig.json']) : own;
}

/** Name and asynchronous function of each check, longest first. */
export const checks = [
  ['types (tsc)', types],
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
  ['direction of dependencies, no cycles', dependencies],
  [
    'no unused files, packages and exports (knip)',
    () => run(bin('knip'), [...KNIP, '--include', 'files,dependencies,unlisted,exports,types']),
  ],
  ['no exports that only tests use (knip)', testOnlyExports],
  ['length and nesting of functions', functionSizes],
  ['duplicates in src and native', duplicates],
  ['plain English (prose.mjs)', checkProse],
  ['the prose rules see planted phrases', proseBites],
  ['C++ format (clang-format)', nativeFormat],
  ['the dependency rules see planted violations', dependenciesBite],
];

/** Runs all checks in order and prints their verdicts. Returns their results. */
export async function runChecks(print) {
  const results = [];
  for (const [name, check] of checks) {
    const startedMs = Date.now();
    const result = await check();
    const mark = result.skipped ? '-' : result.ok ? '✓' : '✗';
    print(`${mark} ${name} (${Date.now() - startedMs} ms)`);
    if (!result.ok || result.skipped) print(result.output.trimEnd());
    results.push({ name, ...result });
  }
  return results;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const results = await runChecks(console.log);
  process.exit(results.every(({ ok }) => ok) ? 0 : 1);
}
