/**
 * Runs many real stream sockets for minutes over the native engine:
 *
 *     npm run soak -- [--sockets 200] [--minutes 10] [--seed 1] [--steady 20]
 *
 * Most bots behave randomly, well or badly; each ended stream is reopened. The `steady` streams have well-behaved callers
 * and bots for the whole run, with numbered frames, half of them over wss. Uses only 127.0.0.1. The checks:
 *
 * - each stream ends exactly once, in a way that its bot permits, and in time;
 * - the audio position of a steady stream moves by at most one frame in each direction;
 * - its chunks, timestamps, RTP and checkpoints have no gap, regardless of other bots;
 * - the media thread starts its ticks in time;
 * - the JavaScript heap and the process do not grow.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { silentLogger } from '../../src/base/logger.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { createMedia } from '../../src/edge/media/engine.ts';
import { createAudioStreams } from '../../src/edge/stream/client.ts';
import { guard } from '../edge/stream/fixture.ts';
import { numberOption, SEED } from '../number-option.ts';
import { SimRandom } from '../sim/random.ts';
import { characterOf, pickCharacter } from './bot-profiles.ts';
import { faultsOfMemory, growthOf, type MemorySample, sampleMemory } from './memory.ts';
import { openLeg } from './open-leg.ts';
import { RandomStreams } from './random-streams.ts';
import { SteadyStreams } from './steady-streams.ts';

const HOST = '127.0.0.1';
/** The discard port (RFC 863), on which no socket listens. */
const DISCARD_PORT = 9;
const LOOP_MS = 10;
const REPORT_MS = 5000;
const GROWTH_LIMITS = { heapMiB: 8, residentMiB: 64 };
/** Limit for the lateness of RTP under load from other bots: 99th percentile, µs. */
const MAX_LATE_US = 2000;
/** Delay between the starts of callers, ms; afterwards the connections stabilize. */
const APART_MS = 25;
const SETTLE_MS = 5000;
/** Limit for stalls of the peers, ms. Bots that do not read for a second lose audio, which is not a fault of the service. */
const MAX_PEERS_LATE_MS = 500;
/** Share of random bots that use wss. */
const SECURE_SHARE = 0.25;
const TLS_FOLDER = fileURLToPath(new URL('../edge/stream/tls', import.meta.url));

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    steady: { type: 'string' },
  },
});
const SOCKETS = { least: 1, most: 10_000 };
const count = numberOption('sockets', values.sockets, SOCKETS);
const steadyCount = numberOption('steady', values.steady ?? `${Math.ceil(count / 10)}`, SOCKETS);
const minutes = { least: 0.1, most: 10_000, isWhole: false };
const totalMs = numberOption('minutes', values.minutes, minutes) * 60_000;
const random = new SimRandom(numberOption('seed', values.seed, SEED));

const media = createMedia({
  rtpHost: HOST,
  publicHost: HOST,
  portMin: 44_000,
  portMax: 45_999,
  drive: 'thread',
  wallMs: () => Date.now(),
  logger: silentLogger,
});
const streams = createAudioStreams({
  egress: guard(true),
  signUpgrade: () => Promise.resolve({}),
  userAgent: 'soak',
  caFile: `${TLS_FOLDER}/cert.pem`,
  clock,
  logger: silentLogger,
});

const bots = fork(new URL('./random-bots.ts', import.meta.url), [TLS_FOLDER]);
const [botUrls] = (await once(bots, 'message')) as [{ readonly ws: string; readonly wss: string }];
let stopping = false;
const failures: string[] = [];
bots.once('exit', (code) => {
  if (!stopping) failures.push(`the random bots ended with ${code}`);
});

const needs = { media, streams, random, clock, tlsFolder: TLS_FOLDER };
const steady = await SteadyStreams.start(steadyCount, needs);
const crowd = new RandomStreams({
  ...needs,
  nextCharacter: () => pickCharacter(random.share()),
  urlOf: (character, chance) => {
    const secure = characterOf(character).raw !== true && chance.chance(SECURE_SHARE);
    return `${secure ? botUrls.wss : botUrls.ws}/${character}/${chance.integer(2 ** 32)}`;
  },
});
for (let i = steadyCount; i < count; i += 1) {
  crowd.keepOpen(await openLeg(media, DISCARD_PORT));
  await clock.sleep(APART_MS);
}
await clock.sleep(SETTLE_MS);
steady.begin();
const startMs = clock.monotonicMs();

const loop = monitorEventLoopDelay({ resolution: LOOP_MS });
loop.enable();
let cpuBefore = process.cpuUsage();
const memory: MemorySample[] = [];
let worstLate = { us: 0, at: '' };
while (clock.monotonicMs() - startMs < totalMs) {
  await clock.sleep(Math.min(REPORT_MS, totalMs));
  const sample = sampleMemory(clock.monotonicMs() - startMs);
  memory.push(sample);
  const { tickLateP99Us, busy } = media.status();
  const at = `${Math.round(sample.atMs / 1000)} s`;
  if (tickLateP99Us > worstLate.us) worstLate = { us: tickLateP99Us, at };
  crowd.judgeAges();
  const cpu = process.cpuUsage(cpuBefore);
  cpuBefore = process.cpuUsage();
  const loopLate = `${(loop.percentile(99) / 1e6 - LOOP_MS).toFixed(1)} (${(loop.max / 1e6 - LOOP_MS).toFixed(0)})`;
  loop.reset();
  console.log(
    `${at}  opened ${crowd.opened}  open ${crowd.open}+${steadyCount}  heap ${sample.heapMiB.toFixed(1)} MiB  process ${sample.residentMiB.toFixed(0)} MiB  tick late p99 ${tickLateP99Us} µs  busy ${Math.round(busy * 100)} %  main loop late p99 (worst) ${loopLate} ms  CPU ${Math.round((cpu.user + cpu.system) / 10 / REPORT_MS)} %  machine's load ${loadavg()[0]?.toFixed(1)}`,
  );
}

const { lines, failures: steadyFailures, late } = await steady.finish();
failures.push(...steadyFailures);
await crowd.stop();
failures.push(...crowd.failures());
if (streams.counters().open !== 0) failures.push(`${streams.counters().open} streams are open`);
if (worstLate.us > MAX_LATE_US) {
  failures.push(`the media thread's ticks began ${worstLate.us} µs late (p99) at ${worstLate.at}`);
}
const growth = growthOf(memory, totalMs);
failures.push(...faultsOfMemory(growth, GROWTH_LIMITS));
streams.stop();
await media.stop();
stopping = true;
bots.disconnect();

console.table(
  Object.fromEntries(
    lines.map(({ name, down, up, lateFrames }) => [
      name,
      { ...row('down', down), ...row('up', up), 'sent late': lateFrames },
    ]),
  ),
);
console.log(Object.fromEntries([...crowd.ends].sort()));
console.log({ counters: streams.counters(), media: media.counters(), growth, peersLateMs: late });
for (const failure of failures) console.log(`FAILED: ${failure}`);
const { skippedTicks } = media.counters();
if (late.worst > MAX_PEERS_LATE_MS || skippedTicks > 0) {
  console.log(
    `NOTE: the steady peers stalled for up to ${Math.round(late.worst)} ms, and the media thread skipped ${skippedTicks} ms: the machine was too busy for a verdict. Run the soak test alone.`,
  );
}
console.log(failures.length === 0 ? 'all is well' : `${failures.length} failures`);
process.exit(failures.length === 0 ? 0 : 1);

function row(
  way: string,
  position: (typeof lines)[number]['up'],
): Readonly<Record<string, string>> {
  const { received, unreadable, firstOffset, lastOffset, firstDelayMs, lastDelayMs } = position;
  return {
    [`${way}: frames`]: `${received} (-${unreadable})`,
    [`${way}: moved`]: String(lastOffset - firstOffset),
    [`${way}: delay ms`]: `${firstDelayMs.toFixed(1)} → ${lastDelayMs.toFixed(1)}`,
  };
}
