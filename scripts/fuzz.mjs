#!/usr/bin/env node
// `npm run fuzz` sends mutated inputs to all parsers of untrusted data, guided by their coverage. Native parsers run with
// sanitizers, and with libFuzzer if clang is installed. Options after `--`: `--minutes 2` or `--seconds 60` per target (default
// 10 s), `--seed 5` (default: the time), names of targets. Crashing inputs are stored in build/fuzz. Inputs that reach new code
// join the corpus in fixtures/fuzz.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BUILD_JOBS } from './build-jobs.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '10' },
    minutes: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const seconds =
  values.minutes === undefined ? values.seconds : String(Math.round(Number(values.minutes) * 60));
if (!(Number(seconds) > 0) || !Number.isSafeInteger(Number(values.seed))) {
  console.log('usage: npm run fuzz -- [--seconds 10 | --minutes 2] [--seed 5] [target …]');
  process.exit(2);
}
const NATIVE = ['rtp', 'telephone-event', 'opus', 'g722', 'rtcp', 'srtp', 'dtls', 'bridge'];
const SCRIPT = [
  ...['sdp', 'sdp-crypto', 'wav', 'mp3', 'sip', 'sip-fields', 'answer-xml', 'stream-messages'],
  ...['stir', 'contacts', 'drachtio'],
];
const unknown = positionals.filter((name) => ![...NATIVE, ...SCRIPT].includes(name));
if (unknown.length > 0) {
  console.log(`no target ${unknown.join(', ')}; there are ${[...NATIVE, ...SCRIPT].join(', ')}`);
  process.exit(2);
}
const wanted = (names) =>
  positionals.length === 0 ? names : names.filter((name) => positionals.includes(name));
const found = join(root, 'build', 'fuzz');
mkdirSync(found, { recursive: true });

const sh = (command, args, options = {}) =>
  spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20, ...options });
let failed = 0;

console.log(`seed ${values.seed}, ${seconds} s each`);
const ASAN = {
  ASAN_OPTIONS: 'abort_on_error=1:detect_leaks=1',
  UBSAN_OPTIONS: 'halt_on_error=1:abort_on_error=1:print_stacktrace=1',
};

/** Builds a target of native/CMakeLists.txt in a folder of build/. */
function build(folder, target, options) {
  const to = join(root, 'build', folder);
  const configured = existsSync(join(to, 'CMakeCache.txt'))
    ? []
    : ['-DCMAKE_BUILD_TYPE=Debug', ...options];
  const steps = [
    ['-S', join(root, 'native'), '-B', to, ...configured],
    ['--build', to, ...BUILD_JOBS, '--target', target],
  ];
  for (const step of steps) {
    const built = sh('cmake', step);
    if (built.status === 0) continue;
    console.log(`✗ did not build (doctest-dev is needed)\n${built.stdout}${built.stderr}`);
    process.exit(1);
  }
  return join(to, target);
}

const fixture = (name) => join(root, 'fixtures', 'fuzz', `${name}.hex`);
const inputsOf = (name) => readFileSync(fixture(name), 'latin1').split('\n').filter(Boolean);
/** The corpus stays small: at most so many inputs per target, of at most so many bytes. */
const INPUTS_MAX = 120;
const BYTES_MAX = 1500;

/** libFuzzer with its corpus in build/fuzz/corpus. Afterwards, the smallest inputs that reach new code join the fixtures. */
function guided(program, name) {
  const corpus = join(found, 'corpus', name);
  mkdirSync(corpus, { recursive: true });
  const known = inputsOf(name);
  for (const [at, hex] of known.entries())
    writeFileSync(join(corpus, `seed-${at}`), Buffer.from(hex, 'hex'));
  const env = { ...process.env, ...ASAN, FUZZ_TARGET: name };
  const options = [
    `-max_total_time=${seconds}`,
    `-seed=${values.seed}`,
    '-timeout=10',
    '-max_len=4096',
  ];
  const run = sh(program, [...options, `-artifact_prefix=${join(found, name)}-`, corpus], { env });
  if (run.status !== 0) return { run };
  const least = join(found, 'corpus', `${name}.least`);
  rmSync(least, { recursive: true, force: true });
  mkdirSync(least);
  sh(program, ['-merge=1', least, corpus], { env });
  const seeds = new Set(known);
  const added = readdirSync(least)
    .map((file) => join(least, file))
    .filter((file) => statSync(file).size <= BYTES_MAX)
    .sort((a, b) => statSync(a).size - statSync(b).size)
    .map((file) => readFileSync(file).toString('hex'))
    .filter((hex) => hex !== '' && !seeds.has(hex))
    .slice(0, Math.max(0, INPUTS_MAX - known.length));
  writeFileSync(fixture(name), [...known, ...added].map((hex) => `${hex}\n`).join(''));
  const [, runs = '?'] = /^Done (\d+) runs/m.exec(run.stderr) ?? [];
  return { run, text: `${runs} inputs, ${added.length} inputs kept` };
}

function unguided(program, name) {
  const file = join(found, `${name}.found`);
  const run = sh(program, [name, seconds, values.seed, file], {
    env: { ...process.env, ...ASAN },
  });
  return { run, text: `${run.stdout.trim()} inputs` };
}

if (wanted(NATIVE).length > 0) {
  const hasClang = sh('clang++', ['--version']).status === 0;
  if (!hasClang) console.log('clang is not installed: native parsers run without coverage');
  const clang = ['-DCMAKE_C_COMPILER=clang', '-DCMAKE_CXX_COMPILER=clang++'];
  const program = hasClang
    ? build('native-guided', 'carillon_guided', [
        ...clang,
        '-DCARILLON_FUZZ=ON',
        '-DCARILLON_UNITY=OFF',
      ])
    : build('native-asan', 'carillon_fuzz', ['-DCARILLON_SANITIZE=ON']);
  for (const name of wanted(NATIVE)) {
    const { run, text } = (hasClang ? guided : unguided)(program, name);
    if (run.status === 0) {
      console.log(`${name}: ${text}`);
      continue;
    }
    failed += 1;
    const end = run.status ?? run.signal;
    console.log(
      `✗ ${name}: ended with ${end}; the input is in ${found}\n${run.stderr.slice(-4000)}`,
    );
  }
}
if (wanted(SCRIPT).length > 0) {
  const args = ['node', join(root, 'test', 'fuzz', 'run.ts'), seconds, values.seed, found];
  const run = sh('npx', [...args, ...wanted(SCRIPT)], { stdio: 'inherit' });
  failed += run.status === 0 ? 0 : 1;
}
process.exit(failed === 0 ? 0 : 1);
