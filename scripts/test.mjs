#!/usr/bin/env node
// `npm test`: static checks, native tests (plain and under sanitizers), vitest; one closing line for all of them.
// With names (`npm test -- jitter`, `npm test -- test/protocol/sip`) only the test files of both languages that have a name in
// their path run; a name that no file has is an error.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checks } from './check.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const args = process.argv.slice(2);
const only = new Set(
  args.filter((arg) => ['--native', '--asan', '--tsan', '--checks'].includes(arg)),
);
const names = args.filter((arg) => !only.has(arg));
const everything = only.size === 0 && names.length === 0;
const SANITIZED = ['native-asan', ['-DCMAKE_BUILD_TYPE=Debug', '-DCARILLON_SANITIZE=ON']];
const THREADED = ['native-tsan', ['-DCMAKE_BUILD_TYPE=Debug', '-DCARILLON_TSAN=ON']];
/** Maximum number of failed test files to rerun. More failures are not caused by timing. */
const AGAIN_AT_MOST = 3;
const total = { passed: 0, failed: 0, skipped: 0, again: [] };

const sh = (command, commandArgs, options = {}) =>
  spawnSync(command, commandArgs, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20, ...options });

const builds = everything ? startBuilds() : undefined;
if (everything || only.has('--checks')) runChecks();
await builds;
const named = filesOf(names);
if (everything || only.has('--native')) runNative('native', [], 'native tests');
else if (named.native.length > 0) runNative('native', [], 'native tests', named.native);
if (everything || only.has('--asan')) {
  runSanitized('address,undefined', SANITIZED, 'native tests under ASan and UBSan');
}
if (only.has('--tsan')) runSanitized('thread', THREADED, 'native tests under TSan');
if (everything || named.vitest.length > 0) runVitest(named.vitest);
for (const name of total.again) console.log(`↻ passed only when it was run again, alone: ${name}`);
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed === 0 ? 0 : 1);

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

function runChecks() {
  for (const [name, check] of checks) {
    const startedMs = Date.now();
    const { ok, skipped, output } = check();
    console.log(`${skipped ? '-' : ok ? '✓' : '✗'} ${name} (${Date.now() - startedMs} ms)`);
    if (!ok || skipped) console.log(output);
    total[skipped ? 'skipped' : ok ? 'passed' : 'failed'] += 1;
  }
}

/**
 * Compiles both kinds of native tests in parallel with the static checks, most of which use one core. Build errors are
 * reported later, when the tests run and build missing targets.
 */
async function startBuilds() {
  const kinds = [['native', []], ...(hasSanitizers() ? [SANITIZED] : [])];
  const lines = kinds.flatMap(([dir, configuration]) =>
    buildSteps(dir, configuration).map(
      (args) => `cmake ${args.map((arg) => `'${arg}'`).join(' ')}`,
    ),
  );
  await once(spawn('sh', ['-c', lines.join('; ')], { cwd: root, stdio: 'ignore' }), 'close');
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
    ['--build', out, '--parallel', '--target', 'carillon_tests'],
  ];
}

/** Runs native tests. `files` limits them to the test cases of these files. */
function runNative(dir, configuration, title, files = []) {
  const out = join(root, 'build', dir);
  for (const step of buildSteps(dir, configuration)) {
    const built = sh('cmake', step);
    if (built.status !== 0) {
      console.log(`✗ ${title}: did not build\n${built.stdout}${built.stderr}`);
      total.failed += 1;
      return;
    }
  }
  const chosen = files.length === 0 ? [] : [`--source-file=${files.map((f) => `*${f}`).join(',')}`];
  const run = sh(join(out, 'carillon_tests'), chosen, {
    env: {
      ...process.env,
      ASAN_OPTIONS: 'detect_leaks=1',
      UBSAN_OPTIONS: 'halt_on_error=1:print_stacktrace=1',
    },
  });
  const counts =
    /test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed(?:\s*\|\s*(\d+) skipped)?/.exec(
      run.stdout,
    );
  if (counts === null || (run.status !== 0 && Number(counts[3]) === 0)) {
    console.log(`✗ ${title}: ended with ${run.status ?? run.signal}\n${run.stdout}${run.stderr}`);
    total.failed += 1;
    return;
  }
  if (run.status !== 0) console.log(`${run.stdout}${run.stderr}`);
  console.log(`${run.status === 0 ? '✓' : '✗'} ${title}: ${counts[2]} passed, ${counts[3]} failed`);
  total.passed += Number(counts[2]);
  total.failed += Number(counts[3]);
  // doctest counts test cases of unselected files as skipped.
  if (files.length === 0) total.skipped += Number(counts[4] ?? 0);
}

/** Whether this compiler has them; a program that uses them has to run, too. */
function hasSanitizers(sanitizers = 'address,undefined') {
  const probe = sh('sh', [
    '-c',
    `d=$(mktemp -d) && echo "int main(){}" > $d/p.cpp && c++ -fsanitize=${sanitizers} $d/p.cpp -o $d/p && $d/p; s=$?; rm -rf $d; exit $s`,
  ]);
  return probe.status === 0;
}

function runSanitized(sanitizers, kind, title) {
  if (!hasSanitizers(sanitizers)) {
    console.log(`- ${title}: skipped, this compiler has none`);
    total.skipped += 1;
    return;
  }
  runNative(...kind, title);
}

/**
 * Runs vitest and reruns failed files once, alone: tests with real sockets and clocks can time out on a busy machine. The
 * summary names each test that passed only on the rerun, because it needs a fix. Tests in virtual time are not rerun, nor
 * are files after a change that breaks many of them.
 */
function runVitest(files) {
  const first = vitestReport('vitest', files);
  const failed = [...first.files].filter(([, { ok }]) => !ok).map(([file]) => file);
  const isLate = failed.length > 0 && failed.length <= AGAIN_AT_MOST && failed.every(isInRealTime);
  if (!isLate) return count(first);
  console.log(`\nonce more, alone: ${failed.join(', ')}`);
  const second = vitestReport('vitest-again', ['--no-file-parallelism', ...failed]);
  for (const file of failed) {
    const late = second.files.get(file)?.failedTests ?? [];
    const { failedTests } = first.files.get(file);
    // A file that failed before its first test has no test names.
    const names = failedTests.length === 0 && second.files.get(file)?.ok ? ['its start'] : [];
    names.push(...failedTests.filter((name) => !late.includes(name)));
    total.again.push(...names.map((name) => `${file} > ${name}`));
  }
  count({ ok: second.ok, files: new Map([...first.files, ...second.files]) });
}

function count({ ok, files }) {
  const sum = (of) => [...files.values()].reduce((all, file) => all + of(file), 0);
  const failed = sum((file) => file.failedTests.length);
  total.passed += sum((file) => file.passed);
  total.skipped += sum((file) => file.skipped);
  total.failed += failed;
  if (!ok && failed === 0) {
    console.log('✗ vitest ended with an error outside a test (see above)');
    total.failed += 1;
  }
}

/** Runs vitest once. Returns the result of each file and whether the run completed. */
function vitestReport(name, vitestArgs) {
  const report = join(root, 'build', `${name}.json`);
  mkdirSync(dirname(report), { recursive: true });
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { status } = spawnSync(
    join(root, 'node_modules', '.bin', 'vitest'),
    ['run', ...reporters, ...vitestArgs],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  if (!existsSync(report)) return { ok: false, files: new Map() };
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  return { ok: status === 0, files: new Map(testResults.map(fileResult)) };
}

function fileResult({ name, status, assertionResults }) {
  const as = (wanted) => assertionResults.filter((test) => wanted.includes(test.status));
  const result = {
    ok: status !== 'failed',
    passed: as(['passed']).length,
    skipped: as(['pending', 'skipped', 'todo', 'disabled']).length,
    failedTests: as(['failed']).map((test) => test.fullName),
  };
  return [relative(root, name), result];
}

/** Tests of src/base, src/protocol and src/domain and the simulation own their clocks. */
function isInRealTime(file) {
  return !/^test\/(base|protocol|domain|sim|tidy|conformance)/.test(file);
}
