/**
 * Speech quality over networks that lose, delay and duplicate packets, and through a second codec, in virtual time. Each
 * row has the segmental SNR of one codec and network, relative to the same call over a perfect network, and the delay.
 * `--scorer COMMAND` adds the score of a perceptual model. `--speech FILE` uses another recording.
 */
import type { LineRate } from '../src/domain/call/audio-needs.ts';
import type { SessionCodec } from '../src/domain/call/needs.ts';
import type { Sound } from '../src/phone/audio/wav.ts';
import type { Row } from './row.ts';
import { CODECS, HEARING_RATE, NETWORKS, type Packet } from './speech-quality/networks.ts';
import { score } from './speech-quality/scorer.ts';
import { delayMs, segmentalSnr } from './speech-quality/snr.ts';
import { engine, open, PEER, session, TALKER_PORT, talk } from './speech-quality/talk.ts';

const LISTENER_PORT = 40_002;
const RTP_HEADER = 12;
const SILENCE = Buffer.alloc(16_000);
/** Endless repetition of a sound. */
const FOREVER = 0;
const SCORER = process.env['BENCH_SCORER'];

/** Codec of a leg that sends audio unchanged to its peer. */
const plain = (rate: LineRate): SessionCodec => ({
  name: 'L16',
  clockRate: rate,
  sampleRate: rate,
  channels: 1,
});

export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const codec of CODECS) rows.push(...(await behindNetworks(codec)));
  for (const codec of CODECS)
    for (const second of CODECS) if (second !== codec) rows.push(await behind(codec, second));
  return rows;
}

async function behindNetworks(codec: SessionCodec): Promise<readonly Row[]> {
  const packets = await talk(codec, { reportsLoss: true });
  const clean = await hear(codec, packets);
  const rows: Row[] = [];
  for (const network of NETWORKS) {
    const carried = network.carry(packets);
    const { samples, quality } = await hear(codec, carried);
    const snr = segmentalSnr(clean.samples, samples);
    rows.push({
      name: `${codec.name}, ${network.name}`,
      value: snr.all,
      unit: 'dB segmental SNR',
      ...(await perceived(codec, (rate) => hear(codec, carried, rate))),
      note: `${differing(snr.changed)}${delayMs(clean.samples, samples)} ms later at the end; lost ${share(quality.lossFraction)} %, discarded ${share(quality.discardFraction ?? 0)} %, MOS ${quality.mos?.toFixed(2)}`,
    });
  }
  return rows;
}

/** Measures a path on which the second codec encodes the decoded audio of the first. */
async function behind(codec: SessionCodec, second: SessionCodec): Promise<Row> {
  const packets = await talk(codec);
  const clean = await hear(codec, packets);
  const { packets: again } = await passOn(codec, packets, second);
  const { samples } = await hear(second, again);
  return {
    name: `${codec.name}, then ${second.name}`,
    value: segmentalSnr(clean.samples, samples).all,
    unit: 'dB segmental SNR',
    // Frequencies above the narrower codec's range do not count.
    ...(await perceived(codec.sampleRate < second.sampleRate ? codec : second, (rate) =>
      hear(second, again, rate),
    )),
    note: 'against the first codec alone',
  };
}

/** Score of the `--scorer` command: spoken against received audio, at 8 kHz for narrowband codecs, otherwise 16 kHz. */
async function perceived(
  codec: SessionCodec,
  receivedAt: (rate: LineRate) => Promise<{ readonly samples: Int16Array }>,
): Promise<{ readonly score?: number }> {
  if (SCORER === undefined) return {};
  const rate = codec.sampleRate === 8000 ? 8000 : HEARING_RATE;
  const said = await hear(plain(rate), await talk(plain(rate)), rate);
  const sound = (samples: Int16Array): Sound => ({ rate, samples });
  const received = await receivedAt(rate);
  return { score: await score(SCORER, sound(said.samples), sound(received.samples)) };
}

const share = (part: number): string => (part * 100).toFixed(1);

/** Audio that a listener on the other leg receives. */
async function hear(
  codec: SessionCodec,
  packets: readonly Packet[],
  rate: LineRate = HEARING_RATE,
) {
  const { packets: received, quality } = await passOn(codec, packets, plain(rate), true);
  const samples = received.flatMap(({ bytes }) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return Array.from({ length: (bytes.length - RTP_HEADER) / 2 }, (_, i) =>
      view.getInt16(RTP_HEADER + 2 * i),
    );
  });
  return { samples: Int16Array.from(samples), quality };
}

/**
 * The packets that a bridged leg of another codec sends: transcoded on arrival, with the losses of the received ones. With `playsOut`, the
 * audio of the jitter buffer instead, which conceals losses.
 */
async function passOn(
  codec: SessionCodec,
  packets: readonly Packet[],
  to: SessionCodec,
  playsOut = false,
) {
  const { media, drive } = engine();
  const [leg, listener] = [await open(media), await open(media)];
  leg.configure(session(codec, TALKER_PORT));
  listener.configure(session(to, LISTENER_PORT));
  media.bridge(leg, listener);
  // A mixed-in sound needs the playout clock.
  if (playsOut) listener.play({ rate: 8000, samples: SILENCE }, { loop: FOREVER, mix: true });
  const sent: Packet[] = [];
  const arriving = [...packets].sort((a, b) => a.atMs - b.atMs);
  const endMs = (arriving.at(-1)?.atMs ?? 0) + 400;
  let next = 0;
  for (let now = 0; now < endMs; now += 1) {
    for (; (arriving[next]?.atMs ?? Number.POSITIVE_INFINITY) <= now; next += 1) {
      const bytes = arriving[next]?.bytes ?? new Uint8Array(0);
      drive.inject(leg.port, { address: PEER, port: TALKER_PORT }, bytes);
    }
    drive.advance(1);
    for (const { port, bytes } of drive.drain())
      if (port === LISTENER_PORT) sent.push({ atMs: now, bytes: Uint8Array.from(bytes) });
  }
  const quality = leg.quality();
  await media.stop();
  return { packets: sent, quality };
}

/** Nothing where what was heard is what was said. */
const differing = (db: number): string => (Number.isNaN(db) ? '' : `${db} dB where it differs; `);
