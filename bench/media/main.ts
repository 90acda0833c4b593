/** Whole processes with calls through them, in a network of its own; sends the rows to its parent. See bench/media/whole.ts. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Cpu, cpuOf, threadsBetween } from '../calls/accounting.ts';
import { talk } from '../hearing/talk.ts';
import { isQuick, mostTimesFloor, type Row } from '../row.ts';
import { buildLoad, type Heard, Talkers, writePackets } from './load.ts';
import { OPUS, PCMA, PCMU, type Side } from './sides.ts';
import { bareRelay, type Calls, carillon, rtpengine, type Subject } from './subjects.ts';

interface Kind {
  readonly name: string;
  readonly caller: Side;
  readonly callee: Side;
  readonly calls: number;
  /** Against the bare relay, or against rtpengine. */
  readonly goal: { readonly of: 'floor' | 'peer'; readonly times: number };
}

const KINDS: readonly Kind[] = [
  {
    name: 'relay PCMU',
    caller: PCMU,
    callee: PCMU,
    calls: 100,
    goal: { of: 'floor', times: 1.25 },
  },
  { name: 'PCMU↔PCMA', caller: PCMU, callee: PCMA, calls: 100, goal: { of: 'floor', times: 1.5 } },
  // As many as a peer carries on one core.
  { name: 'PCMU↔Opus', caller: PCMU, callee: OPUS, calls: 40, goal: { of: 'peer', times: 0.3 } },
];
const WARM_MS = 6000;
const SECONDS = isQuick ? 4 : 8;
/** Of what the ends said: more than this is a broken call, not a slow one. */
const MISSING = 0.02;

interface Measured extends Heard {
  readonly us: number;
  /** The busiest threads, microseconds as above. */
  readonly threads: string;
}

const THREADS = 3;

function busiest(before: Cpu, after: Cpu, usEach: (ms: number) => number): string {
  const threads = threadsBetween(before, after).slice(0, THREADS);
  return threads.map(({ name, ms }) => `${name} ${Math.round(usEach(ms))}`).join(', ');
}

const fileOf = (folder: string, side: Side): string => join(folder, `${side.codec.name}.packets`);

/** CPU microseconds of the whole process for each call and second. */
async function measure(
  kind: Kind,
  folder: string,
  subject: (calls: Calls) => Promise<Subject>,
): Promise<Measured> {
  const { caller, callee, calls } = kind;
  const talkers = await Talkers.start(calls, fileOf(folder, caller), fileOf(folder, callee));
  let between: Subject | undefined;
  try {
    between = await subject({ caller, callee, ports: talkers.ports });
    await talkers.talk(between.peers);
    await pause(WARM_MS);
    await talkers.beginWindow();
    const [before, startedMs] = [cpuOf(between.pid), performance.now()];
    await pause(SECONDS * 1000);
    const [after, endedMs] = [cpuOf(between.pid), performance.now()];
    const heard = await talkers.heard();
    const usEach = (ms: number): number => (ms * 1e6) / calls / (endedMs - startedMs);
    return {
      ...heard,
      us: usEach(after.ms - before.ms),
      threads: busiest(before, after, usEach),
    };
  } finally {
    await between?.stop();
    await talkers.stop();
  }
}

const described = ({ sent, heard, silent, threads }: Measured): string => {
  const isBroken = silent > 0 || Math.abs(sent - heard) > MISSING * sent;
  return `${threads}; ${heard} of ${sent} packets heard${isBroken ? `, ${silent} ends heard nothing: NOT VALID` : ''}`;
};

async function rowsOf(kind: Kind, folder: string, hasPeer: boolean): Promise<readonly Row[]> {
  const floor = await measure(kind, folder, bareRelay);
  const ours = await measure(kind, folder, (calls) => carillon(calls, folder));
  const peer = hasPeer ? await measure(kind, folder, rtpengine) : undefined;
  const title = `whole process, ${kind.name}, two legs, ${kind.calls} calls`;
  const row = (name: string, measured: Measured, least: Measured): Row => ({
    name,
    value: Math.round(measured.us),
    unit: 'µs per call-second',
    floor: Math.round(least.us),
    ratio: Math.round((measured.us / least.us) * 100) / 100,
    note: described(measured),
  });
  const goal = { goal: mostTimesFloor(kind.goal.times) };
  const again = kind.goal.of === 'floor' || peer === undefined;
  return [
    {
      name: `${title}: bare relay`,
      value: Math.round(floor.us),
      unit: 'µs per call-second',
      note: described(floor),
    },
    { ...row(title, ours, floor), ...(kind.goal.of === 'floor' ? goal : {}) },
    ...(peer === undefined ? [] : [row(`${title}: rtpengine`, peer, floor)]),
    ...(again ? [] : [{ ...row(`${title}: to rtpengine`, ours, peer), ...goal }]),
  ];
}

async function run(): Promise<readonly Row[]> {
  await buildLoad();
  const hasPeer = spawnSync('rtpengine', ['--version']).error === undefined;
  const folder = mkdtempSync(join(tmpdir(), 'carillon-media-'));
  try {
    for (const side of [PCMU, PCMA, OPUS])
      writePackets(fileOf(folder, side), await talk(side.codec));
    const rows: Row[] = [];
    for (const kind of KINDS) rows.push(...(await rowsOf(kind, folder, hasPeer)));
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// Whoever asked is gone.
process.once('disconnect', () => process.exit(1));
const rows = await run();
process.send?.(rows, () => process.exit(0));
