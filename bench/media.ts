/** The native media engine on loopback sockets: cost of a leg relative to bare UDP, pacing, latency of bot audio and its interruption, and calls through the whole service. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { wholeProcess } from './media/whole.ts';
import { isQuick, least, most, mostTimesFloor, type Row } from './row.ts';

/** Output of native/bench/media_bench.cpp. */
interface Measured {
  readonly legs: number;
  /** Heap bytes per leg. */
  readonly legBytes: number;
  readonly skippedTicks: number;
  readonly legCpuUs: number;
  readonly floorUs: number;
  readonly pacedFloorUs: number;
  readonly busy: number;
  /** Delay of sent packets at their receivers, by kernel timestamps, relative to their tick. */
  readonly sentLateP50Us: number;
  readonly sentLateP99Us: number;
  readonly lost: number;
  readonly pacingP50Ms: number;
  readonly pacingP99Ms: number;
  readonly firstP50Ms: number;
  readonly firstP99Ms: number;
  readonly clearP50Ms: number;
  readonly clearP99Ms: number;
  readonly scheduling: string;
}

/** Output of native/bench/relay_bench.cpp. */
interface Relayed {
  readonly calls: number;
  readonly callCpuUs: number;
  readonly packets: number;
  readonly lost: number;
  readonly delayP50Ms: number;
  readonly delayP99Ms: number;
}

const BUILD = fileURLToPath(new URL('../build/native', import.meta.url));
const execute = promisify(execFile);
const PAIRS = 300;
const SECONDS = isQuick ? 2 : 4;
/** Pairs for two threads; one thread has half as many. */
const SPREAD_PAIRS = 800;
const FULL_PAIRS = 1500;
const RELAYED_CALLS = 100;
const RELAY_SECONDS = isQuick ? 2 : 20;

async function measure(pairs: number, threads: number): Promise<Measured> {
  const { stdout } = await execute(join(BUILD, 'media_bench'), [
    String(pairs),
    String(SECONDS),
    String(threads),
  ]);
  return JSON.parse(stdout) as Measured;
}

/** Gain of a second thread, legs per thread, and memory per leg. */
async function capacity(): Promise<Row[]> {
  const one = await measure(SPREAD_PAIRS / 2, 1);
  const two = await measure(SPREAD_PAIRS, 2);
  const full = await measure(FULL_PAIRS, 1);
  const times = (2 * one.legCpuUs) / two.legCpuUs;
  return [
    {
      name: 'two media threads against one',
      value: Math.round(times * 100) / 100,
      unit: 'times the legs',
      goal: least(1.8),
      note: `${one.legs} legs at ${Math.round(one.legCpuUs)} µs each, ${two.legs} on two threads at ${Math.round(two.legCpuUs)}; lateness of sent RTP p99 ${one.sentLateP99Us} and ${two.sentLateP99Us} µs; means something on two free cores alone`,
    },
    {
      name: 'lateness of sent RTP p99, 3,000 legs on one thread',
      value: full.sentLateP99Us,
      unit: 'µs',
      goal: most(1000),
      note: `p50 ${full.sentLateP50Us} µs, ${Math.round(full.busy * 100)} % busy, ${Math.round(full.legCpuUs)} µs a leg where bare UDP takes ${Math.round(full.pacedFloorUs)}, pacing p99 ${full.pacingP99Ms} ms, ${full.skippedTicks} ticks left out, ${full.lost} packets lost`,
    },
    {
      name: 'memory of a call, PCMU both legs, native heap',
      value: Math.round((2 * full.legBytes) / 102.4) / 10,
      unit: 'KiB',
      goal: most(24),
      note: 'without what the kernel takes for its sockets',
    },
  ];
}

export async function run(): Promise<Row[]> {
  await execute('cmake', ['--build', BUILD, '--target', 'media_bench', 'relay_bench']);
  const measured = await measure(PAIRS, 1);
  const relay = await execute(join(BUILD, 'relay_bench'), [
    String(RELAYED_CALLS),
    String(RELAY_SECONDS),
  ]);
  return [
    ...(await capacity()),
    ...costRows(measured),
    ...relayRows(JSON.parse(relay.stdout) as Relayed, measured),
    ...delayRows(measured),
    ...(await wholeProcess()),
  ];
}

const conditionsOf = ({ legs, busy, scheduling }: Measured): string =>
  `${legs} legs, media thread ${Math.round(busy * 100)} % busy, scheduling ${scheduling}`;

/** Cost of a leg relative to bare UDP. */
function costRows(m: Measured): Row[] {
  return [
    {
      name: 'RTP leg, PCMU both ways: media thread',
      value: m.legCpuUs,
      unit: 'µs per call-second',
      floor: m.floorUs,
      ratio: Math.round((m.legCpuUs / m.floorUs) * 100) / 100,
      goal: mostTimesFloor(1.3),
      note: `${conditionsOf(m)}; floor: 50 sends and 50 receives, connected, over as many sockets, without a pause; ${m.lost} packets lost`,
    },
    {
      name: 'RTP leg and bare UDP at the same packet rate',
      value: m.legCpuUs,
      unit: 'µs per call-second',
      floor: m.pacedFloorUs,
      ratio: Math.round((m.legCpuUs / m.pacedFloorUs) * 100) / 100,
      goal: mostTimesFloor(1.15),
      note: 'floor: the same packets, those of a millisecond, then sleep until the next, as the media thread does',
    },
  ];
}

function relayRows(r: Relayed, m: Measured): Row[] {
  const relayed = `${r.calls} calls, ${r.packets + r.lost} packets of which ${r.lost} were lost`;
  return [
    {
      name: 'relay of a call, PCMU both legs: media thread',
      value: r.callCpuUs,
      unit: 'µs per call-second',
      floor: 2 * m.floorUs,
      ratio: Math.round((r.callCpuUs / (2 * m.floorUs)) * 100) / 100,
      goal: mostTimesFloor(1.25),
      note: `${relayed}; floor: the packets of two legs, without a pause`,
    },
    {
      name: 'relay, delay p50',
      value: r.delayP50Ms,
      unit: 'ms',
      goal: most(0.6),
      note: 'from send to arrival',
    },
    { name: 'relay, delay p99', value: r.delayP99Ms, unit: 'ms', goal: most(2) },
  ];
}

/** Lateness and pacing of sent packets, and the delays of bot audio and its interruption. */
function delayRows(m: Measured): Row[] {
  return [
    {
      name: 'lateness of sent RTP p99',
      value: m.sentLateP99Us,
      unit: 'µs',
      note: `${conditionsOf(m)}; p50 ${m.sentLateP50Us} µs`,
    },
    {
      name: 'pacing on the wire, deviation from the 20 ms grid, p50',
      value: m.pacingP50Ms,
      unit: 'ms',
    },
    {
      name: 'pacing on the wire, deviation from the 20 ms grid, p99',
      value: m.pacingP99Ms,
      unit: 'ms',
      goal: most(0.2),
    },
    { name: 'playAudio → first RTP, empty queue, p50', value: m.firstP50Ms, unit: 'ms' },
    {
      name: 'playAudio → first RTP, empty queue, p99',
      value: m.firstP99Ms,
      unit: 'ms',
      goal: most(22),
    },
    { name: 'clearAudio → last old audio, p50', value: m.clearP50Ms, unit: 'ms' },
    {
      name: 'clearAudio → last old audio, p99',
      value: m.clearP99Ms,
      unit: 'ms',
      goal: most(22),
    },
  ];
}
