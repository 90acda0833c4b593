/** Cost of SRTP per leg. Pairs of legs send audio to each other, with and without keys. */
import { silentLogger } from '../src/base/logger.ts';
import type { MediaLeg, MediaProtection, SrtpSuite } from '../src/domain/call/needs.ts';
import { createMedia, type MediaEngine } from '../src/edge/media/engine.ts';
import { srtpKeyBytes } from '../src/protocol/sdp/sdp.ts';
import { isQuick, type Row } from './row.ts';

const PAIRS = 300;
const WARM_MS = 1500;
/** After a change of keys. */
const SETTLE_MS = 250;
const WINDOW_MS = 750;
/** The same legs alternate between plain and encrypted media, so that other load on the machine affects both equally. */
const ROUNDS = isQuick ? 4 : 16;
const SUITES: readonly SrtpSuite[] = ['AES_CM_128_HMAC_SHA1_80', 'AEAD_AES_128_GCM'];

export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const suite of SUITES) {
    const { plain, secure, more } = await costs(suite);
    rows.push({
      name: `a leg of SRTP, ${suite}`,
      value: Math.round(secure),
      unit: 'µs per call-second',
      floor: Math.round(plain),
      ratio: Math.round((1 + more / plain) * 100) / 100,
      note: `${Math.round(more)} µs more than plain RTP, the middle of ${2 * ROUNDS - 2} comparisons; ${2 * PAIRS} legs, process CPU; goal ≤ 30 µs more where bare UDP is 162`,
    });
  }
  return rows;
}

const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const pause = (ms: number): Promise<void> => new Promise((over) => void setTimeout(over, ms));

interface Costs {
  readonly plain: number;
  readonly secure: number;
  /** Ratio of an encrypted window to the mean of the plain windows before and after it, or vice versa. */
  readonly more: number;
}

async function costs(suite: SrtpSuite): Promise<Costs> {
  const media: MediaEngine = createMedia({
    rtpHost: '127.0.0.1',
    publicHost: '127.0.0.1',
    portMin: 20_000,
    portMax: 22_998,
    drive: 'thread',
    logger: silentLogger,
    wallMs: () => performance.timeOrigin + performance.now(),
  });
  const tone = {
    steps: [{ frequenciesHz: [440], onMs: 1000, offMs: 0 }],
    loop: true,
    levelDbm0: -15,
  };
  const pairs: (readonly [MediaLeg, MediaLeg])[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) pairs.push([await open(media), await open(media)]);
  const keys = [1, 2].map((name) => new Uint8Array(srtpKeyBytes(suite)).fill(name));
  const protect = (chosen: SrtpSuite | undefined): void => {
    for (const legs of pairs) {
      for (const [index, leg] of legs.entries()) {
        const peer = legs[1 - index];
        if (peer !== undefined) configure(leg, peer.port, protectionOf(chosen, keys, index));
      }
    }
  };
  protect(undefined);
  for (const leg of pairs.flat()) leg.playTone(tone, { loop: 0, mix: false });
  await pause(WARM_MS);
  const windows: number[] = [];
  for (let round = 0; round < 2 * ROUNDS; round += 1) {
    protect(round % 2 === 0 ? undefined : suite);
    await pause(SETTLE_MS);
    windows.push(await windowCost());
  }
  await media.stop();
  const more = windows.slice(1, -1).map((own, i) => {
    const others = ((windows[i] ?? 0) + (windows[i + 2] ?? 0)) / 2;
    return i % 2 === 0 ? own - others : others - own;
  });
  return {
    plain: middle(windows.filter((_, i) => i % 2 === 0)),
    secure: middle(windows.filter((_, i) => i % 2 === 1)),
    more: middle(more),
  };
}

async function windowCost(): Promise<number> {
  const [before, startedMs] = [process.cpuUsage(), performance.now()];
  await pause(WINDOW_MS);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (2 * PAIRS) / ((performance.now() - startedMs) / 1000);
}

function protectionOf(
  suite: SrtpSuite | undefined,
  keys: readonly Uint8Array[],
  index: number,
): MediaProtection {
  const [send, receive] = [keys[index], keys[1 - index]];
  if (suite === undefined || send === undefined || receive === undefined) return 'none';
  return { suite, send, receive, receiveMkiBytes: 0 };
}

const open = (media: MediaEngine): Promise<MediaLeg> =>
  media.openLeg({ mediaTimeoutMs: 0 }, { dtmf: () => undefined, silent: () => undefined });

const configure = (leg: MediaLeg, port: number, protection: MediaProtection): void =>
  leg.configure({
    address: '127.0.0.1',
    port,
    codec: { name: 'PCMU', clockRate: 8000, sampleRate: 8000, channels: 1 },
    payloadType: { send: 0, receive: 0 },
    telephoneEvent: undefined,
    ptimeMs: 20,
    direction: 'sendrecv',
    protection,
  });
