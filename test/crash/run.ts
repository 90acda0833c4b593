/**
 * `node test/crash/run.ts [points] [seed] [billing|campaigns]` kills a billing process and a campaign process, each at
 * the given number of random moments.
 */

import { seededRandom, withFolder } from '../edge/store/open.ts';
import { dialUntilKilled, findCampaignFaults, prepareCampaign } from './campaigns.ts';
import { billUntilKilled, findFaults, prepare } from './crash.ts';

const points = Number(process.argv[2] ?? 1000);
const seed = Number(process.argv[3] ?? 1);
const only = process.argv[4];
/** Rounds per data folder. Checks read the whole folder, so each folder stays small. */
const ROUNDS_PER_FOLDER = 25;
const LINES = 400;
const random = seededRandom(seed);

/** Kills a process once in the folder and returns the faults found afterwards. */
type Kill = (folder: string, point: number) => Promise<readonly string[]>;

const billing = async (): Promise<Kill> => async (folder, point) =>
  findFaults(folder, await billUntilKilled(folder, point, random.integer(LINES)));

async function campaigns(folder: string): Promise<Kill> {
  await prepareCampaign(folder, ROUNDS_PER_FOLDER * LINES * 2);
  const dialled: string[] = [];
  return async () => {
    dialled.push(...(await dialUntilKilled(folder, random.integer(LINES))));
    return findCampaignFaults(folder, dialled);
  };
}

async function killAll(what: string, begin: (folder: string) => Promise<Kill>): Promise<number> {
  let faulty = 0;
  for (let done = 0; done < points; done += ROUNDS_PER_FOLDER) {
    const rounds = Math.min(ROUNDS_PER_FOLDER, points - done);
    await withFolder(async (folder) => {
      await prepare(folder);
      const kill = await begin(folder);
      for (let round = 0; round < rounds; round += 1) {
        const faults = await kill(folder, done + round);
        if (faults.length > 0) faulty += 1;
        for (const fault of faults) console.error(`${what}, point ${done + round}: ${fault}`);
      }
    });
    console.log(`${what}: ${done + rounds} of ${points} points, ${faulty} with faults`);
  }
  return faulty;
}

let faulty = 0;
if (only !== 'campaigns') faulty += await killAll('billing', billing);
if (only !== 'billing') faulty += await killAll('campaigns', campaigns);
process.exitCode = faulty === 0 ? 0 : 1;
