import { afterEach, describe, expect, it } from 'vitest';
import { asStreamId } from '../../../src/base/ids.ts';
import type {
  MediaStreamOptions,
  PlayPosition,
  SpeechEvent,
} from '../../../src/domain/call/needs.ts';
import type { MediaEngine } from '../../../src/edge/media/engine.ts';
import type { LegStream } from '../../../src/edge/media/stream.ts';
import {
  decodeMulaw,
  FRAME,
  l16,
  manualEngine,
  Peer,
  parseRtp,
  REMOTE,
  rms,
  sine,
  WALL_START,
} from './peer.ts';

const STREAM_ID = asStreamId('5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22');
const SPEECH = { sensitivity: 50, minimumMs: 40, endMs: 500, bargeIn: 'clear' } as const;
const SILENCE = new Int16Array(FRAME);
const engines: MediaEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

/** A vowel: harmonics of a gliding pitch near 140 Hz, weaker towards high frequencies. */
function vowel(samples: number): Int16Array {
  let phase = 0;
  return Int16Array.from({ length: samples }, (_, i) => {
    phase += (2 * Math.PI * (140 + 10 * Math.sin((2 * Math.PI * 3 * i) / 8000))) / 8000;
    let sum = 0;
    for (let harmonic = 1; harmonic <= 20; harmonic += 1)
      sum += Math.sin(phase * harmonic + harmonic * harmonic) / harmonic;
    return Math.round(5000 * sum);
  });
}

interface Interruption {
  readonly names: readonly string[];
  readonly at: PlayPosition;
}

async function setUp(options: Partial<MediaStreamOptions> = { speech: SPEECH }) {
  const { media, drive } = manualEngine();
  engines.push(media);
  const leg = await media.openLeg(
    { mediaTimeoutMs: 0 },
    { dtmf: () => undefined, silent: () => undefined },
  );
  leg.configure(REMOTE);
  const speech: SpeechEvent[] = [];
  const interrupted: Interruption[] = [];
  const turns: number[] = [];
  const played: { readonly name: string; readonly at: PlayPosition | undefined }[] = [];
  const stream = leg.openStream(
    {
      streamId: STREAM_ID,
      encoding: 'audio/x-l16',
      rate: 8000,
      tracks: 'inbound',
      bidirectional: true,
      extraHeadersJson: '"{}"',
      queueMs: 60_000,
      ...options,
    },
    {
      media: () => undefined,
      played: (name, at) => played.push({ name, at }),
      degraded: () => undefined,
      dtmf: () => undefined,
      speech: (event) => speech.push(event),
      interrupted: (names, at) => interrupted.push({ names, at }),
      turn: (latencyMs) => turns.push(latencyMs),
    },
  ) as LegStream;
  const peer = new Peer(drive, leg.port);
  /** Sends the caller's audio frame by frame; returns what the caller hears, in frames. */
  const hear = (samples: Int16Array): Int16Array[] => {
    const heard: Int16Array[] = [];
    for (let at = 0; at + FRAME <= samples.length; at += FRAME) {
      drive.advance(20);
      peer.send(samples.subarray(at, at + FRAME));
      heard.push(...drive.drain().map(({ bytes }) => decodeMulaw(parseRtp(bytes).payload)));
    }
    return heard;
  };
  const say = (ms: number) => stream.enqueue('audio/x-l16', 8000, l16(sine(440, 8 * ms)));
  const wait = (ms: number): Int16Array[] => hear(new Int16Array(8 * ms));
  return { stream, speech, interrupted, turns, played, hear, say, wait };
}

const audible = (frames: readonly Int16Array[]): boolean[] =>
  frames.map((frame) => rms(frame) > 50);

describe('speech events', () => {
  it('report the begin and the end of speech with time and confidence', async () => {
    const { speech, hear, wait } = await setUp();
    wait(2000);
    hear(vowel(8 * 600));
    wait(1000);
    expect(speech.map(({ started }) => started)).toEqual([true, false]);
    const [began, ended] = speech;
    // The engine's time starts at 1 s.
    expect(began!.timestampMs - WALL_START).toBeGreaterThanOrEqual(2980);
    expect(began!.timestampMs - WALL_START).toBeLessThanOrEqual(3040);
    expect(ended!.timestampMs - began!.timestampMs).toBeGreaterThan(500);
    expect(ended!.timestampMs - began!.timestampMs).toBeLessThan(700);
    expect(began!.confidence).toBeGreaterThan(0.5);
    expect(began!.confidence).toBeLessThanOrEqual(1);
  });

  it('are not sent without speech detection', async () => {
    const { speech, turns, hear, say } = await setUp({});
    hear(vowel(8 * 600));
    say(500);
    hear(SILENCE);
    expect([speech, turns]).toEqual([[], []]);
  });
});

describe('barge-in', () => {
  it('silences the bot within 100 ms of the first packet with speech, and reports the position', async () => {
    const { stream, speech, interrupted, hear, say, wait } = await setUp();
    say(400);
    stream.checkpoint('first');
    say(5000);
    stream.checkpoint('second');
    wait(1000);
    const heard = audible(hear(vowel(8 * 400)));
    expect(heard.lastIndexOf(true)).toBeLessThan(5);
    expect(speech).toHaveLength(1);
    expect(interrupted).toHaveLength(1);
    const { names, at } = interrupted[0]!;
    expect(names).toEqual(['second']);
    expect(at.message).toBe(2);
    expect(at.messageMs).toBe(5000);
    expect(at.messagePlayedMs).toBe(at.playedMs);
    expect(at.playedMs).toBeGreaterThan(600);
    expect(at.playedMs).toBeLessThan(720);
    expect(at.playedMs + at.discardedMs).toBe(5000);
  });

  it('discards audio that is still on its way, until the caller is silent', async () => {
    const { stream, played, hear, say, wait } = await setUp();
    say(2000);
    wait(500);
    hear(vowel(8 * 300));
    say(200);
    stream.checkpoint('late');
    expect(audible(hear(vowel(8 * 400)))).not.toContain(true);
    expect(played).toMatchObject([{ name: 'late', at: { playedMs: 0, message: 1 } }]);
    wait(400);
    say(200);
    expect(audible(wait(400))).toContain(true);
  });

  it('plays audio again as soon as the bot has cleared its queue', async () => {
    const { stream, hear, say, wait } = await setUp();
    say(2000);
    wait(500);
    hear(vowel(8 * 300));
    stream.clear();
    say(300);
    expect(audible(hear(vowel(8 * 300)))).toContain(true);
  });

  it('changes nothing while the bot is silent', async () => {
    const { interrupted, hear, say, wait } = await setUp();
    wait(500);
    hear(vowel(8 * 300));
    expect(interrupted).toEqual([]);
    say(300);
    expect(audible(hear(vowel(8 * 300)))).toContain(true);
  });

  it('lowers the bot with duck, and restores it when the caller is silent', async () => {
    const { interrupted, hear, say, wait } = await setUp({
      speech: { ...SPEECH, bargeIn: 'duck' },
    });
    say(4000);
    const before = rms(wait(1000).at(-1)!);
    const during = rms(hear(vowel(8 * 500)).at(-1)!);
    const after = rms(wait(1000).at(-1)!);
    expect(during / before).toBeGreaterThan(0.15);
    expect(during / before).toBeLessThan(0.21);
    expect(after / before).toBeGreaterThan(0.95);
    expect(interrupted).toEqual([]);
  });

  it('leaves the bot alone without bargeIn', async () => {
    const { interrupted, hear, say, wait } = await setUp({
      speech: { ...SPEECH, bargeIn: 'none' },
    });
    say(3000);
    wait(1000);
    expect(audible(hear(vowel(8 * 500)))).not.toContain(false);
    expect(interrupted).toEqual([]);
  });
});

describe('position of playback', () => {
  it('counts from the checkpoint before', async () => {
    const { stream, played, say, wait } = await setUp({});
    say(300);
    stream.checkpoint('a');
    say(100);
    say(60);
    stream.checkpoint('b');
    wait(1000);
    expect(played).toMatchObject([
      { name: 'a', at: { playedMs: 300, message: 1 } },
      { name: 'b', at: { playedMs: 160, message: 3 } },
    ]);
  });

  it('of a clear names the message and its played part; a repeated clear has none', async () => {
    const { stream, say, wait } = await setUp({});
    say(200);
    say(500);
    say(500);
    wait(400);
    const at = stream.clear();
    expect(at).toMatchObject({ message: 2, messageMs: 500 });
    expect(at!.messagePlayedMs).toBe(at!.playedMs - 200);
    expect(at!.playedMs + at!.discardedMs).toBe(1200);
    expect(stream.clear()).toBeUndefined();
    wait(100);
    say(200);
    wait(200);
    expect(stream.clear()).toMatchObject({ message: 4, discardedMs: expect.any(Number) });
  });
});

describe('turn latency', () => {
  it("is the time from the caller's last speech to the first audio of the answer", async () => {
    const { turns, hear, say, wait } = await setUp();
    wait(500);
    hear(vowel(8 * 400));
    wait(700);
    say(500);
    wait(1000);
    expect(turns).toHaveLength(1);
    expect(turns[0]).toBeGreaterThan(660);
    expect(turns[0]).toBeLessThan(800);
    // More audio without speech in between is no other turn.
    say(500);
    wait(1000);
    expect(turns).toHaveLength(1);
  });
});
