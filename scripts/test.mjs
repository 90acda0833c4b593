#!/usr/bin/env node
// `npm test`: static checks, native tests (under sanitizers where the compiler has them), vitest; one closing line for all.
// Two programs run at a time. First the checks and the builds, next to the vitest files without real time; then the other
// vitest files. They begin with files without audio, next to the native tests, which use one core.
// With names (`npm test -- jitter`, `npm test -- test/protocol/sip`) only the test files of both languages that have a name in
// their path run, with all cases (test/thorough.ts); a name that no file has is an error.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILD_JOBS } from './build-jobs.mjs';
import { runChecks } from './check.mjs';
import { enabledBy } from './test-packages.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const args = process.argv.slice(2);
const only = new Set(
  args.filter((arg) => ['--native', '--asan', '--tsan', '--checks'].includes(arg)),
);
const names = args.filter((arg) => !only.has(arg));
const everything = only.size === 0 && names.length === 0;
const SANITIZED = ['native-asan', ['-DCMAKE_BUILD_TYPE=Debug', '-DCARILLON_SANITIZE=ON']];
const SANITIZED_TITLE = 'native tests under ASan and UBSan';
const THREADED = ['native-tsan', ['-DCMAKE_BUILD_TYPE=Debug', '-DCARILLON_TSAN=ON']];
/** More repetitions of random and long native tests (native/test/support/rounds.hpp). */
const LONG = { LONG_TESTS: '1' };
/** Maximum number of failed test files to rerun. More failures are not caused by timing. */
const AGAIN_AT_MOST = 3;
/** Names of the projects in vitest.config.ts. */
const [PURE, SERVICE, ALONE] = ['pure', 'service', 'alone'];
if (names.length > 0) process.env.THOROUGH = '1';
const total = { passed: 0, failed: 0, skipped: [], again: [] };

const sh = (command, commandArgs, options = {}) =>
  spawnSync(command, commandArgs, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20, ...options });

/** Runs a program without blocking. Resolves with its status and output. */
const start = (command, commandArgs, options = {}) =>
  new Promise((ended) => {
    const child = spawn(command, commandArgs, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options,
    });
    let stdout = '';
    let stderr = '';
    child.stdout?.on('data', (bytes) => (stdout += bytes));
    child.stderr?.on('data', (bytes) => (stderr += bytes));
    child.on('error', (error) => ended({ status: 1, stdout, stderr: String(error) }));
    child.on('close', (status, signal) => ended({ status, signal, stdout, stderr }));
  });

const startedMs = Date.now();
const named = filesOf(names);
await (everything ? runEverything() : runSelected());
summarize();
process.exit(total.failed === 0 ? 0 : 1);

async function runEverything() {
  const pure = runVitest(['--project', PURE, '--maxWorkers', '1'], 'pipe');
  await staticChecks();
  // One build of the native tests, because compiling them takes a third of the run. `--native` runs the optimized code.
  const sanitized = hasSanitizers();
  if (!sanitized) total.skipped.push(withoutSanitizers(SANITIZED_TITLE));
  const [dir, configuration] = sanitized ? SANITIZED : ['native', []];
  const title = sanitized ? SANITIZED_TITLE : 'native tests';
  const isBuilt = await buildNative(dir, configuration, title);
  console.log((await pure).output.trimEnd());
  const native = isBuilt ? runBuilt(dir, title) : undefined;
  await runVitest(['--project', SERVICE, '--project', ALONE], 'inherit');
  await native;
}

async function runSelected() {
  if (only.has('--checks')) await staticChecks();
  if (only.has('--native')) await runNative('native', [], 'native tests', [], LONG);
  else if (named.native.length > 0) await runNative('native', [], 'native tests', named.native);
  if (only.has('--asan')) await runSanitized('address,undefined', SANITIZED, SANITIZED_TITLE);
  if (only.has('--tsan')) await runSanitized('thread', THREADED, 'native tests under TSan');
  if (named.vitest.length > 0) await runVitest(named.vitest, 'inherit');
}

/** Prints the totals, each test that needs a fix or was skipped, and the packages that enable the skipped ones. */
function summarize() {
  for (const name of total.again)
    console.log(`↻ passed only when it was run again, alone: ${name}`);
  for (const { name } of total.skipped) console.log(`- skipped: ${name}`);
  const packages = [...new Set(total.skipped.flatMap((test) => test.packages))].sort();
  if (packages.length > 0) console.log(`These packages enable them: ${packages.join(' ')}`);
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  const counts = `${total.passed} passed, ${total.failed} failed, ${total.skipped.length} skipped`;
  console.log(`\n${counts} in ${seconds} s`);
}

/** The test files that have one of the names in their path. Ends the run when a name belongs to none. */
function filesOf(wanted) {
  const under = (folder, ending) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((file) => file.endsWith(ending))
      .map((file) => `${folder}/${file}`);
  const vitest = under('test', '.test.ts').filter((file) => !file.startsWith('test/interop/'));
  const native = under('native/test', '_test.cpp');
  const paths = wanted.map((name) =>
    existsSync(resolve(name)) ? relative(root, resolve(name)) : name,
  );
  const unknown = paths.filter(
    (name) => ![...vitest, ...native].some((file) => file.includes(name)),
  );
  if (unknown.length > 0) {
    console.log(
      `✗ no test file has ${unknown.map((name) => `'${name}'`).join(' or ')} in its path`,
    );
    process.exit(1);
  }
  const has = (file) => paths.some((name) => file.includes(name));
  return { vitest: vitest.filter(has), native: native.filter(has) };
}

async function staticChecks() {
  for (const { name, ok, skipped, packages } of await runChecks(console.log)) {
    if (skipped) total.skipped.push({ name, packages });
    else total[ok ? 'passed' : 'failed'] += 1;
  }
}

/** Returns the arguments of cmake for each build step. */
function buildSteps(dir, configuration) {
  const out = join(root, 'build', dir);
  const generator =
    existsSync(join(out, 'CMakeCache.txt')) || sh('ninja', ['--version']).status !== 0
      ? []
      : ['-G', 'Ninja'];
  return [
    ['-S', join(root, 'native'), '-B', out, ...generator, ...configuration],
    ['--build', out, ...BUILD_JOBS, '--target', 'carillon_tests'],
  ];
}

/** Builds and runs native tests. `files` limits them to the test cases of these files. */
async function runNative(dir, configuration, title, files = [], environment = {}) {
  if (await buildNative(dir, configuration, title)) await runBuilt(dir, title, files, environment);
}

async function buildNative(dir, configuration, title) {
  for (const step of buildSteps(dir, configuration)) {
    const built = await start('cmake', step);
    if (built.status === 0) continue;
    console.log(`✗ ${title}: did not build\n${built.stdout}${built.stderr}`);
    total.failed += 1;
    return false;
  }
  return true;
}

async function runBuilt(dir, title, files = [], environment = {}) {
  const program = join(root, 'build', dir, 'carillon_tests');
  const chosen = files.length === 0 ? [] : [`--source-file=${files.map((f) => `*${f}`).join(',')}`];
  const run = await start(program, chosen, {
    env: {
      ...process.env,
      ...environment,
      ASAN_OPTIONS: 'detect_leaks=1',
      UBSAN_OPTIONS: 'halt_on_error=1:print_stacktrace=1',
    },
  });
  const counts = /test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed/.exec(run.stdout);
  if (counts === null || (run.status !== 0 && Number(counts[3]) === 0)) {
    console.log(`✗ ${title}: ended with ${run.status ?? run.signal}\n${run.stdout}${run.stderr}`);
    total.failed += 1;
    return;
  }
  if (run.status !== 0) console.log(`${run.stdout}${run.stderr}`);
  console.log(`${run.status === 0 ? '✓' : '✗'} ${title}: ${counts[2]} passed, ${counts[3]} failed`);
  total.passed += Number(counts[2]);
  total.failed += Number(counts[3]);
  for (const name of skippedCases(program)) total.skipped.push({ name, packages: [] });
}

/** Test cases that need a processor or kernel that this machine does not have. */
function skippedCases(program) {
  const list = (...more) =>
    sh(program, ['--list-test-cases', '--no-colors', ...more])
      .stdout.split('\n')
      .filter((line) => line !== '' && !/^[[=]/.test(line));
  const run = new Set(list());
  return list('--no-skip').filter((name) => !run.has(name));
}

/** Whether this compiler has them; a program that uses them has to run, too. */
function hasSanitizers(sanitizers = 'address,undefined') {
  const probe = sh('sh', [
    '-c',
    `d=$(mktemp -d) && echo "int main(){}" > $d/p.cpp && c++ -fsanitize=${sanitizers} $d/p.cpp -o $d/p && $d/p; s=$?; rm -rf $d; exit $s`,
  ]);
  return probe.status === 0;
}

function withoutSanitizers(name) {
  return { name, packages: ['libasan8', 'libubsan1', 'libtsan2'] };
}

async function runSanitized(sanitizers, kind, title) {
  if (!hasSanitizers(sanitizers)) {
    total.skipped.push(withoutSanitizers(title));
    return;
  }
  await runNative(...kind, title);
}

/**
 * Runs vitest and reruns failed files once, alone: tests with real sockets and clocks can time out on a busy machine. The
 * summary names each test that passed only on the rerun, because it needs a fix. Tests in virtual time are not rerun, nor
 * are files after a change that breaks many of them.
 */
async function runVitest(vitestArgs, stdio) {
  const first = await vitestReport('vitest', vitestArgs, stdio);
  const failed = [...first.files].filter(([, { ok }]) => !ok).map(([file]) => file);
  const isLate = failed.length > 0 && failed.length <= AGAIN_AT_MOST && failed.every(isInRealTime);
  if (!isLate) return count(first);
  console.log(`\nonce more, alone: ${failed.join(', ')}`);
  const second = await vitestReport('vitest-again', ['--no-file-parallelism', ...failed], stdio);
  for (const file of failed) {
    const late = second.files.get(file)?.failedTests ?? [];
    const { failedTests } = first.files.get(file);
    // A file that failed before its first test has no test names.
    const names = failedTests.length === 0 && second.files.get(file)?.ok ? ['its start'] : [];
    names.push(...failedTests.filter((name) => !late.includes(name)));
    total.again.push(...names.map((name) => `${file} > ${name}`));
  }
  return count({ ...second, files: new Map([...first.files, ...second.files]) });
}

function count({ ok, files, output }) {
  const results = [...files.values()];
  const failed = results.reduce((all, file) => all + file.failedTests.length, 0);
  total.passed += results.reduce((all, file) => all + file.passed, 0);
  total.failed += failed;
  for (const [file, { skipped }] of files) {
    const packages = skipped.length > 0 ? enabledBy(file) : [];
    for (const name of skipped) total.skipped.push({ name: `${file} > ${name}`, packages });
    if (packages === undefined) {
      console.log(`✗ scripts/test-packages.mjs does not say what enables ${file}`);
      total.failed += 1;
    }
  }
  if (!ok && failed === 0) {
    console.log('✗ vitest ended with an error outside a test (see above)');
    total.failed += 1;
  }
  return { output };
}

/** Runs vitest once. Returns the result of each file, whether the run completed, and its output unless inherited. */
async function vitestReport(name, vitestArgs, stdio) {
  const report = join(
    root,
    'build',
    `${name}-${vitestArgs[1] ?? 'files'}.json`.replace(/\//g, '-'),
  );
  mkdirSync(dirname(report), { recursive: true });
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { status, stdout, stderr } = await start(
    join(root, 'node_modules', '.bin', 'vitest'),
    ['run', ...reporters, ...vitestArgs],
    { stdio: ['ignore', stdio, stdio] },
  );
  const output = `${stdout}${stderr}`;
  if (!existsSync(report)) return { ok: false, files: new Map(), output };
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  return { ok: status === 0, files: new Map(testResults.map(fileResult)), output };
}

function fileResult({ name, status, assertionResults }) {
  const as = (wanted) => assertionResults.filter((test) => wanted.includes(test.status));
  const result = {
    ok: status !== 'failed',
    passed: as(['passed']).length,
    skipped: as(['pending', 'skipped', 'todo', 'disabled']).map((test) => test.fullName),
    failedTests: as(['failed']).map((test) => test.fullName),
  };
  return [relative(root, name), result];
}

/** Tests of src/base, src/protocol and src/domain and the simulation own their clocks. */
function isInRealTime(file) {
  return !/^test\/(base|protocol|domain|sim|tidy|conformance)/.test(file);
}
