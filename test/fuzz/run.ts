/**
 * The JavaScript part of `npm run fuzz`: `node test/fuzz/run.ts SECONDS SEED FOLDER [TARGET …]`. Inputs that reach new code
 * become seeds of later ones, and join the corpus in fixtures/fuzz.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addToCorpus, readCorpus } from './corpus.ts';
import { Coverage } from './coverage.ts';
import { Mutator } from './mutator.ts';
import { type FuzzTarget, TARGETS } from './targets.ts';

/** An input that takes longer is a finding, ms. */
const SLOW_MS = 5000;

const [seconds = '10', seed = '1', folder = '.', ...names] = process.argv.slice(2);
const coverage = new Coverage();

/** Runs one input. Returns false after a finding. */
async function accepts(target: FuzzTarget, input: Uint8Array): Promise<boolean> {
  const startMs = performance.now();
  try {
    await target.run(input);
    if (performance.now() - startMs < SLOW_MS) return true;
    throw new Error('too slow');
  } catch (error) {
    const found = join(folder, `${target.name}.found`);
    writeFileSync(found, input);
    console.log(`✗ ${target.name}: ${String(error)}; the input is in ${found}`);
    process.exitCode = 1;
    return false;
  }
}

async function guide(target: FuzzTarget): Promise<void> {
  const seeds = [...(await target.seeds()), ...readCorpus(target.name)];
  const mutator = new Mutator(Number(seed));
  const endMs = performance.now() + Number(seconds) * 1000;
  for (const input of seeds) if (!(await accepts(target, input))) return;
  coverage.grew();
  const before = coverage.found;
  const found: Uint8Array[] = [];
  let runs = 0;
  for (; performance.now() < endMs; runs += 1) {
    const input = mutator.next(seeds);
    if (!(await accepts(target, input))) return;
    if (!coverage.grew()) continue;
    seeds.push(input);
    found.push(input);
  }
  const added = addToCorpus(target.name, found);
  console.log(
    `${target.name}: ${runs} inputs, ${coverage.found - before} new blocks, ${added} inputs kept`,
  );
}

const chosen = TARGETS.filter(({ name }) => names.length === 0 || names.includes(name));
for (const target of chosen) await guide(target);
coverage.close();
