/** A leg that says the speech of `fixtures/` in virtual time, and what legs of these benchmarks have in common. */
import { readFileSync } from 'node:fs';
import { silentLogger } from '../../src/base/logger.ts';
import type { LineRate } from '../../src/domain/call/audio-needs.ts';
import type { MediaLeg, MediaSession, SessionCodec } from '../../src/domain/call/needs.ts';
import { createMedia, type ManualDrive, type MediaEngine } from '../../src/edge/media/engine.ts';
import { l16Bytes, readWav } from '../../src/phone/audio/wav.ts';
import type { Packet } from './networks.ts';

const SPEECH = new URL('../../fixtures/audio/speech.wav', import.meta.url).pathname;
/** Sample rates that the engine accepts for files. */
const RATES: readonly LineRate[] = [8000, 16_000, 24_000];
export const PEER = '192.0.2.7';
export const TALKER_PORT = 40_000;

export const session = (codec: SessionCodec, port: number): MediaSession => ({
  address: PEER,
  port,
  codec,
  payloadType: { send: 96, receive: 96 },
  telephoneEvent: undefined,
  ptimeMs: 20,
  direction: 'sendrecv',
  protection: 'none',
});

export function engine(): { readonly media: MediaEngine; readonly drive: ManualDrive } {
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

export const open = (media: MediaEngine): Promise<MediaLeg> =>
  media.openLeg({ mediaTimeoutMs: 0 }, { dtmf: () => undefined, silent: () => undefined });

/** Spoken audio: the WAV file `BENCH_SPEECH`, or the one in this repository, which has no content above 4 kHz. */
function speech(): { readonly rate: LineRate; readonly samples: Int16Array } {
  const file = process.env['BENCH_SPEECH'] ?? SPEECH;
  const read = readWav(readFileSync(file));
  if (!read.ok) throw new Error(`${file}: ${read.error}`);
  const { rate: given, samples } = read.value;
  const rate = RATES.find((one) => one === given);
  if (rate === undefined) throw new Error(`${file}: ${given} Hz is not one of ${RATES.join(', ')}`);
  return { rate, samples };
}

/** A receiver's report (RFC 3550 §6.4.2) of so much lost, in 1/256, to who sends under this SSRC. */
function lossReport(ssrc: number, fractionLost: number): Uint8Array {
  const report = Buffer.alloc(32);
  report.set([0x81, 201, 0, 7]);
  report.writeUInt32BE(1, 4);
  report.writeUInt32BE(ssrc, 8);
  report[12] = fractionLost;
  return report;
}

/**
 * Packets of the speech, one each 20 ms. With `reportsLoss`, who hears it has said with the first packet that a twentieth was
 * lost before: Opus then sends FEC.
 */
export async function talk(
  codec: SessionCodec,
  { reportsLoss = false }: { readonly reportsLoss?: boolean } = {},
): Promise<readonly Packet[]> {
  const { rate, samples } = speech();
  const { media, drive } = engine();
  const leg = await open(media);
  leg.configure(session(codec, TALKER_PORT));
  leg.play({ rate, samples: l16Bytes(samples) }, { loop: 1, mix: false });
  const packets: Packet[] = [];
  const lengthMs = (samples.length / rate) * 1000;
  for (let now = 0; now < lengthMs; now += 20) {
    drive.advance(20);
    for (const { port, bytes } of drive.drain()) {
      if (port === TALKER_PORT) packets.push({ atMs: now, bytes: Uint8Array.from(bytes) });
    }
    const first = packets[0]?.bytes;
    if (reportsLoss && packets.length === 1 && first !== undefined) {
      const ssrc = new DataView(first.buffer).getUint32(8);
      const from = { address: PEER, port: TALKER_PORT + 1 };
      drive.inject(leg.port + 1, from, lossReport(ssrc, Math.ceil(256 / 20)));
    }
  }
  await media.stop();
  return packets;
}
