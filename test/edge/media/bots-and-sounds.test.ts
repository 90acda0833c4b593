/** Playback of a bot while another sound uses the line: it is mixed or it waits, and only played audio is confirmed. */

import { afterEach, describe, expect, it } from 'vitest';
import { asStreamId } from '../../../src/base/ids.ts';
import type { MediaSession, PlayOptions } from '../../../src/domain/call/needs.ts';
import type { ManualDrive, MediaEngine } from '../../../src/edge/media/engine.ts';
import {
  decodeMulaw,
  encodeMulaw,
  FRAME,
  l16,
  manualEngine,
  Peer,
  parseRtp,
  REMOTE,
  sine,
} from './peer.ts';

const BOT_HZ = 700;
const SOUND_HZ = 1900;

const engines: MediaEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

async function setUp(remote: Partial<MediaSession> = {}) {
  const { media, drive } = manualEngine();
  engines.push(media);
  const open = () =>
    media.openLeg({ mediaTimeoutMs: 0 }, { dtmf: () => undefined, silent: () => undefined });
  const leg = await open();
  leg.configure({ ...REMOTE, ...remote });
  const played: string[] = [];
  const stream = leg.openStream(
    {
      streamId: asStreamId('5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22'),
      encoding: 'audio/x-l16',
      rate: 8000,
      tracks: 'inbound',
      bidirectional: true,
      extraHeadersJson: '"{}"',
      queueMs: 60_000,
    },
    {
      media: () => undefined,
      played: (name) => played.push(name),
      degraded: () => undefined,
      dtmf: () => undefined,
    },
  );
  const says = (ms: number, peak = 4000) =>
    stream.enqueue('audio/x-l16', 8000, l16(sine(BOT_HZ, ms * 8, { peak })));
  const sounds = (ms: number, how: Partial<PlayOptions> = {}, peak = 4000) =>
    leg.play(
      { rate: 8000, samples: l16(sine(SOUND_HZ, ms * 8, { peak })) },
      { loop: 1, mix: false, ...how },
    );
  return { media, drive, leg, open, stream, played, says, sounds };
}

/** Audio that the peer receives in `ms`, without telephone events. */
function hear(drive: ManualDrive, ms: number, port?: number): Int16Array {
  drive.advance(ms);
  const packets = drive.drain().filter(({ localPort }) => port === undefined || localPort === port);
  const audio = packets.map(({ bytes }) => parseRtp(bytes)).filter((rtp) => rtp.payloadType === 0);
  return Int16Array.from(audio.flatMap(({ payload }) => [...decodeMulaw(payload)]));
}

/** Peak amplitude of the component at `hz`. */
function level(samples: Int16Array, hz: number): number {
  let re = 0;
  let im = 0;
  samples.forEach((value, i) => {
    const angle = (2 * Math.PI * hz * i) / 8000;
    re += value * Math.cos(angle);
    im += value * Math.sin(angle);
  });
  return (2 * Math.hypot(re, im)) / Math.max(1, samples.length);
}

/** Milliseconds in which a frequency is present, accurate to a frame. */
function receivedMs(samples: Int16Array, hz: number): number {
  let frames = 0;
  for (let at = 0; at + FRAME <= samples.length; at += FRAME) {
    if (level(samples.subarray(at, at + FRAME), hz) > 1000) frames += 1;
  }
  return frames * 20;
}

describe('a bot during another playback', () => {
  it.each([
    ['that the document plays', {}],
    ['with `mix`', { mix: true }],
  ] as const)(
    'is mixed with a sound %s at full level and confirmed immediately',
    async (_, how) => {
      const { drive, played, stream, says, sounds } = await setUp();
      sounds(2000, how);
      drive.advance(200);
      drive.drain();
      says(1000);
      stream.checkpoint('said');
      const both = hear(drive, 960);
      expect(level(both.subarray(FRAME), BOT_HZ)).toBeGreaterThan(3900);
      expect(level(both.subarray(FRAME), SOUND_HZ)).toBeGreaterThan(3900);
      expect(played).toEqual([]);
      drive.advance(60);
      expect(played).toEqual(['said']);
    },
  );

  it('waits for an exclusive sound, then is played and confirmed completely', async () => {
    const { drive, played, stream, says, sounds } = await setUp();
    says(1000);
    stream.checkpoint('said');
    drive.advance(400);
    drive.drain();
    sounds(1000, { alone: true });
    const during = hear(drive, 1000);
    expect(receivedMs(during, BOT_HZ)).toBe(0);
    expect(receivedMs(during, SOUND_HZ)).toBe(1000);
    expect(played).toEqual([]);
    const rest = hear(drive, 1000);
    expect(receivedMs(rest, BOT_HZ)).toBe(600);
    expect(played).toEqual(['said']);
  });

  it('is heard by the party of its leg over the far end; the other side does not hear it', async () => {
    const { media, drive, leg, open, says } = await setUp();
    const other = await open();
    other.configure({ ...REMOTE, port: 41_000 });
    media.bridge(leg, other);
    const farPeer = new Peer(drive, other.port, { address: REMOTE.address, port: 41_000 });
    says(1000);
    const near: number[] = [];
    const far: number[] = [];
    for (let i = 0; i < 50; i += 1) {
      farPeer.send(sine(SOUND_HZ, FRAME, { from: i * FRAME, peak: 4000 }));
      drive.advance(20);
      for (const { localPort, bytes } of drive.drain()) {
        (localPort === leg.port ? near : far).push(...decodeMulaw(parseRtp(bytes).payload));
      }
    }
    const nearAudio = Int16Array.from(near).subarray(2000, 7600);
    expect(level(nearAudio, BOT_HZ)).toBeGreaterThan(3900);
    expect(level(nearAudio, SOUND_HZ)).toBeGreaterThan(3500);
    expect(level(Int16Array.from(far), BOT_HZ)).toBeLessThan(100);
  });

  it('is attenuated together with the sound to avoid clipping, and recovers', async () => {
    const { drive, says, sounds } = await setUp();
    sounds(1000, {}, 30_000);
    says(3000, 30_000);
    const both = hear(drive, 1000);
    // The octets next to full scale: µ-law 0x00 and 0x80 represent all values from 31,612.
    const octets = encodeMulaw(both);
    let clipped = 0;
    octets.forEach((octet, i) => {
      if (octet % 0x80 === 0 && octets[i + 1] === octet && octets[i + 2] === octet) clipped += 1;
    });
    expect(clipped).toBe(0);
    const steady = both.subarray(4000);
    expect(level(steady, BOT_HZ)).toBeGreaterThan(14_000);
    expect(level(steady, SOUND_HZ)).toBeGreaterThan(14_000);
    // Two pure tones with almost no other components.
    expect(level(steady, 2 * SOUND_HZ - BOT_HZ)).toBeLessThan(500);
    const alone = hear(drive, 1000);
    expect(level(alone.subarray(4000), BOT_HZ)).toBeGreaterThan(29_000);
  });

  it('leaves samples unchanged if the sum does not clip', async () => {
    const { drive, says, sounds } = await setUp();
    says(200, 12_000);
    sounds(200, {}, 12_000);
    const bot = sine(BOT_HZ, 1600, { peak: 12_000 });
    const sound = sine(SOUND_HZ, 1600, { peak: 12_000 });
    const sum = bot.map((value, i) => value + sound[i]!);
    expect([...hear(drive, 200)]).toEqual([...decodeMulaw(encodeMulaw(sum))]);
  });
});

describe('a bot on an inactive line', () => {
  it.each(['recvonly', 'inactive'] as const)('waits while the leg is %s', async (direction) => {
    const { drive, leg, played, stream, says } = await setUp();
    says(1000);
    stream.checkpoint('said');
    expect(receivedMs(hear(drive, 400), BOT_HZ)).toBe(400);
    leg.configure({ ...REMOTE, direction });
    expect(hear(drive, 5000)).toHaveLength(0);
    expect(played).toEqual([]);
    leg.configure(REMOTE);
    expect(receivedMs(hear(drive, 700), BOT_HZ)).toBe(600);
    expect(played).toEqual(['said']);
  });

  it('gets no confirmation of audio discarded by a clear; a checkpoint on an empty queue is confirmed', async () => {
    const { drive, leg, played, stream, says } = await setUp();
    leg.configure({ ...REMOTE, direction: 'inactive' });
    says(500);
    stream.checkpoint('cut');
    drive.advance(100);
    stream.clear();
    stream.checkpoint('nothing before it');
    drive.advance(40);
    expect(played).toEqual(['nothing before it']);
    says(300);
    stream.checkpoint('kept');
    drive.advance(1000);
    drive.drain();
    leg.configure(REMOTE);
    expect(receivedMs(hear(drive, 500), BOT_HZ)).toBe(300);
    expect(played).toEqual(['nothing before it', 'kept']);
  });

  it.each([
    ['as events', false],
    ['as tones', true],
  ])('loses no audio to digits sent %s', async (_, inband) => {
    const { drive, leg, played, stream, says } = await setUp();
    says(2000);
    stream.checkpoint('said');
    drive.advance(200);
    drive.drain();
    const sent = leg.sendDigits('19', { toneMs: 160, gapMs: 80, inband });
    const rest = hear(drive, 2600);
    await sent;
    // Digits of 697 + 1209 and 852 + 1477 Hz: the low frequency of the first is near the bot's tone.
    const rows = inband ? 160 : 0;
    expect(receivedMs(rest, BOT_HZ)).toBe(1800 + rows);
    expect(played).toEqual(['said']);
  });

  it('that sends in real time catches up soon afterwards', async () => {
    const { drive, leg, stream } = await setUp();
    const silence = l16(new Int16Array(FRAME));
    const speak = (ms: number) => {
      for (let at = 0; at < ms; at += 20) {
        stream.enqueue('audio/x-l16', 8000, silence);
        drive.advance(20);
      }
    };
    speak(6000);
    leg.configure({ ...REMOTE, direction: 'inactive' });
    speak(10_000);
    leg.configure(REMOTE);
    speak(11_000);
    expect((stream as unknown as { queuedMs(): number }).queuedMs()).toBeLessThanOrEqual(60);
  });
});

it('confirms a checkpoint with the packet of its last sample, for any packet length', async () => {
  const { drive, played, stream, says } = await setUp({ ptimeMs: 60 });
  drive.advance(60);
  drive.drain();
  says(80);
  stream.checkpoint('said');
  const received: number[] = [];
  for (let i = 0; i < 20 && played.length === 0; i += 1) received.push(...hear(drive, 10));
  expect(receivedMs(Int16Array.from(received), BOT_HZ)).toBe(80);
});
