/** The JavaScript part of `npm run fuzz`: `node test/fuzz/run.ts SECONDS SEED FOLDER [TARGET …]`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Mutator } from './mutator.ts';
import { TARGETS } from './targets.ts';

const [seconds = '10', seed = '1', folder = '.', ...names] = process.argv.slice(2);
for (const target of TARGETS) {
  if (names.length > 0 && !names.includes(target.name)) continue;
  const seeds = await target.seeds();
  const mutator = new Mutator(Number(seed));
  const endMs = performance.now() + Number(seconds) * 1000;
  let runs = 0;
  for (; performance.now() < endMs; runs += 1) {
    const input = mutator.next(seeds);
    try {
      await target.run(input);
    } catch (error) {
      const found = join(folder, `${target.name}.found`);
      writeFileSync(found, input);
      console.log(`✗ ${target.name}: ${String(error)}; the input is in ${found}`);
      process.exitCode = 1;
      break;
    }
  }
  console.log(`${target.name}: ${runs} inputs`);
}
