/**
 * Many real stream sockets for minutes, over the native engine, with bots that behave at random:
 *
 *     node test/soak/sockets.ts [--sockets 200] [--minutes 10] [--seed 1]
 *
 * Bounded to 127.0.0.1. Each stream that ends is opened again. Fails when a stream ends twice or never, when the heap keeps growing
 * after the first fifth, or when the media thread falls behind.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { uuid } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { MediaLeg, StreamSocketEnd } from '../../src/domain/call/needs.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { systemRandom as random } from '../../src/edge/clock/system-random.ts';
import { createMedia } from '../../src/edge/media/engine.ts';
import { createAudioStreams } from '../../src/edge/stream/client.ts';
import { guard } from '../edge/stream/fixture.ts';

const HOST = '127.0.0.1';
const REPORT_MS = 5000;
const MAX_HEAP_GROWTH_MIB = 20;
const MAX_LATE_US = 20_000;
const nothing = (): void => undefined;

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '200' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
  },
});
const count = Number(values.sockets);
const totalMs = Number(values.minutes) * 60_000;

const bots = fork(new URL('./random-bots.ts', import.meta.url), [values.seed]);
const [{ url }] = (await once(bots, 'message')) as [{ url: string }];
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
  clock,
  logger: silentLogger,
});

const ends = new Map<string, number>();
const failures: string[] = [];
let running = true;
let opened = 0;
let open = 0;

function keepOpen(leg: MediaLeg): void {
  let ended = false;
  opened += 1;
  open += 1;
  const socket = streams.open(
    {
      url,
      streamId: uuid(random),
      callUuid: uuid(random),
      accountId: 'MA_0123456789ABCDEFG',
      encoding: 'audio/x-l16',
      rate: opened % 2 === 0 ? 8000 : 16_000,
      tracks: 'inbound',
      bidirectional: true,
      extraHeaders: [],
      from: '1',
      to: '2',
      direction: 'inbound',
    },
    leg,
    {
      started: nothing,
      played: nothing,
      cleared: nothing,
      degraded: nothing,
      sendDigits: nothing,
      fault: nothing,
      ended(end: StreamSocketEnd) {
        if (ended) failures.push('a stream ended twice');
        ended = true;
        open -= 1;
        ends.set(end.kind, (ends.get(end.kind) ?? 0) + 1);
        if (running) setTimeout(() => keepOpen(leg), 50);
      },
    },
  );
  // The call hangs up now and then, in the middle of anything.
  setTimeout(
    () => socket.close('call_hangup', { drain: random.integer(2) === 0 }),
    5000 + random.integer(60_000),
  ).unref();
}

const legs: MediaLeg[] = [];
for (let i = 0; i < count; i += 1) {
  const leg = await media.openLeg(
    { mediaTimeoutMs: 86_400_000 },
    { dtmf: nothing, silent: nothing },
  );
  leg.configure({
    address: HOST,
    port: 9,
    codec: 'PCMU',
    payloadType: 0,
    telephoneEvent: 101,
    ptimeMs: 20,
    direction: 'sendrecv',
  });
  legs.push(leg);
  keepOpen(leg);
}

const heapMiB = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
};
const startMs = clock.monotonicMs();
let firstHeap: number | undefined;
let worstLateUs = 0;
while (clock.monotonicMs() - startMs < totalMs) {
  await clock.sleep(Math.min(REPORT_MS, totalMs));
  const passedMs = clock.monotonicMs() - startMs;
  const heap = heapMiB();
  if (passedMs > totalMs / 5) firstHeap ??= heap;
  worstLateUs = Math.max(worstLateUs, media.status().tickLateP99Us);
  console.log(
    `${Math.round(passedMs / 1000)} s  opened ${opened}  open ${open}  heap ${heap.toFixed(1)} MiB  tick late p99 ${media.status().tickLateP99Us} us  ends ${JSON.stringify(Object.fromEntries(ends))}`,
  );
}
running = false;
for (const leg of legs) leg.close();
bots.disconnect();
await clock.sleep(1000);
if (open !== 0 || streams.counters().open !== 0) failures.push(`${open} streams never ended`);
const growth = heapMiB() - (firstHeap ?? 0);
if (growth > MAX_HEAP_GROWTH_MIB) failures.push(`the heap grew by ${growth.toFixed(1)} MiB`);
if (worstLateUs > MAX_LATE_US) failures.push(`the media tick was ${worstLateUs} us late (p99)`);
await media.stop();
console.log({ counters: streams.counters(), failures });
process.exit(failures.length === 0 ? 0 : 1);
