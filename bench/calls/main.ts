/** Measures in a separate network namespace and sends the rows to its parent; see bench/calls.ts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Row } from '../row.ts';
import { countRows } from './counts.ts';
import { datagramFloor, MESSAGES } from './floor.ts';
import { type CallsOptions, callsOptions, type Scenario } from './options.ts';
import { comparedRows, type Measured, measurePeers, peerRows } from './peers.ts';
import { atRates, rowsOf } from './rates.ts';
import { Rig, type RigOptions } from './rig.ts';
import { delayRows } from './scenarios/delay.ts';
import { growthRows } from './scenarios/growth.ts';
import { memoryRows } from './scenarios/memory.ts';
import { overloadRows } from './scenarios/overload.ts';
import { recordRows } from './scenarios/records.ts';
import { registerRows } from './scenarios/register.ts';
import { transportRows } from './scenarios/transports.ts';
import { CALLEE_PORT, Callee } from './sipp.ts';
import { describe, isClean, step } from './step.ts';

const ALONE_RATE = 100;

const TITLES: Readonly<Record<Scenario, string>> = {
  whole: 'answer URL, Dial, two legs',
  trunk: 'trunk, two legs',
  peers: 'peers',
  overload: 'overload',
  delay: 'post-dial delay',
  transports: 'answer URL, Dial, two legs',
  register: 'REGISTER',
  memory: 'memory',
  growth: 'growth',
  records: 'growth',
};

async function floors(folder: string, seconds: number): Promise<readonly Row[]> {
  const bare = await datagramFloor(seconds);
  const callee = await Callee.start(folder);
  try {
    const to = { pid: callee.pid, port: CALLEE_PORT, number: 'callee' };
    const alone = await step({ ...to, folder, callee, rate: ALONE_RATE, seconds });
    return [
      { name: `floor: ${MESSAGES} messages of bare dgram`, value: bare, unit: 'ms/call' },
      {
        name: 'floor: SIPp to SIPp, its answering end',
        value: alone.msPerCall,
        unit: 'ms/call',
        note: isClean(alone) ? '' : describe(alone),
      },
    ];
  } finally {
    await callee.stop();
  }
}

/** Results of one run so far, for later scenarios. */
interface Run {
  readonly options: CallsOptions;
  readonly floor: number;
  readonly isFirstRound: boolean;
  /** Result of this service, which peers are compared with. */
  readonly measured: Measured[];
  limit: number;
}

async function scenarioRows(
  scenario: Scenario,
  title: string,
  at: Omit<RigOptions, 'kind'>,
  run: Run,
): Promise<readonly Row[]> {
  const { seconds } = run.options;
  const whole: RigOptions = { ...at, kind: 'whole' };
  switch (scenario) {
    case 'overload':
      return overloadRows(title, whole, { limit: run.limit, seconds });
    case 'delay':
      return delayRows(title, whole, { rate: Math.round(run.limit / 2), seconds });
    case 'transports':
      return transportRows(title, whole);
    case 'register':
      return registerRows(title, whole);
    case 'memory':
      return memoryRows(title, whole);
    case 'growth':
      return growthRows(title, whole);
    case 'records':
      return recordRows(title, whole);
    case 'peers': {
      if (at.root !== run.options.roots[0]) return [];
      const peers = await measurePeers(at.folder, run.options);
      const compared = run.measured.flatMap((ours) => comparedRows(ours, peers));
      return [...peerRows(peers, run.floor), ...compared];
    }
    default: {
      const rig = { ...at, kind: scenario };
      const { rates } = run.options;
      const found = await atRates(await Rig.start(rig), rates, seconds);
      run.measured.push({ kind: scenario, title, steps: found.steps });
      const held = found.steps.filter(isClean).map(({ rate }) => rate);
      if (scenario === 'whole' && held.length > 0) run.limit = Math.max(...held);
      const isCounted = run.options.count && run.isFirstRound;
      const counted = isCounted ? await countRows(title, rig) : [];
      return [...rowsOf(title, found, run.floor), ...counted];
    }
  }
}

async function run(): Promise<readonly Row[]> {
  const options = callsOptions(process.env);
  const folder = mkdtempSync(join(tmpdir(), 'carillon-calls-'));
  try {
    const rows = [...(await floors(folder, options.seconds))];
    const floor = rows[0]?.value ?? Number.NaN;
    for (let round = 0; round < options.rounds; round += 1) {
      const found: Run = {
        options,
        floor,
        isFirstRound: round === 0,
        measured: [],
        limit: options.limit,
      };
      for (const scenario of options.scenarios) {
        for (const root of options.roots) {
          const version = options.roots.length > 1 ? ` (${basename(root)})` : '';
          const title = TITLES[scenario] + version;
          rows.push(...(await scenarioRows(scenario, title, { root, folder }, found)));
        }
      }
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// The parent process has ended.
process.once('disconnect', () => process.exit(1));
const rows = await run();
process.send?.(rows, () => process.exit(0));
