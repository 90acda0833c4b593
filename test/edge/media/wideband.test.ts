import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpusDecoder } from 'opus-decoder';
import { afterEach, describe, expect, it } from 'vitest';
import { asStreamId } from '../../../src/base/ids.ts';
import type { MediaLeg, MediaSession, SessionCodec } from '../../../src/domain/call/needs.ts';
import type { ManualDrive, MediaEngine } from '../../../src/edge/media/engine.ts';
import type { LegStream } from '../../../src/edge/media/stream.ts';
import { l16, manualEngine, parseRtp, purity, REMOTE, rms, rtp, sine } from './peer.ts';

const STREAM_ID = asStreamId('5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22');
const PCMU: SessionCodec = REMOTE.codec;
const G722: SessionCodec = { name: 'G722', clockRate: 8000, sampleRate: 16_000, channels: 1 };
const L16: SessionCodec = { name: 'L16', clockRate: 16_000, sampleRate: 16_000, channels: 1 };
const OPUS: SessionCodec = {
  name: 'OPUS',
  clockRate: 48_000,
  sampleRate: 24_000,
  channels: 1,
  opus: { bitrate: 0, fec: true, dtx: false },
};
const PAYLOAD_TYPE = { PCMU: 0, PCMA: 8, G722: 9, L16: 97, OPUS: 96 } as const;

const engines: MediaEngine[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const session = (codec: SessionCodec, port: number, ptimeMs = 20): MediaSession => ({
  ...REMOTE,
  port,
  codec,
  ptimeMs,
  payloadType: { send: PAYLOAD_TYPE[codec.name], receive: PAYLOAD_TYPE[codec.name] },
  telephoneEvent: undefined,
});

/** Delivers packets according to the sessions: between legs, or to an L16 phone at 16 kHz played by the test. */
class Wires {
  readonly media: MediaEngine;
  readonly drive: ManualDrive;
  /** Sent frequency and received audio of each phone, by port. */
  readonly #phones = new Map<
    number,
    { leg: number; hz: number; received: number[]; sent: number }
  >();

  constructor() {
    const { media, drive } = manualEngine();
    engines.push(media);
    this.media = media;
    this.drive = drive;
  }

  open(dtmf: (digit: string, asTone?: boolean) => void = () => undefined): Promise<MediaLeg> {
    return this.media.openLeg({ mediaTimeoutMs: 0 }, { dtmf, silent: () => undefined });
  }

  /** A leg whose peer sends a sine; 0 Hz is silence. */
  async phone(hz: number): Promise<MediaLeg> {
    const leg = await this.open();
    const port = 50_000 + 2 * this.#phones.size;
    leg.configure(session(L16, port));
    this.#phones.set(port, { leg: leg.port, hz, received: [], sent: 0 });
    return leg;
  }

  /** Two legs connected to each other. */
  async pair(codec: SessionCodec, ptimeMs = 20, backMs = ptimeMs): Promise<[MediaLeg, MediaLeg]> {
    const [a, b] = [await this.open(), await this.open()];
    a.configure(session(codec, b.port, ptimeMs));
    b.configure(session(codec, a.port, backMs));
    return [a, b];
  }

  run(ms: number): void {
    for (let at = 0; at < ms; at += 10) {
      this.drive.advance(10);
      for (const { localPort, port, bytes } of this.drive.drain()) {
        const phone = this.#phones.get(port);
        if (phone !== undefined) phone.received.push(...bigEndian(parseRtp(bytes).payload));
        else this.drive.inject(port, { address: REMOTE.address, port: localPort }, bytes);
      }
      for (const [port, phone] of this.#phones) if (at % 20 === 0) this.#say(port, phone);
    }
  }

  /** Latest audio received by a phone: the given number of samples at 16 kHz. */
  receivedBy(leg: MediaLeg, samples = 8000): Int16Array {
    const phone = [...this.#phones.values()].find((known) => known.leg === leg.port);
    return Int16Array.from(phone?.received.slice(-samples) ?? []);
  }

  #say(port: number, phone: { leg: number; hz: number; sent: number }): void {
    const payload = l16(sine(phone.hz, 320, { from: phone.sent, rate: 16_000 })).swap16();
    const packet = { payloadType: 97, sequence: phone.sent / 320, timestamp: phone.sent, payload };
    this.drive.inject(phone.leg, { address: REMOTE.address, port }, rtp({ ...packet, ssrc: port }));
    phone.sent += 320;
  }
}

const bigEndian = (payload: Uint8Array): Int16Array => {
  const swapped = Buffer.from(payload).swap16();
  return new Int16Array(
    swapped.buffer.slice(swapped.byteOffset, swapped.byteOffset + swapped.length),
  );
};

/** A bot on a leg with its received audio at 16 kHz. */
function botAt(leg: MediaLeg) {
  const received: number[] = [];
  const stream = leg.openStream(
    {
      streamId: STREAM_ID,
      encoding: 'audio/x-l16',
      rate: 16_000,
      tracks: 'inbound',
      bidirectional: true,
      extraHeadersJson: '"{}"',
      queueMs: 60_000,
    },
    {
      media: (batch) => {
        for (const bytes of batch) {
          const payload = /"payload":"([^"]*)"/.exec(Buffer.from(bytes).toString())?.[1] ?? '';
          received.push(...bigEndian(Buffer.from(payload, 'base64').swap16()));
        }
      },
      played: () => undefined,
      degraded: () => undefined,
      dtmf: () => undefined,
    },
  ) as LegStream;
  return { stream, lately: (samples = 8000) => Int16Array.from(received.slice(-samples)) };
}

const WAYS = [
  ['G.722', G722],
  ['L16', L16],
  ['Opus', OPUS],
] as const;

describe('6.5 kHz', () => {
  it.each(WAYS)('reach a 16 kHz bot from a caller with %s, over a bridge', async (_, codec) => {
    const wires = new Wires();
    const phone = await wires.phone(6500);
    const [near, far] = await wires.pair(codec);
    wires.media.bridge(phone, near);
    const bot = botAt(far);
    wires.run(1500);
    const received = bot.lately();
    expect(purity(received, 6500, 16_000)).toBeGreaterThan(0.9);
    expect(rms(received)).toBeGreaterThan(4000);
  });

  it.each([
    ['G.722', G722, 16_000],
    ['L16', L16, 16_000],
    ['Opus', OPUS, 24_000],
  ] as const)('reach a caller with %s from a bot', async (_, codec, rate) => {
    const wires = new Wires();
    const phone = await wires.phone(0);
    const [near, far] = await wires.pair(codec);
    wires.media.bridge(phone, near);
    const bot = botAt(far);
    wires.run(300);
    bot.stream.enqueue('audio/x-l16', rate, l16(sine(6500, 2 * rate, { rate })));
    wires.run(1500);
    const received = wires.receivedBy(phone);
    expect(purity(received, 6500, 16_000)).toBeGreaterThan(0.9);
    expect(rms(received)).toBeGreaterThan(4000);
  });

  it('and 11 kHz reach an Opus caller from a bot, checked with an independent decoder', async () => {
    const wires = new Wires();
    const leg = await wires.open();
    leg.configure(session(OPUS, 50_000));
    const bot = botAt(leg);
    bot.stream.enqueue('audio/x-l16', 24_000, l16(sine(11_000, 24_000, { rate: 24_000 })));
    const decoder = new OpusDecoder({ channels: 1 });
    await decoder.ready;
    const received: number[] = [];
    for (let ms = 0; ms < 1000; ms += 10) {
      wires.drive.advance(10);
      for (const { bytes } of wires.drive.drain()) {
        const { channelData } = decoder.decodeFrame(parseRtp(bytes).payload);
        for (const value of channelData[0] ?? []) received.push(value * 32_768);
      }
    }
    decoder.free();
    const lately = Int16Array.from(received.slice(-24_000));
    expect(purity(lately, 11_000, 48_000)).toBeGreaterThan(0.9);
    expect(rms(lately)).toBeGreaterThan(3000);
  });

  it('reach capable members of a conference that also has a narrowband member', async () => {
    const wires = new Wires();
    const room = wires.media.openRoom({ floor: () => undefined });
    const flags = { muted: false, deaf: false };
    const speaker = await wires.phone(6500);
    const listener = await wires.phone(0);
    const [narrow, narrowPeer] = await wires.pair(PCMU);
    for (const leg of [speaker, listener, narrow]) room.join(leg, flags);
    const bot = botAt(narrowPeer);
    wires.run(1500);
    expect(purity(wires.receivedBy(listener), 6500, 16_000)).toBeGreaterThan(0.9);
    // No aliasing into the telephone band.
    expect(rms(bot.lately())).toBeLessThan(30);
  });

  it('reach only the coached members of a conference', async () => {
    const wires = new Wires();
    const room = wires.media.openRoom({ floor: () => undefined });
    const flags = { muted: false, deaf: false };
    const [supervisor, agent, customer] = [
      await wires.phone(5000),
      await wires.phone(0),
      await wires.phone(0),
    ];
    room.join(supervisor, flags).set({ whispers: true });
    room.join(agent, flags).set({ coached: true });
    room.join(customer, flags);
    wires.run(1500);
    expect(purity(wires.receivedBy(agent), 5000, 16_000)).toBeGreaterThan(0.9);
    expect(rms(wires.receivedBy(customer))).toBeLessThan(30);
    expect(rms(wires.receivedBy(supervisor))).toBeLessThan(30);
  });

  it('of an unrecorded member reach the conference, but not its recording', async () => {
    const wires = new Wires();
    const folder = mkdtempSync(join(tmpdir(), 'carillon-room-'));
    folders.push(folder);
    const path = join(folder, 'room.wav');
    const room = wires.media.openRoom({ floor: () => undefined });
    const [refusing, agreeing, listener] = [
      await wires.phone(5000),
      await wires.phone(6500),
      await wires.phone(0),
    ];
    room.join(refusing, { unrecorded: true });
    room.join(agreeing, {});
    room.join(listener, {});
    const recording = room.record(path);
    wires.run(1000);
    recording.stop();
    wires.run(1000);
    await recording.finished;
    const wav = readFileSync(path);
    const recorded = new Int16Array(
      wav.buffer.slice(wav.byteOffset + 44 + 16_000, wav.byteOffset + 44 + 30_000),
    );
    expect(purity(recorded, 6500, 16_000)).toBeGreaterThan(0.95);
    expect(purity(recorded, 5000, 16_000)).toBeLessThan(0.001);
    expect(purity(wires.receivedBy(listener), 5000, 16_000)).toBeGreaterThan(0.3);
  });

  it('are kept in a recording and in file playback', async () => {
    const wires = new Wires();
    const folder = mkdtempSync(join(tmpdir(), 'carillon-wide-'));
    folders.push(folder);
    const path = join(folder, 'call.wav');
    const phone = await wires.phone(6500);
    const recording = phone.record({
      path,
      channels: 'received',
      stereo: false,
      silenceEndMs: 0,
      maxMs: 0,
    });
    phone.play(
      { rate: 16_000, samples: l16(sine(5500, 64_000, { rate: 16_000 })) },
      { loop: 1, mix: false },
    );
    wires.run(1000);
    recording.stop();
    wires.run(1100);
    await recording.finished;
    const wav = readFileSync(path);
    expect(wav.readUInt32LE(24)).toBe(16_000);
    const samples = new Int16Array(
      wav.buffer.slice(wav.byteOffset + 44 + 16_000, wav.byteOffset + 44 + 30_000),
    );
    expect(purity(samples, 6500, 16_000)).toBeGreaterThan(0.95);
    expect(purity(wires.receivedBy(phone), 5500, 16_000)).toBeGreaterThan(0.95);
  });
});

describe('DTMF digits', () => {
  it.each([
    ['as tones over G.722', G722, true, undefined],
    ['as tones over Opus', OPUS, true, undefined],
    ['as events with G.722', G722, false, 8000],
    ['as events on the clock of Opus', OPUS, false, 48_000],
    ['as events on another clock than that of Opus', OPUS, false, 8000],
  ] as const)('%s are detected once each', async (_, codec, inband, clockRate) => {
    const wires = new Wires();
    const pressed: string[] = [];
    const near = await wires.open();
    const far = await wires.open((digit, asTone) => pressed.push(asTone ? `tone ${digit}` : digit));
    const events = clockRate === undefined ? undefined : { send: 101, receive: 101, clockRate };
    near.configure({ ...session(codec, far.port), telephoneEvent: events });
    far.configure({ ...session(codec, near.port), telephoneEvent: events });
    far.hearTones(true);
    wires.run(500);
    const sent = near.sendDigits('59#', { toneMs: 100, gapMs: 100, inband });
    wires.run(1000);
    await sent;
    expect(pressed).toEqual(inband ? ['tone 5', 'tone 9', 'tone #'] : ['5', '9', '#']);
  });
});

describe('arbitrary packet times', () => {
  const times = [10, 20, 30, 40, 50, 60];
  const cases = WAYS.flatMap(([name, codec]) =>
    times.map((ptimeMs, i) => [name, ptimeMs, times[(i + 2) % times.length]!, codec] as const),
  );
  it.each(cases)('%s: %i ms one way, %i ms the other', async (_, oneMs, otherMs, codec) => {
    const wires = new Wires();
    const phone = await wires.phone(1000);
    const [near, far] = await wires.pair(codec, oneMs, otherMs);
    wires.media.bridge(phone, near);
    const echo = await wires.phone(700);
    wires.media.bridge(far, echo);
    wires.run(2000);
    expect(purity(wires.receivedBy(echo), 1000, 16_000)).toBeGreaterThan(0.9);
    expect(purity(wires.receivedBy(phone), 700, 16_000)).toBeGreaterThan(0.9);
    expect(near.quality().packetsLost + far.quality().packetsLost).toBe(0);
  });
});

describe('a codec change during a word', () => {
  it.each([
    ['PCMU to Opus', PCMU, OPUS],
    ['Opus to PCMU', OPUS, PCMU],
    ['PCMU to G.722', PCMU, G722],
    ['G.722 to Opus', G722, OPUS],
  ] as const)('%s: the word continues for the far end and for a bot', async (_, before, after) => {
    const wires = new Wires();
    const phone = await wires.phone(500);
    const [near, far] = await wires.pair(before);
    wires.media.bridge(phone, near);
    const bot = botAt(far);
    const listener = await wires.phone(0);
    wires.media.bridge(far, listener);
    wires.run(1000);
    // The far end answers first; for 60 ms the near end still sends the old codec.
    far.configure(session(after, near.port));
    wires.run(60);
    near.configure(session(after, far.port));
    wires.run(1000);
    const received = wires.receivedBy(listener, 32_000);
    let quiet = 0;
    for (let at = 8000; at + 320 <= received.length; at += 320) {
      if (rms(received.subarray(at, at + 320)) < 1000) quiet += 1;
    }
    expect(quiet).toBeLessThanOrEqual(3);
    expect(purity(received.subarray(-8000), 500, 16_000)).toBeGreaterThan(0.95);
    expect(purity(bot.lately(), 500, 16_000)).toBeGreaterThan(0.95);
  });
});
