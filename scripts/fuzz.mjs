#!/usr/bin/env node
// `npm run fuzz` sends mutated inputs to all parsers of network data, with sanitizers. Options after `--`: `--seconds 60` per
// target (default 10), `--seed 5` (default: the time), names of targets. Crashing inputs are stored in build/fuzz.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const NATIVE = ['rtp', 'telephone-event', 'opus', 'g722', 'rtcp', 'srtp', 'dtls'];
const SCRIPT = ['sdp', 'sdp-crypto', 'wav', 'mp3'];
const unknown = positionals.filter((name) => ![...NATIVE, ...SCRIPT].includes(name));
if (unknown.length > 0) {
  console.log(`no target ${unknown.join(', ')}; there are ${[...NATIVE, ...SCRIPT].join(', ')}`);
  process.exit(2);
}
const wanted = (names) =>
  positionals.length === 0 ? names : names.filter((name) => positionals.includes(name));
const out = join(root, 'build', 'native-asan');
const found = join(root, 'build', 'fuzz');
mkdirSync(found, { recursive: true });

const sh = (command, args, options = {}) =>
  spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20, ...options });
let failed = 0;

console.log(`seed ${values.seed}, ${values.seconds} s each`);
if (wanted(NATIVE).length > 0) {
  const configured = existsSync(join(out, 'CMakeCache.txt'))
    ? []
    : ['-DCMAKE_BUILD_TYPE=Debug', '-DCARILLON_SANITIZE=ON'];
  const steps = [
    ['-S', join(root, 'native'), '-B', out, ...configured],
    ['--build', out, '--parallel', '--target', 'carillon_fuzz'],
  ];
  for (const step of steps) {
    const built = sh('cmake', step);
    if (built.status === 0) continue;
    console.log(`✗ did not build (doctest-dev is needed)\n${built.stdout}${built.stderr}`);
    process.exit(1);
  }
}
for (const name of wanted(NATIVE)) {
  const file = join(found, `${name}.found`);
  const run = sh(join(out, 'carillon_fuzz'), [name, values.seconds, values.seed, file], {
    env: {
      ...process.env,
      ASAN_OPTIONS: 'abort_on_error=1:detect_leaks=1',
      UBSAN_OPTIONS: 'halt_on_error=1:abort_on_error=1:print_stacktrace=1',
    },
  });
  if (run.status === 0) {
    console.log(`${name}: ${run.stdout.trim()} inputs`);
    continue;
  }
  failed += 1;
  console.log(
    `✗ ${name}: ended with ${run.status ?? run.signal}; the input is in ${file}\n${run.stderr.slice(-4000)}`,
  );
}
if (wanted(SCRIPT).length > 0) {
  const args = ['node', join(root, 'test', 'fuzz', 'run.ts'), values.seconds, values.seed, found];
  const run = sh('npx', [...args, ...wanted(SCRIPT)], { stdio: 'inherit' });
  failed += run.status === 0 ? 0 : 1;
}
process.exit(failed === 0 ? 0 : 1);
