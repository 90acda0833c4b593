/**
 * What is heard of speech over a network that loses, delays and repeats packets, in virtual time: segmental SNR against the
 * same call over a network that does nothing, and the delay. One row a codec and network.
 */
import { readFileSync } from 'node:fs';
import { silentLogger } from '../src/base/logger.ts';
import type { MediaLeg, MediaSession, SessionCodec } from '../src/domain/call/needs.ts';
import { createMedia, type ManualDrive, type MediaEngine } from '../src/edge/media/engine.ts';
import { readWav } from '../src/phone/audio/wav.ts';
import { CODECS, HEARING_RATE, NETWORKS, type Packet } from './hearing/networks.ts';
import { delayMs, segmentalSnr } from './hearing/snr.ts';
import type { Row } from './row.ts';

const SPEECH = new URL('../fixtures/audio/speech.wav', import.meta.url).pathname;
const PEER = '192.0.2.7';
const TALKER_PORT = 40_000;
const LISTENER_PORT = 40_002;

export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const codec of CODECS) {
    const packets = await talk(codec);
    const clean = await hear(codec, packets);
    for (const network of NETWORKS) {
      const { heard, quality } = await hear(codec, network.carry(packets));
      const snr = segmentalSnr(clean.heard, heard);
      rows.push({
        name: `${codec.name}, ${network.name}`,
        value: snr.all,
        unit: 'dB segmental SNR',
        note: `${differing(snr.changed)}${delayMs(clean.heard, heard)} ms later at the end; lost ${share(quality.lossFraction)} %, discarded ${share(quality.discardFraction ?? 0)} %, MOS ${quality.mos?.toFixed(2)}`,
      });
    }
  }
  return rows;
}

const share = (part: number): string => (part * 100).toFixed(1);

const session = (codec: SessionCodec, port: number): MediaSession => ({
  address: PEER,
  port,
  codec,
  payloadType: { send: 96, receive: 96 },
  telephoneEvent: undefined,
  ptimeMs: 20,
  direction: 'sendrecv',
  protection: 'none',
});

function engine(): { readonly media: MediaEngine; readonly drive: ManualDrive } {
  const media = createMedia({
    rtpHost: '127.0.0.1',
    publicHost: '127.0.0.1',
    portMin: 20_000,
    portMax: 20_998,
    drive: 'manual',
    wallMs: () => 0,
    logger: silentLogger,
  });
  if (media.manual === undefined) throw new Error('no manual drive');
  return { media, drive: media.manual };
}

const open = (media: MediaEngine): Promise<MediaLeg> =>
  media.openLeg({ mediaTimeoutMs: 0 }, { dtmf: () => undefined, silent: () => undefined });

/** Packets of the speech, one each 20 ms. */
async function talk(codec: SessionCodec): Promise<readonly Packet[]> {
  const read = readWav(readFileSync(SPEECH));
  if (!read.ok) throw new Error(read.error);
  const { media, drive } = engine();
  const leg = await open(media);
  leg.configure(session(codec, TALKER_PORT));
  const samples = new Uint8Array(read.value.samples.buffer);
  leg.play({ rate: 8000, samples }, { loop: 1, mix: false });
  const packets: Packet[] = [];
  const lengthMs = (read.value.samples.length / 8000) * 1000;
  for (let now = 0; now < lengthMs; now += 20) {
    drive.advance(20);
    for (const { port, bytes } of drive.drain()) {
      if (port === TALKER_PORT) packets.push({ atMs: now, bytes: Uint8Array.from(bytes) });
    }
  }
  await media.stop();
  return packets;
}

/** What a listener beside the leg that gets the packets hears, 16 kHz. */
async function hear(codec: SessionCodec, packets: readonly Packet[]) {
  const { media, drive } = engine();
  const [leg, listener] = [await open(media), await open(media)];
  leg.configure(session(codec, TALKER_PORT));
  listener.configure(
    session(
      { name: 'L16', clockRate: HEARING_RATE, sampleRate: HEARING_RATE, channels: 1 },
      LISTENER_PORT,
    ),
  );
  media.bridge(leg, listener);
  const heard: number[] = [];
  const arriving = [...packets].sort((a, b) => a.atMs - b.atMs);
  const endMs = (arriving.at(-1)?.atMs ?? 0) + 400;
  let next = 0;
  for (let now = 0; now < endMs; now += 1) {
    for (; (arriving[next]?.atMs ?? Number.POSITIVE_INFINITY) <= now; next += 1) {
      const bytes = arriving[next]?.bytes ?? new Uint8Array(0);
      drive.inject(leg.port, { address: PEER, port: TALKER_PORT }, bytes);
    }
    drive.advance(1);
    for (const { port, bytes } of drive.drain()) {
      if (port !== LISTENER_PORT) continue;
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let at = 12; at + 1 < bytes.length; at += 2) heard.push(view.getInt16(at));
    }
  }
  const quality = leg.quality();
  await media.stop();
  return { heard: Int16Array.from(heard), quality };
}

/** Nothing where what was heard is what was said. */
const differing = (db: number): string => (Number.isNaN(db) ? '' : `${db} dB where it differs; `);
