/** A caller who interrupts a bot, through the real engine in virtual time. */

import { asStreamId } from '../../src/base/ids.ts';
import { PCMU } from '../../src/phone/audio/g711.ts';
import { engine, open, PEER, session, TALKER_PORT } from '../speech-quality/talk.ts';
import { add, atLevel, FRAME, melody, noise, phrase, RATE, rms } from './audio.ts';

const STREAM = asStreamId('5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22');
const RTP_HEADER = 12;
const CODEC = { name: 'PCMU', clockRate: 8000, sampleRate: 8000, channels: 1 } as const;
/** Level of the bot's audio at the caller, in 5 ms, below which the bot is silent. */
const SILENT = 60;
const STEP = RATE / 200;

/**
 * Returns the sorted times in ms from the caller's first voiced sound, within its packet, to the begin of silence in the
 * audio that the caller receives.
 */
export async function silenceDelays(count: number): Promise<readonly number[]> {
  const delays: number[] = [];
  for (let i = 0; i < count; i += 1) delays.push(await interruption(i));
  return delays.toSorted((a, b) => a - b);
}

async function interruption(index: number): Promise<number> {
  const { media, drive } = engine();
  const leg = await open(media);
  leg.configure({ ...session(CODEC, TALKER_PORT), payloadType: { send: 0, receive: 0 } });
  const speech = { sensitivity: 50, minimumMs: 40, endMs: 500, bargeIn: 'clear' } as const;
  const stream = leg.openStream(
    {
      streamId: STREAM,
      encoding: 'audio/x-l16',
      rate: 8000,
      tracks: 'inbound',
      bidirectional: true,
      extraHeadersJson: '"{}"',
      queueMs: 60_000,
      speech,
    },
    {
      media: () => undefined,
      played: () => undefined,
      degraded: () => undefined,
      dtmf: () => undefined,
    },
  );
  const bot = atLevel(melody(8 * RATE, 3), -18);
  stream.enqueue('audio/x-l16', 8000, Buffer.from(Int16Array.from(bot, Math.round).buffer));
  const said = atLevel(phrase(index), -20);
  // The phrase begins at another position within a packet each time.
  const at = 2 * RATE + ((index * 37) % FRAME);
  const caller = add(atLevel(noise('white', at + said.length + RATE, index), -60), said, at);
  const voicedMs = ((at + voicedFrom(said)) * 1000) / RATE;
  const heard: { readonly atMs: number; readonly samples: Int16Array }[] = [];
  const startMs = drive.nowMs();
  for (let from = 0, sequence = 1; from + FRAME <= caller.length; from += FRAME, sequence += 1) {
    // A packet is sent when its last sample has been recorded.
    drive.advance(20);
    const bytes = Buffer.alloc(RTP_HEADER + FRAME);
    bytes[0] = 0x80;
    bytes.writeUInt16BE(sequence, 2);
    bytes.writeUInt32BE(from, 4);
    bytes.writeUInt32BE(7, 8);
    const samples = Int16Array.from(caller.subarray(from, from + FRAME), Math.round);
    bytes.set(PCMU.encode(samples), RTP_HEADER);
    drive.inject(leg.port, { address: PEER, port: TALKER_PORT }, bytes);
    for (const packet of drive.drain()) {
      // RTCP reports have other lengths.
      if (packet.bytes.length !== RTP_HEADER + FRAME) continue;
      heard.push({
        atMs: packet.atMs - startMs,
        samples: PCMU.decode(packet.bytes.subarray(RTP_HEADER)),
      });
    }
  }
  const endMs = silentFrom(heard, voicedMs);
  await media.stop();
  return endMs - voicedMs;
}

/** Position of the first voiced sound: 10 ms at most 15 dB below the phrase, with a period of speech. */
function voicedFrom(said: Float32Array): number {
  const step = RATE / 100;
  const limit = rms(said) * 10 ** (-15 / 20);
  for (let at = 0; at + 4 * step < said.length; at += step) {
    if (rms(said.subarray(at, at + step)) >= limit && isVoiced(said.subarray(at, at + 4 * step)))
      return at;
  }
  return 0;
}

function isVoiced(audio: Float32Array): boolean {
  const half = audio.length / 2;
  for (let lag = RATE / 400; lag < RATE / 65 && lag + half <= audio.length; lag += 1) {
    let product = 0;
    let before = 0;
    let after = 0;
    for (let i = 0; i < half; i += 1) {
      const a = audio[i] ?? 0;
      const b = audio[i + lag] ?? 0;
      product += a * b;
      before += a * a;
      after += b * b;
    }
    if (product / Math.sqrt(before * after + 1) > 0.75) return true;
  }
  return false;
}

/** Time at which the bot's audio ends, as the caller hears it: the begin of the first silent 5 ms that stay silent. */
function silentFrom(
  heard: readonly { readonly atMs: number; readonly samples: Int16Array }[],
  afterMs: number,
): number {
  let last = afterMs;
  for (const { atMs, samples } of heard) {
    for (let at = 0; at < samples.length; at += STEP) {
      const loud = rms(Float32Array.from(samples.subarray(at, at + STEP))) > SILENT;
      if (loud) last = Math.max(last, atMs + ((at + STEP) * 1000) / RATE);
    }
  }
  return last;
}
