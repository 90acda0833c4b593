/** `node test/crash/run.ts [points] [seed]`: kills a billing process at as many moments as asked for. */

import { seededRandom, withFolder } from '../edge/store/open.ts';
import { billUntilKilled, findFaults, prepare } from './crash.ts';

const points = Number(process.argv[2] ?? 1000);
const seed = Number(process.argv[3] ?? 1);
/** Rounds in one folder before a fresh one: checks read all of it. */
const ROUNDS_PER_FOLDER = 25;
const random = seededRandom(seed);

let faulty = 0;
for (let done = 0; done < points; done += ROUNDS_PER_FOLDER) {
  const rounds = Math.min(ROUNDS_PER_FOLDER, points - done);
  await withFolder(async (folder) => {
    await prepare(folder);
    for (let round = 0; round < rounds; round += 1) {
      const witness = await billUntilKilled(folder, done + round, random.integer(400));
      const faults = await findFaults(folder, witness);
      if (faults.length > 0) faulty += 1;
      for (const fault of faults) console.error(`point ${done + round}: ${fault}`);
    }
  });
  console.log(`${Math.min(done + rounds, points)} of ${points} points, ${faulty} with faults`);
}
process.exitCode = faulty === 0 ? 0 : 1;
