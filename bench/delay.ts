/**
 * One-way delay of audio through a bridge of two codecs, in both directions, measured by chirps over loopback sockets and an impaired network
 * (native/bench/delay_bench.cpp). `--codecs PCMU:G722,OPUS:PCMU/60` measures other pairs; a number is a packet time in ms. `--networks 15/0,30/2`
 * measures other networks: jitter in ms and loss in percent. `--seconds 10` sets the duration of each measurement.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isQuick, most, type Row } from './row.ts';

const BUILD = fileURLToPath(new URL('../build/native', import.meta.url));
const CALLS = 10;
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? (isQuick ? 2 : 10));
const CODECS = ['PCMU', 'PCMA', 'G722', 'L16', 'L16_8', 'OPUS'];
const PACKET_MS = [10, 20, 30, 40, 50, 60];
const execute = promisify(execFile);

interface Side {
  readonly codec: string;
  readonly packetMs: number;
}
interface Network {
  readonly jitterMs: number;
  readonly lossPercent: number;
}
/** Output of native/bench/delay_bench.cpp. */
interface Measured {
  readonly callCpuUs: number;
  readonly ways: readonly Way[];
}
interface Way {
  readonly chirps: number;
  readonly missing: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** Goals from PCMU to the other codec, p50 and p95 in ms, in the order of `NETWORKS`. */
const GOALS: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  G722: [
    [8, 15],
    [8, 25],
    [8, 40],
  ],
  OPUS: [
    [14, 20],
    [14, 30],
    [14, 45],
  ],
};
const NETWORKS: readonly Network[] = [
  { jitterMs: 0, lossPercent: 0 },
  { jitterMs: 15, lossPercent: 0 },
  { jitterMs: 30, lossPercent: 2 },
];

export async function run(): Promise<Row[]> {
  const pairs = (process.env['BENCH_CODECS'] ?? 'PCMU:PCMA,PCMU:G722,PCMU:OPUS,G722:OPUS')
    .split(',')
    .map(pairOf);
  const networks = process.env['BENCH_NETWORKS']?.split(',').map(networkOf) ?? NETWORKS;
  await execute('cmake', ['--build', BUILD, '--target', 'delay_bench']);
  const rows: Row[] = [];
  for (const pair of pairs)
    for (const network of networks)
      rows.push(...rowsOf(pair, network, await measure(pair, network)));
  return rows;
}

function pairOf(text: string): readonly [Side, Side] {
  const [a, b, ...more] = text.split(':').map(sideOf);
  if (a === undefined || b === undefined || more.length > 0)
    throw new Error(`${text} is not a pair of codecs such as PCMU:G722`);
  return [a, b];
}

function sideOf(text: string): Side {
  const [codec = '', packet = '20'] = text.split('/');
  const packetMs = Number(packet);
  if (!CODECS.includes(codec) || !PACKET_MS.includes(packetMs))
    throw new Error(
      `${text}: the codecs are ${CODECS.join(', ')}, packet times ${PACKET_MS.join(', ')} ms`,
    );
  return { codec, packetMs };
}

function networkOf(text: string): Network {
  const [jitterMs = Number.NaN, lossPercent = 0] = text.split('/').map(Number);
  if (!(jitterMs >= 0 && jitterMs <= 200 && lossPercent >= 0 && lossPercent <= 50))
    throw new Error(`${text} is not a network such as 30/2: jitter in ms and loss in percent`);
  return { jitterMs, lossPercent };
}

async function measure([a, b]: readonly [Side, Side], network: Network): Promise<Measured> {
  const { stdout } = await execute(
    join(BUILD, 'delay_bench'),
    [
      a.codec,
      b.codec,
      CALLS,
      SECONDS,
      network.jitterMs,
      network.lossPercent,
      a.packetMs,
      b.packetMs,
    ].map(String),
  );
  return JSON.parse(stdout) as Measured;
}

const named = ({ codec, packetMs }: Side): string =>
  packetMs === 20 ? codec : `${codec} (${packetMs} ms)`;

function described({ jitterMs, lossPercent }: Network): string {
  if (jitterMs === 0 && lossPercent === 0) return 'no impairment';
  return `jitter ${jitterMs} ms${lossPercent === 0 ? '' : `, ${lossPercent} % lost`}`;
}

function rowsOf([a, b]: readonly [Side, Side], network: Network, measured: Measured): Row[] {
  return [[a, b] as const, [b, a] as const].flatMap(([from, to], index) => {
    const way = measured.ways[index];
    if (way === undefined) return [];
    const goal =
      from.codec === 'PCMU' && from.packetMs === 20 && to.packetMs === 20
        ? GOALS[to.codec]?.[NETWORKS.findIndex((one) => isSame(one, network))]
        : undefined;
    const name = `${named(from)} → ${named(to)}, ${described(network)}`;
    const note = `${way.chirps} chirps, of which ${way.missing} were not found; ${CALLS} calls, media thread ${measured.callCpuUs} µs per call-second`;
    return [
      { name: `${name}, p50`, value: way.p50Ms, unit: 'ms', ...goalOf(goal?.[0]), note },
      { name: `${name}, p95`, value: way.p95Ms, unit: 'ms', ...goalOf(goal?.[1]) },
    ];
  });
}

const isSame = (a: Network, b: Network): boolean =>
  a.jitterMs === b.jitterMs && a.lossPercent === b.lossPercent;

const goalOf = (limit: number | undefined): Pick<Row, 'goal'> =>
  limit === undefined ? {} : { goal: most(limit) };
