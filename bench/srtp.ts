/** What SRTP costs a leg: legs in pairs, each the other's peer, with audio both ways; the same with and without keys. */
import { silentLogger } from '../src/base/logger.ts';
import type { MediaLeg, MediaProtection, SrtpSuite } from '../src/domain/call/needs.ts';
import { createMedia, type MediaEngine } from '../src/edge/media/engine.ts';
import { srtpKeyBytes } from '../src/protocol/sdp/sdp.ts';
import { isQuick, type Row } from './row.ts';

const PAIRS = 100;
const WARM_MS = 1000;
const SECONDS = isQuick ? 2 : 5;
/** Plain and protected take turns, so that a busy machine meets both. */
const ROUNDS = isQuick ? 1 : 3;
const SUITES: readonly SrtpSuite[] = ['AES_CM_128_HMAC_SHA1_80', 'AEAD_AES_128_GCM'];

export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const suite of SUITES) {
    const plain: number[] = [];
    const secure: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      plain.push(await legCost(undefined));
      secure.push(await legCost(suite));
    }
    const [without, withKeys] = [Math.min(...plain), Math.min(...secure)];
    rows.push({
      name: `a leg of SRTP, ${suite}`,
      value: Math.round(withKeys),
      unit: 'µs per call-second',
      floor: Math.round(without),
      ratio: Math.round((withKeys / without) * 100) / 100,
      note: `${Math.round(withKeys - without)} µs more than plain RTP; ${2 * PAIRS} legs, process CPU, best of ${ROUNDS}; goal ≤ 30 µs more where bare UDP is 162`,
    });
  }
  return rows;
}

const pause = (ms: number): Promise<void> => new Promise((over) => void setTimeout(over, ms));

async function legCost(suite: SrtpSuite | undefined): Promise<number> {
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
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const legs = [await open(media), await open(media)];
    const keys = suite && [1, 2].map((name) => new Uint8Array(srtpKeyBytes(suite)).fill(name));
    for (const [index, leg] of legs.entries()) {
      const peer = legs[1 - index];
      if (peer === undefined) continue;
      configure(leg, peer.port, protectionOf(suite, keys, index));
      leg.playTone(tone, { loop: 0, mix: false });
    }
  }
  await pause(WARM_MS);
  const before = process.cpuUsage();
  await pause(SECONDS * 1000);
  const { user, system } = process.cpuUsage(before);
  await media.stop();
  return (user + system) / (2 * PAIRS * SECONDS);
}

function protectionOf(
  suite: SrtpSuite | undefined,
  keys: readonly Uint8Array[] | undefined,
  index: number,
): MediaProtection {
  const [send, receive] = [keys?.[index], keys?.[1 - index]];
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
