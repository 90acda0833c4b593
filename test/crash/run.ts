/**
 * `npm run crash -- [points] [seed] [billing|campaigns|power|disk|bitflip]` kills a billing process and a campaign process, each
 * at the given number of random moments (default 1,000), and lets the power of a billing process fail at as many moments. `disk` lets each
 * single write and sync of a billing process fail, and each with all later ones; with fewer than 300 points, only some.
 * `bitflip` damages the files of killed and of stopped processes.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom, withFolder } from '../edge/store/open.ts';
import { readArguments, USAGE } from './arguments.ts';
import { contentOf, flip, prepareFlips, TARGETS } from './bit-flips.ts';
import { dialUntilKilled, findCampaignFaults, prepareCampaign } from './campaigns.ts';
import { billUntilKilled, findFaults, prepare } from './crash.ts';
import { ALL_LATER, atEachOperation } from './disk-faults.ts';
import { atPowerLosses, buildWriteLog, powerLossMissing, record } from './power-loss.ts';

const chosen = readArguments(process.argv.slice(2));
if (chosen === undefined) {
  console.error(USAGE);
  process.exit(2);
}
const { points, seed, only } = chosen;
/** Rounds per data folder. Checks read the whole folder, so each folder stays small. */
const ROUNDS_PER_FOLDER = 25;
const LINES = 400;
const CALLS_ON_BROKEN_DISK = 4;
/** Number of operations of such a run, roughly. With as many points, each of them fails. */
const DISK_OPERATIONS = 300;
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

/** Power failures: half of the points with each value of `store.synchronous`. */
async function losePower(): Promise<number> {
  let faulty = 0;
  let done = 0;
  while (done < points) {
    const synchronous = (done / ROUNDS_PER_FOLDER) % 2 === 0 ? 'normal' : 'full';
    await withFolder(async (workspace) => {
      const folder = join(workspace, 'data');
      mkdirSync(folder);
      await prepare(folder);
      const library = buildWriteLog(workspace);
      const lines = 50 + random.integer(LINES);
      const recorded = await record(folder, { library, workspace, lines, synchronous });
      const target = join(workspace, 'after');
      const options = { points: Math.min(ROUNDS_PER_FOLDER, points - done), target, random };
      await atPowerLosses(recorded, options, async (after, witness) => {
        const seen = synchronous === 'full' ? witness : { answered: [], settled: [] };
        const faults = await findFaults(after, seen);
        if (faults.length > 0) faulty += 1;
        for (const fault of faults) console.error(`power, point ${done}: ${fault}`);
        done += 1;
      });
    });
    console.log(`power: ${done} of ${points} points, ${faulty} with faults`);
  }
  return faulty;
}

/** Each write, sync and truncation fails once, or with all later ones; with an I/O error, and with a full disk. */
async function breakDisk(): Promise<number> {
  let faulty = 0;
  await withFolder(async (workspace) => {
    const clean = join(workspace, 'clean');
    mkdirSync(clean);
    await prepare(clean);
    const library = buildWriteLog(workspace);
    const step = Math.max(1, Math.round(DISK_OPERATIONS / points));
    for (const kind of ['EIO', 'ENOSPC'] as const)
      for (const count of [1, ALL_LATER]) {
        const options = { clean, kind, count, calls: CALLS_ON_BROKEN_DISK, step, from: 1 };
        let [runs, reports] = [0, 0];
        await atEachOperation(workspace, library, options, ({ faults, reported }, at) => {
          runs += 1;
          reports += reported.length;
          if (faults.length > 0) faulty += 1;
          for (const fault of faults) console.error(`disk, ${kind} at ${at}, ${count}: ${fault}`);
        });
        const many = count === 1 ? 'one failure' : 'all later operations';
        console.log(`disk: ${kind}, ${many}, at each of ${runs} operations: ${reports} reports`);
      }
  });
  return faulty;
}

/** Bit flips: each start reports the damage or has all rows. */
async function flipBits(): Promise<number> {
  let faulty = 0;
  const outcomes = new Map<string, number>();
  await withFolder(async (workspace) => {
    const folders = [join(workspace, 'killed'), join(workspace, 'stopped')] as const;
    await prepareFlips(folders[0], folders[1]);
    for (const folder of folders) {
      const intact = await contentOf(folder, workspace);
      for (let point = 0; point < points; point += 2) {
        const target = TARGETS[(point / 2) % TARGETS.length] ?? TARGETS[0];
        const flipped = await flip(folder, { workspace, target, random, intact });
        const key = `${target.name}, ${flipped.outcome}`;
        outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
        if (flipped.outcome !== 'silent') continue;
        faulty += 1;
        console.error(`bit flip, ${flipped.where}: ${flipped.reason}`);
      }
      console.log(`bit flips: ${folder.split('/').at(-1)} process done, ${faulty} with faults`);
    }
  });
  for (const [key, count] of [...outcomes].sort()) console.log(`bit flips of ${key}: ${count}`);
  return faulty;
}

let faulty = 0;
if (only === undefined || only === 'bitflip') faulty += await flipBits();
if (only === undefined || only === 'disk') {
  if (powerLossMissing === undefined) faulty += await breakDisk();
  else console.log(`disk faults not tested: ${powerLossMissing}`);
}
if (only === undefined || only === 'power') {
  if (powerLossMissing === undefined) faulty += await losePower();
  else console.log(`power failures not tested: ${powerLossMissing}`);
}
if (only === undefined || only === 'billing') faulty += await killAll('billing', billing);
if (only === undefined || only === 'campaigns') faulty += await killAll('campaigns', campaigns);
process.exitCode = faulty === 0 ? 0 : 1;
