/** Measures whole processes with calls through them, in a separate network namespace; see bench/media/whole.ts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asteriskProgram } from '../peers/asterisk.ts';
import { programOf } from '../peers/peer.ts';
import { mostTimesFloor, type Row } from '../row.ts';
import { buildLoad } from './load.ts';
import { described, type Load, type Measured, measure, writeSpeech } from './measure.ts';
import { OPUS, PCMA, PCMU } from './sides.ts';
import {
  asterisk,
  bareRelay,
  type Calls,
  carillon,
  isSpokenByAsterisk,
  rtpengine,
  type Subject,
} from './subjects.ts';

interface Kind extends Load {
  readonly name: string;
  /** Against the bare relay, or against the cheapest peer. */
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
  // The number that rtpengine sustains on one core.
  { name: 'PCMU↔Opus', caller: PCMU, callee: OPUS, calls: 40, goal: { of: 'peer', times: 0.3 } },
];
/** The original program, on the same core. */
interface MediaPeer {
  readonly name: string;
  speaks(kind: Kind): boolean;
  start(calls: Calls): Promise<Subject>;
}

function installedPeers(folder: string): readonly MediaPeer[] {
  const peers: MediaPeer[] = [];
  const ng = programOf('rtpengine', 'BENCH_RTPENGINE');
  if (ng !== undefined)
    peers.push({
      name: 'rtpengine',
      speaks: () => true,
      start: (calls) => rtpengine(calls, ng),
    });
  const program = asteriskProgram();
  if (program !== undefined)
    peers.push({
      name: 'Asterisk',
      speaks: isSpokenByAsterisk,
      start: (calls) => asterisk(calls, folder, program),
    });
  return peers;
}

async function rowsOf(
  kind: Kind,
  folder: string,
  installed: readonly MediaPeer[],
): Promise<readonly Row[]> {
  const floor = await measure(kind, folder, bareRelay);
  const ours = await measure(kind, folder, (calls) => carillon(calls, folder));
  const peers: { readonly name: string; readonly measured: Measured }[] = [];
  for (const peer of installed.filter((one) => one.speaks(kind)))
    peers.push({ name: peer.name, measured: await measure(kind, folder, peer.start) });
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
  const [cheapest] = [...peers].sort((a, b) => a.measured.us - b.measured.us);
  const again = kind.goal.of === 'floor' || cheapest === undefined;
  return [
    {
      name: `${title}: bare relay`,
      value: Math.round(floor.us),
      unit: 'µs per call-second',
      note: described(floor),
    },
    { ...row(title, ours, floor), ...(kind.goal.of === 'floor' ? goal : {}) },
    ...peers.map(({ name, measured }) => row(`${title}: ${name}`, measured, floor)),
    ...(again
      ? []
      : [{ ...row(`${title}: to ${cheapest.name}`, ours, cheapest.measured), ...goal }]),
  ];
}

async function run(): Promise<readonly Row[]> {
  await buildLoad();
  const folder = mkdtempSync(join(tmpdir(), 'carillon-media-'));
  try {
    const peers = installedPeers(folder);
    for (const side of [PCMU, PCMA, OPUS]) await writeSpeech(folder, side);
    const rows: Row[] = [];
    for (const kind of KINDS) rows.push(...(await rowsOf(kind, folder, peers)));
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// The parent process has ended.
process.once('disconnect', () => process.exit(1));
const rows = await run();
process.send?.(rows, () => process.exit(0));
