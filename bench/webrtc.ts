/**
 * Cost of browsers: a leg with SRTP and Opus on the shared port, DTLS handshakes during calls, and the delay of audio from a
 * browser to its bot. The browsers' ends are legs of another engine; STUN checks come from the tests.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { generate } from 'selfsigned';
import { asStreamId } from '../src/base/ids.ts';
import type { MediaProtection } from '../src/domain/call/needs.ts';
import { srtpKeyBytes } from '../src/protocol/sdp/sdp.ts';
import { readFingerprint } from '../src/protocol/sdp/secure-transport.ts';
import { manualEngine } from '../test/edge/media/peer.ts';
import { isQuick, type Row } from './row.ts';
import { Browsers, OPUS, QUIET, session } from './webrtc/peers.ts';
import { registrations } from './webrtc/registrations.ts';

const SUITE = 'AEAD_AES_128_GCM';
const LEGS = 100;
const WARM_MS = 1500;
const SECONDS = isQuick ? 2 : 5;
const ROUNDS = isQuick ? 1 : 3;
const HANDSHAKES = isQuick ? 100 : 400;
const PER_SECOND = 100;
const TALKING = 20;
const PROBES = 50;
const CHECK_MS = 20;
const TONE = {
  steps: [{ frequenciesHz: [440], onMs: 1000, offMs: 0 }],
  loop: true,
  levelDbm0: -15,
};

const pause = (ms: number): Promise<void> => new Promise((over) => void setTimeout(over, ms));
const keys = (sender: number, receiver: number): MediaProtection => ({
  suite: SUITE,
  send: new Uint8Array(srtpKeyBytes(SUITE)).fill(sender),
  receive: new Uint8Array(srtpKeyBytes(SUITE)).fill(receiver),
  receiveMkiBytes: 0,
});

export async function run(): Promise<Row[]> {
  const costs: LegCosts[] = [];
  for (let round = 0; round < ROUNDS; round += 1) costs.push(await legCosts());
  costs.sort((a, b) => a.browser / a.phone - b.browser / b.phone);
  const { browser, phone } = costs[Math.floor(costs.length / 2)] ?? { browser: 0, phone: 1 };
  const [shakes, delay] = [await handshakes(), await delayToBot()];
  const { perSecond, cpuUs } = await registrations(SECONDS);
  return [
    {
      name: 'a leg of a browser: SRTP and Opus, one port for all',
      value: Math.round(browser),
      unit: 'µs per call-second',
      floor: Math.round(phone),
      ratio: Math.round((browser / phone) * 100) / 100,
      note: `${LEGS} legs, media thread; floor: the legs at the other end, with the same keys in SDP and separate ports; the median of ${ROUNDS}; goal ≤ 1.15 ×`,
    },
    ...shakes,
    delay,
    {
      name: 'registrations over WSS, each with a challenge',
      value: Math.round(perSecond),
      unit: 'a second',
      note: `${Math.round(cpuUs)} µs of the service for each; goal ≥ 1,000`,
    },
  ];
}

/** µs of a media thread per call-second. */
interface LegCosts {
  readonly browser: number;
  readonly phone: number;
}

/** CPU time of each media thread of this process, the oldest thread first (proc(5), clock ticks of 10 ms). */
function mediaThreadsUs(): readonly number[] {
  const tasks = readdirSync('/proc/self/task')
    .map(Number)
    .sort((a, b) => a - b);
  return tasks.flatMap((task) => {
    const [, name = '', rest = ''] =
      /\((.*)\) (.*)/.exec(readFileSync(`/proc/self/task/${task}/stat`, 'utf8')) ?? [];
    const fields = rest.split(' ').map(Number);
    return name === 'carillon-media' ? [((fields[11] ?? 0) + (fields[12] ?? 0)) * 10_000] : [];
  });
}

async function legCosts(): Promise<LegCosts> {
  const browsers = await Browsers.open(LEGS);
  for (const { leg, ice } of browsers.ends) {
    leg.configure(session({ address: '', ice, rtcpMux: true, protection: keys(1, 2) }));
    const other = await browsers.theirs.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    browsers.answerOf(other, keys(2, 1));
    for (const side of [leg, other]) side.playTone(TONE, { loop: 0, mix: false });
  }
  await pause(WARM_MS);
  const before = mediaThreadsUs();
  await pause(SECONDS * 1000);
  const [browser = 0, phone = 0] = mediaThreadsUs().map(
    (used, at) => (used - (before[at] ?? 0)) / (LEGS * SECONDS),
  );
  const received = browsers.ends.map(({ leg }) => leg.quality().packetsReceived);
  if (Math.min(...received) < 50) throw new Error('legs without packets');
  await browsers.stop();
  return { browser, phone };
}

/** DTLS handshakes at a fixed rate, while some calls have audio. */
async function handshakes(): Promise<Row[]> {
  const made = await generate([{ name: 'commonName', value: 'bench' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
  });
  const browsers = await Browsers.open(HANDSHAKES, { certificate: made.cert, key: made.private });
  const { ours } = browsers;
  const shakes = new Handshakes(browsers);
  const skippedBefore = ours.counters().skippedTicks;
  const beganMs = performance.now();
  for (let i = 0; i < HANDSHAKES; i += 1) {
    const dueMs = beganMs + (1000 * i) / PER_SECOND;
    if (performance.now() < dueMs) await pause(dueMs - performance.now());
    const sides = await shakes.begin();
    if (i < TALKING) {
      for (const side of sides) side.playTone(TONE, { loop: 0, mix: false });
    }
  }
  const { tickLateP99Us } = ours.status();
  await pause(2000);
  const skipped = ours.counters().skippedTicks - skippedBefore;
  await browsers.stop();
  return [
    ...shakes.rows(),
    {
      name: 'tick lateness p99 during the handshakes',
      value: tickLateP99Us,
      unit: 'µs',
      note: `${HANDSHAKES} legs, ${TALKING} of them with sound; ${skipped} ticks left out`,
    },
  ];
}

/** Starts handshakes and measures their durations. */
class Handshakes {
  readonly #browsers: Browsers;
  readonly #byPort: ReadonlyMap<number, Browsers['ends'][number]>;
  readonly #dtls: (role: 'client' | 'server') => MediaProtection;
  /** Durations of completed handshakes, ms. */
  readonly #took: number[] = [];
  readonly #faults: string[] = [];

  constructor(browsers: Browsers) {
    const digest = readFingerprint(browsers.ours.fingerprint ?? '');
    if (digest === undefined) throw new Error('no fingerprint');
    this.#browsers = browsers;
    this.#byPort = new Map(browsers.ends.map((end) => [end.port, end]));
    this.#dtls = (role) => ({ role, hash: digest.hash, fingerprint: digest.value });
  }

  /** Opens the browser's leg and starts its handshake. Returns the legs of both sides. */
  async begin() {
    let startMs = 0;
    let again: ReturnType<typeof setInterval> | undefined;
    const other = await this.#browsers.theirs.openLeg(
      { mediaTimeoutMs: 0 },
      {
        ...QUIET,
        secured: (fault) => {
          if (fault !== undefined) this.#faults.push(fault);
          clearInterval(again);
          this.#took.push(performance.now() - startMs);
        },
      },
    );
    const end = this.#byPort.get(other.port);
    if (end === undefined) throw new Error(`no end at ${other.port}`);
    startMs = performance.now();
    end.leg.configure(
      session({ address: '', ice: end.ice, rtcpMux: true, protection: this.#dtls('server') }),
    );
    this.#browsers.answerOf(other, this.#dtls('client'), `at${other.port}`);
    // Repeats unanswered connectivity checks like a browser.
    const notify = (): void => this.#browsers.notify(other.port, `at${other.port}`);
    notify();
    again = setInterval(notify, CHECK_MS);
    return [end.leg, other];
  }

  rows(): Row[] {
    const took = this.#took.toSorted((a, b) => a - b);
    const at = (share: number): number =>
      Math.round((took[Math.floor(share * took.length)] ?? 0) * 10) / 10;
    const note = `${PER_SECOND} a second, ${took.length} of ${HANDSHAKES} done, ${this.#faults.length} failed, both ends in one process`;
    return [
      { name: 'handshake of DTLS, p50', value: at(0.5), unit: 'ms', note },
      { name: 'handshake of DTLS, p99', value: at(0.99), unit: 'ms', note },
    ];
  }
}

/** Virtual time from the arrival of the packet with a tone to the message to the bot. */
async function delayToBot(): Promise<Row> {
  const { media, drive } = manualEngine();
  const open = () => media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
  const [browser, ours] = [await open(), await open()];
  browser.configure(session({ address: '192.0.2.1', port: ours.port, codec: OPUS }));
  ours.configure(session({ address: '192.0.2.2', port: browser.port, codec: OPUS }));
  let receivedMs: number | undefined;
  ours.openStream(
    {
      streamId: asStreamId('00000000-0000-4000-8000-000000000001'),
      encoding: 'audio/x-mulaw',
      rate: 8000,
      tracks: 'inbound',
      bidirectional: false,
      extraHeadersJson: '"{}"',
      queueMs: 1000,
    },
    {
      media: (messages) => {
        for (const message of messages) {
          const text = Buffer.from(message).toString('latin1');
          const payload = Buffer.from(/"payload":"([^"]*)"/.exec(text)?.[1] ?? '', 'base64');
          // In mu-law, small values without the sign are loud.
          if (payload.some((code) => ((code ^ 0xff) & 0x7f) > 0x30)) receivedMs ??= drive.nowMs();
        }
      },
      played: () => undefined,
      degraded: () => undefined,
      dtmf: () => undefined,
    },
  );
  let spokeMs: number | undefined;
  const step = (tones: boolean): void => {
    drive.advance(1);
    for (const packet of drive.drain()) {
      if (packet.localPort !== browser.port) continue;
      // A tone is longer than the silence before it.
      if (tones && packet.bytes.length > 40) spokeMs ??= drive.nowMs();
      drive.inject(ours.port, { address: '192.0.2.2', port: browser.port }, packet.bytes);
    }
  };
  for (let i = 0; i < 1000; i += 1) step(false);
  const delays: number[] = [];
  for (let probe = 0; probe < PROBES; probe += 1) {
    [receivedMs, spokeMs] = [undefined, undefined];
    const tone = browser.playTone(TONE, { loop: 1, mix: false });
    for (let i = 0; i < 200 && receivedMs === undefined; i += 1) step(true);
    if (receivedMs !== undefined && spokeMs !== undefined) delays.push(receivedMs - spokeMs);
    tone.stop();
    for (let i = 0; i < 400 + 7 * probe; i += 1) step(false);
  }
  await media.stop();
  delays.sort((a, b) => a - b);
  return {
    name: 'browser → bot, added by us, p50',
    value: delays[Math.floor(delays.length / 2)] ?? Number.NaN,
    unit: 'ms',
    note: `from the arrival of the packet to the message; ${delays.length} tones in virtual time; p99 ${delays.at(-1) ?? ''} ms; goal ≤ 15 ms`,
  };
}
