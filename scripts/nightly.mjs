#!/usr/bin/env node
// `npm run nightly` runs all cases of the tests and the long tests of reliability in order, with new seeds each night. Options after `--`:
// `--minutes 30` (default 120) is the approximate duration on two cores, to which seeds and durations are scaled;
// `--seed 7` (default: the date); names of steps. Writes the output of each step to build/nightly, and exits with 1 if one failed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const out = join(root, 'build', 'nightly');
const DAY_MS = 86_400_000;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '120' },
    seed: { type: 'string', default: String(Math.floor(Date.now() / DAY_MS)) },
  },
});
/** Duration of a run in minutes with the numbers below. */
const WHOLE_MINUTES = 120;
const scale = Number(values.minutes) / WHOLE_MINUTES;
const seed = Number(values.seed);
if (!(scale > 0) || !Number.isSafeInteger(seed)) {
  console.error('usage: npm run nightly -- [--minutes 120] [--seed 1] [step …]');
  process.exit(2);
}
const times = (count) => String(Math.max(1, Math.round(count * scale)));
const minutes = (whole) => String(Math.max(0.5, Math.round(whole * scale * 10) / 10));
/** First seed of the simulations: each night has its own range. */
const from = String(1_000_000 + (seed % 1_000_000) * 10_000);

const STEPS = {
  tests: ['scripts/test.mjs'],
  simulation: ['test/sim/run.ts', '--nightly', '--seeds', times(1000), '--from', from],
  calls: ['test/sim/run.ts', '--seeds', times(100), '--from', from],
  crash: ['test/crash/run.ts', times(200), String(seed)],
  judge: [
    'test/judge/run.ts',
    ...['--parallel', '3', '--nodes', '1,3,1', '--minutes', minutes(45)],
    ...['--seed', String((seed % 1_000_000) * 100)],
  ],
  fuzz: ['scripts/fuzz.mjs', '--seconds', times(60), '--seed', String(seed)],
  api: ['test/fuzz/openapi.ts', '--minutes', minutes(10), '--seed', String(seed)],
  attack: [
    'test/attack/run.ts',
    '--quick',
    '--seconds',
    String(Math.min(10, 3 + Number(times(7)))),
  ],
};
const unknown = positionals.filter((name) => !(name in STEPS));
if (unknown.length > 0) {
  console.error(`no step ${unknown.join(', ')}; there are ${Object.keys(STEPS).join(', ')}`);
  process.exit(2);
}
mkdirSync(out, { recursive: true });
let failed = 0;
for (const [name, args] of Object.entries(STEPS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const log = createWriteStream(join(out, `${name}.log`));
  const startMs = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    // All cases of the tests (test/thorough.ts).
    env: { ...process.env, THOROUGH: '1' },
  });
  for (const stream of [child.stdout, child.stderr]) stream.pipe(log, { end: false });
  const [status, signal] = await once(child, 'close');
  log.end();
  const took = ((performance.now() - startMs) / 60_000).toFixed(1);
  console.log(`${status === 0 ? '✓' : '✗'} ${name}: ${took} min${signal ? `, ${signal}` : ''}`);
  failed += status === 0 ? 0 : 1;
}
console.log(`seed ${seed}, --minutes ${values.minutes}: ${failed} failed. Output: ${out}`);
process.exit(failed === 0 ? 0 : 1);
