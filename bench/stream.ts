/**
 * Bidirectional stream calls, L16 at 8 kHz in both directions: RTP in, WebSocket out, WebSocket in, RTP out. Callers and
 * bots are separate processes. The baseline is the same number of WebSocket messages of the same size without media. The
 * last rows measure whole processes with SIP, and Asterisk if it is installed.
 *
 *     BENCH_STREAM_CALLS=150      concurrent calls; default 300
 *     BENCH_STREAM_MINUTES=3      also the growth of the JavaScript heap, from the first minute to the end
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { systemClock as clock } from '../src/edge/clock/system-clock.ts';
import { isQuick, type Row } from './row.ts';
import { BotCrowd } from './stream/bot-crowd.ts';
import { Calls } from './stream/calls.ts';
import { cpuPerCallSecond, heapInUse } from './stream/cost.ts';
import { type Delays, delaysOf } from './stream/delays.ts';
import { quantile, round } from './stream/figures.ts';
import { webSocketFloor } from './stream/floor.ts';
import { Phones, type WireLateness } from './stream/phones.ts';
import { startSip } from './stream/sip.ts';
import { wholeStreams } from './stream/whole.ts';

/** Target for a machine with two cores that also runs bots and phones. */
const CALLS = Number(process.env['BENCH_STREAM_CALLS'] ?? 300);
const MINUTES = Number(process.env['BENCH_STREAM_MINUTES'] ?? 0);
/** Calls whose audio is numbered and whose bots are probed. */
const WATCHED = Math.min(24, CALLS);
const PROBES_EACH = Math.ceil(200 / WATCHED);
const SETTLE_MS = isQuick ? 1000 : 1500;
const MEASURE_MS = isQuick ? 1500 : 5000;
const FLOOR_MS = isQuick ? 1000 : 3000;
const SIP_REQUESTS = isQuick ? 300 : 1000;
const SIP_EVERY_MS = 4;
const LOOP_RESOLUTION_MS = 1;
const FRAME_MS = 20;
const FIRST_MINUTE_MS = 60_000;
const TLS_FOLDER = fileURLToPath(new URL('../test/edge/stream/tls', import.meta.url));

interface Measured {
  /** Microseconds of CPU per call-second. */
  readonly cpu: number;
  /** Part of the audio that made it to the bots and back; less than nearly 1: the machine is full, and `cpu` says little. */
  readonly through: number;
  readonly wire: WireLateness;
  /** Milliseconds by which the main loop let others wait, 99th percentile. */
  readonly loopLateMs: number;
}

export async function run(): Promise<Row[]> {
  const phones = await Phones.start(CALLS, WATCHED);
  const bots = await BotCrowd.start(WATCHED, TLS_FOLDER);
  const calls = await Calls.open(phones.ports, `${TLS_FOLDER}/cert.pem`);
  await phones.talk(calls.ports);

  await calls.stream((call) => bots.urlOf(call, 'ws'));
  const streamingSinceMs = clock.monotonicMs();
  const plain = await measure(phones, bots);
  const sip = await askSip(phones);
  const tickLateUs = calls.media.status().tickLateP99Us;
  const delays = await probe(phones, bots);
  bots.echo(true);
  const heap = await heapRows(streamingSinceMs);
  complainOfBroken(calls);
  await calls.endStreams();

  await calls.stream((call) => bots.urlOf(call, 'wss'));
  const secure = await measure(phones, bots);
  complainOfBroken(calls);
  await calls.endStreams();

  await calls.stop();
  await Promise.all([phones.stop(), bots.stop()]);
  return [
    await cpuRow('ws', plain, 1600),
    await cpuRow('wss', secure, 2300),
    ...delayRows(delays),
    wireRow('ws', plain.wire),
    wireRow('wss', secure.wire),
    { name: 'stream: lateness of the media tick p99', value: tickLateUs, unit: 'µs' },
    sipRow(sip),
    loopRow('ws', plain.loopLateMs),
    loopRow('wss', secure.loopLateMs),
    ...heap,
    ...(await wholeStreams()),
  ];
}

async function measure(phones: Phones, bots: BotCrowd): Promise<Measured> {
  await clock.sleep(SETTLE_MS);
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  await phones.beginWindow();
  loop.enable();
  const echoedBefore = await bots.echoed();
  const sinceMs = clock.monotonicMs();
  const cpu = await cpuPerCallSecond(CALLS, MEASURE_MS);
  loop.disable();
  const frames = (clock.monotonicMs() - sinceMs) / FRAME_MS;
  const through = ((await bots.echoed()) - echoedBefore) / CALLS / frames;
  const wire = await phones.lateness();
  return {
    cpu,
    through,
    wire,
    loopLateMs: Math.max(0, loop.percentile(99) / 1e6 - LOOP_RESOLUTION_MS),
  };
}

/** While all streams run on. The signalling lives in this process, its caller in that of the phones. */
async function askSip(phones: Phones): Promise<readonly number[]> {
  const signalling = await startSip();
  const answered = await phones.askSip(signalling.port(), SIP_REQUESTS, SIP_EVERY_MS);
  await signalling.stop();
  return answered;
}

/** Watched bots stop sending and are probed; all others continue. */
async function probe(phones: Phones, bots: BotCrowd): Promise<Delays> {
  bots.echo(false);
  await clock.sleep(300);
  bots.forget();
  await phones.beginWindow();
  await bots.probe(PROBES_EACH);
  return delaysOf(await phones.watched(), await bots.report());
}

/** Waits until the streams are as old as was asked for. */
async function heapRows(streamingSinceMs: number): Promise<Row[]> {
  const now = heapInUse();
  const running: Row = {
    name: 'stream: JavaScript heap with calls running',
    value: round(now / 2 ** 20),
    unit: 'MiB',
  };
  if (MINUTES <= 1) return [running];
  const untilAge = (ms: number): Promise<void> =>
    clock.sleep(Math.max(0, streamingSinceMs + ms - clock.monotonicMs()));
  await untilAge(FIRST_MINUTE_MS);
  const first = heapInUse();
  await untilAge(MINUTES * FIRST_MINUTE_MS);
  const last = heapInUse();
  const mebibytes = (bytes: number): number => round(bytes / 2 ** 20, 2);
  const growth: Row = {
    name: `stream: growth of the JavaScript heap per stream, minute 1 to ${MINUTES}`,
    value: round((last - first) / 1024 / CALLS, 3),
    unit: 'KiB',
    note: `${CALLS} calls; goal: none; ${mebibytes(first)} → ${mebibytes(last)} MiB after garbage collection`,
  };
  return [running, growth];
}

function complainOfBroken(calls: Calls): void {
  if (calls.open !== CALLS) throw new Error(`${CALLS - calls.open} streams broke while measured`);
}

async function cpuRow(
  scheme: 'ws' | 'wss',
  { cpu, through }: Measured,
  goal: number,
): Promise<Row> {
  const options = { scheme, calls: CALLS, measureMs: FLOOR_MS, tlsFolder: TLS_FOLDER };
  const floor = await webSocketFloor(options);
  return {
    name: `stream: CPU of a bidirectional call, L16/8k over ${scheme}`,
    value: Math.round(cpu),
    unit: 'µs per call-second',
    floor: Math.round(floor),
    ratio: round(cpu / floor),
    note: `goal ≤ ${goal}; ${CALLS} calls, ${round(100 * through)} % of the audio reached its bot; floor: bare ${scheme}, one echoed message of 660 bytes per 20 ms (both ends halved)`,
  };
}

function delayRows({ rtpToSocket, playToRtp, clearToSilence }: Delays): Row[] {
  const row = (name: string, values: readonly number[], part: number, goalMs: number): Row => ({
    name: `stream: ${name} p${part * 100}`,
    value: round(quantile(values, part)),
    unit: 'ms',
    note: `${values.length} values of ${WATCHED} bots, ${CALLS} calls running; goal ≤ ${goalMs} ms`,
  });
  return [
    row('RTP in to WebSocket out', rtpToSocket, 0.5, 10),
    row('RTP in to WebSocket out', rtpToSocket, 0.99, 22),
    row('playAudio to first RTP, empty queue', playToRtp, 0.99, 22),
    row('clearAudio to last old audio', clearToSilence, 0.99, 22),
  ];
}

function wireRow(scheme: string, { packets, lost, silent, p50, p999, p99 }: WireLateness): Row {
  const complaint = silent === 0 ? '' : `; ${silent} calls without any RTP`;
  return {
    name: `stream: send lateness p99 over ${scheme}`,
    value: round(p99, 2),
    unit: 'ms',
    note: `goal ≤ 2 ms; ${packets} packets of ${CALLS} calls, the kernel's arrival times against each call's earliest packet; p50 ${round(p50, 2)}, p99.9 ${round(p999, 2)} ms; ${lost} lost${complaint}`,
  };
}

function sipRow(answered: readonly number[]): Row {
  return {
    name: 'stream: SIP response time under load p99',
    value: round(quantile(answered, 0.99), 2),
    unit: 'ms',
    note: `goal < 20 ms; ${answered.length} of ${SIP_REQUESTS} OPTIONS answered in this process, ${CALLS} calls over ws running; p50 ${round(quantile(answered, 0.5), 2)}, worst ${round(quantile(answered, 1), 2)} ms, seen from another process`,
  };
}

function loopRow(scheme: string, value: number): Row {
  return {
    name: `stream: lateness of the main loop p99 over ${scheme}`,
    value: round(value),
    unit: 'ms',
    note: `${CALLS} calls; longest wait of a SIP message`,
  };
}
