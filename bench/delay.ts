/**
 * One-way delay of audio through a bridge of two codecs, in both directions, measured by chirps over loopback sockets and an impaired network
 * (native/bench/delay_bench.cpp); and the delay of paths with a playout clock: a conference, and a bridge with a prompt mixed in.
 * `--codecs PCMU:G722,OPUS:PCMU/60` measures other pairs; a number is a packet time in ms. `--networks 15/0,30/2,0/0/200`
 * measures other networks: jitter in ms, loss in percent and the length of a stall in ms. `--paths bridge,room,mixed` selects the paths.
 * `--seconds 10` sets the duration of each measurement.
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
  /** All packets are held back once for this time, in the middle of the measurement. */
  readonly stallMs: number;
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
  /** Median before a stall, and from one second after it. */
  readonly beforeMs: number;
  readonly settledMs: number;
  /** Windows of 20 ms, and those below half of the level of the sent tone. */
  readonly windows: number;
  readonly lowWindows: number;
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
  { jitterMs: 0, lossPercent: 0, stallMs: 0 },
  { jitterMs: 15, lossPercent: 0, stallMs: 0 },
  { jitterMs: 30, lossPercent: 2, stallMs: 0 },
];
const STALLS: readonly Network[] = [200, 500].map((stallMs) => ({
  jitterMs: 0,
  lossPercent: 0,
  stallMs,
}));
/** Names of the paths, and their goals in the order of `NETWORKS`: p50 in ms. */
const PATHS: Readonly<
  Record<string, { readonly name: string; readonly goals: readonly number[] }>
> = {
  bridge: { name: '', goals: [] },
  room: { name: 'conference, ', goals: [30, 60, 90] },
  mixed: { name: 'prompt mixed in, ', goals: [30, 60, 90] },
};
/** Allowed difference between the delay before and after a stall. */
const SETTLED_MS = 2;

export async function run(): Promise<Row[]> {
  const chosen = process.env['BENCH_CODECS'];
  const networks = process.env['BENCH_NETWORKS']?.split(',').map(networkOf);
  await execute('cmake', ['--build', BUILD, '--target', 'delay_bench']);
  const rows: Row[] = [];
  for (const path of (process.env['BENCH_PATHS'] ?? Object.keys(PATHS).join(',')).split(',')) {
    if (PATHS[path] === undefined)
      throw new Error(`${path}: the paths are ${Object.keys(PATHS).join(', ')}`);
    const usual = path === 'bridge' ? 'PCMU:PCMA,PCMU:G722,PCMU:OPUS,G722:OPUS' : 'PCMU:PCMU';
    for (const [index, pair] of (chosen ?? usual).split(',').map(pairOf).entries())
      for (const network of networks ?? [...NETWORKS, ...(index === 0 ? STALLS : [])])
        rows.push(...rowsOf(path, pair, network, await measure(path, pair, network)));
  }
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
  const [jitterMs = Number.NaN, lossPercent = 0, stallMs = 0] = text.split('/').map(Number);
  const isSensible = jitterMs >= 0 && jitterMs <= 200 && lossPercent >= 0 && lossPercent <= 50;
  if (!isSensible || !(stallMs >= 0 && stallMs <= 2000))
    throw new Error(
      `${text} is not a network such as 30/2/200: jitter in ms, loss in percent, stall in ms`,
    );
  return { jitterMs, lossPercent, stallMs };
}

async function measure(
  path: string,
  [a, b]: readonly [Side, Side],
  network: Network,
): Promise<Measured> {
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
      path,
      network.stallMs,
    ].map(String),
  );
  return JSON.parse(stdout) as Measured;
}

const named = ({ codec, packetMs }: Side): string =>
  packetMs === 20 ? codec : `${codec} (${packetMs} ms)`;

function described({ jitterMs, lossPercent, stallMs }: Network): string {
  if (stallMs > 0) return `stall of ${stallMs} ms`;
  if (jitterMs === 0 && lossPercent === 0) return 'no impairment';
  return `jitter ${jitterMs} ms${lossPercent === 0 ? '' : `, ${lossPercent} % lost`}`;
}

function rowsOf(
  path: string,
  [a, b]: readonly [Side, Side],
  network: Network,
  measured: Measured,
): Row[] {
  const place = NETWORKS.findIndex((one) => isSame(one, network));
  return [[a, b] as const, [b, a] as const].flatMap(([from, to], index) => {
    const way = measured.ways[index];
    if (way === undefined) return [];
    const goal =
      from.codec === 'PCMU' && from.packetMs === 20 && to.packetMs === 20
        ? GOALS[to.codec]?.[place]
        : undefined;
    const name = `${PATHS[path]?.name}${named(from)} → ${named(to)}, ${described(network)}`;
    const note = `${way.chirps} chirps, of which ${way.missing} were not found; ${CALLS} calls, media thread ${measured.callCpuUs} µs per call-second`;
    if (network.stallMs > 0) return [stalled(name, way, note)];
    const p50 = path === 'bridge' ? goal?.[0] : PATHS[path]?.goals[place];
    const level =
      path === 'bridge'
        ? []
        : [
            {
              name: `${name}, windows of 20 ms below half level`,
              value: way.lowWindows,
              unit: 'windows',
              goal: most(0),
              note: `of ${way.windows}`,
            },
          ];
    return [
      { name: `${name}, p50`, value: way.p50Ms, unit: 'ms', ...goalOf(p50), note },
      {
        name: `${name}, p95`,
        value: way.p95Ms,
        unit: 'ms',
        ...goalOf(path === 'bridge' ? goal?.[1] : undefined),
      },
      ...level,
    ];
  });
}

function stalled(name: string, way: Way, note: string): Row {
  const goal = most(Number((way.beforeMs + SETTLED_MS).toFixed(1)));
  const before = `${way.beforeMs} ms before the stall; ${note}`;
  return {
    name: `${name}, p50 from 1 s after it`,
    value: way.settledMs,
    unit: 'ms',
    goal,
    note: before,
  };
}

const isSame = (a: Network, b: Network): boolean =>
  a.jitterMs === b.jitterMs && a.lossPercent === b.lossPercent && a.stallMs === b.stallMs;

const goalOf = (limit: number | undefined): Pick<Row, 'goal'> =>
  limit === undefined ? {} : { goal: most(limit) };
