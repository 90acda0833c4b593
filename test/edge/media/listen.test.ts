import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MediaLeg, RecordOptions, RoomMember } from '../../../src/domain/call/needs.ts';
import type { ManualDrive, MediaEngine } from '../../../src/edge/media/engine.ts';
import {
  decodeMulaw,
  FRAME,
  l16,
  manualEngine,
  Peer,
  parseRtp,
  purity,
  REMOTE,
  rms,
  sine,
} from './peer.ts';

const engines: MediaEngine[] = [];
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'media-'));
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
  rmSync(folder, { recursive: true });
});

const QUIET = { dtmf: (): void => undefined, silent: (): void => undefined };

function engine(more: { suppressDigits?: boolean } = {}): {
  media: MediaEngine;
  drive: ManualDrive;
} {
  const made = manualEngine(more);
  engines.push(made.media);
  return made;
}

async function legAt(media: MediaEngine, drive: ManualDrive, address: string) {
  const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
  leg.configure({ ...REMOTE, address });
  return { leg, peer: new Peer(drive, leg.port, { address, port: REMOTE.port }) };
}

function wav(path: string): { channels: number; rate: number; samples: Int16Array } {
  const bytes = readFileSync(path);
  expect(bytes.toString('latin1', 0, 4)).toBe('RIFF');
  expect(bytes.readUInt32LE(40)).toBe(bytes.length - 44);
  const data = bytes.subarray(44);
  return {
    channels: bytes.readUInt16LE(22),
    rate: bytes.readUInt32LE(24),
    samples: new Int16Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.length)),
  };
}

const frames = (samples: Int16Array): Int16Array[] =>
  Array.from({ length: samples.length / FRAME }, (_, i) =>
    samples.subarray(i * FRAME, (i + 1) * FRAME),
  );

const RECORD: Omit<RecordOptions, 'path'> = {
  channels: 'both',
  stereo: true,
  silenceEndMs: 0,
  maxMs: 0,
};

describe('recording a leg', () => {
  it('keeps both sides synchronized: left received, right sent, with the recorded length', async () => {
    const { media, drive } = engine();
    const { leg, peer } = await legAt(media, drive, '192.0.2.1');
    const path = join(folder, 'both.wav');
    leg.play({ rate: 8000, samples: l16(sine(1000, 16_000)) }, { loop: 1, mix: false });
    const recording = leg.record({ path, ...RECORD });
    for (let i = 0; i < 100; i += 1) {
      peer.send(sine(400, FRAME, { from: i * FRAME }));
      drive.advance(20);
    }
    recording.stop();
    drive.advance(100);
    expect(await recording.finished).toEqual({
      reason: 'stopped',
      durationMs: 2000,
      error: undefined,
    });
    const { channels, rate, samples } = wav(path);
    expect([channels, rate, samples.length]).toEqual([2, 8000, 32_000]);
    const left = samples.filter((_, i) => i % 2 === 0).subarray(1600, 15_200);
    const right = samples.filter((_, i) => i % 2 === 1).subarray(1600, 15_200);
    expect(purity(left, 400)).toBeGreaterThan(0.99);
    expect(purity(right, 1000)).toBeGreaterThan(0.99);
  });

  it.each([
    { ringback: undefined, hears: 'silence' },
    { ringback: true, hears: 'ringback' },
  ])('has $hears while ringback is played, with ringback: $ringback', async (given) => {
    const { media, drive } = engine();
    const { leg, peer } = await legAt(media, drive, '192.0.2.1');
    const { ringback } = given;
    const options = { ...RECORD, ...(ringback === undefined ? {} : { ringback }) };
    const before = leg.record({ ...options, path: join(folder, 'before.wav') });
    const talk = (frames: number): void => {
      for (let i = 0; i < frames; i += 1) {
        peer.send(sine(400, FRAME, { from: i * FRAME }));
        drive.advance(20);
      }
    };
    const tone = { rate: 8000, samples: l16(sine(1000, 8000)) } as const;
    leg.ringback(true);
    const ringing = leg.play(tone, { loop: 0, mix: false });
    talk(25);
    const during = leg.record({ ...options, path: join(folder, 'during.wav') });
    talk(25);
    ringing.stop();
    leg.ringback(false);
    leg.play(tone, { loop: 0, mix: false });
    talk(25);
    before.stop();
    during.stop();
    drive.advance(100);
    const loudness = async (recording: typeof before, name: string) => {
      const { durationMs } = await recording.finished;
      const right = wav(join(folder, name)).samples.filter((_, i) => i % 2 === 1);
      expect(right).toHaveLength(durationMs * 8);
      const half = (i: number) => Math.round(rms(right.subarray(i * 4000, (i + 1) * 4000)) / 1000);
      return Array.from({ length: durationMs / 500 }, (_, i) => half(i));
    };
    const rung = ringback === true ? 6 : 0;
    expect(await loudness(before, 'before.wav')).toEqual([rung, rung, 6]);
    expect(await loudness(during, 'during.wav')).toEqual([rung, 6]);
  });

  it.each([
    [true, 'removes DTMF tones if configured; the length stays the same without pauses'],
    [false, 'keeps DTMF tones by default'],
  ])('suppressDigits %s: %s', async (suppressDigits) => {
    const { media, drive } = engine({ suppressDigits });
    const { leg, peer } = await legAt(media, drive, '192.0.2.1');
    const path = join(folder, 'keys.wav');
    const recording = leg.record({ ...RECORD, path, channels: 'received', stereo: false });
    const say = (frames: number, sample: (i: number) => Int16Array): void => {
      for (let i = 0; i < frames; i += 1) {
        peer.send(sample(i));
        drive.advance(20);
      }
    };
    const speak = (i: number) => sine(400, FRAME, { from: i * FRAME });
    const key = (i: number) => {
      const column = sine(1477, FRAME, { from: i * FRAME });
      return sine(852, FRAME, { from: i * FRAME }).map((value, at) => value + (column[at] ?? 0));
    };
    say(25, speak);
    say(5, key);
    say(20, speak);
    recording.pause(true);
    say(20, speak);
    recording.pause(false);
    say(25, speak);
    recording.stop();
    drive.advance(100);
    expect(await recording.finished).toMatchObject({ reason: 'stopped', durationMs: 1500 });
    const { samples } = wav(path);
    expect(samples).toHaveLength(12_000);
    const pressed = samples.subarray(22 * FRAME, 35 * FRAME);
    const toneShare = Math.max(...frames(pressed).map((part) => purity(part, 1477)));
    if (suppressDigits) expect(toneShare).toBeLessThan(0.1);
    else expect(toneShare).toBeGreaterThan(0.4);
    const speech = [
      ...frames(samples.subarray(5 * FRAME, 20 * FRAME)),
      ...frames(samples.subarray(45 * FRAME, 47 * FRAME)),
      // Parts of a key next to the pause are silenced: 40 ms after it, and with suppressed digits 60 ms before it.
      ...frames(samples.subarray(47 * FRAME, (suppressDigits ? 47 : 50) * FRAME)),
      ...frames(samples.subarray(52 * FRAME)),
    ];
    for (const part of speech) expect(rms(part)).toBeGreaterThan(3000);
  });

  it('removes a sequence of keys that arrives with jitter and loss, and keeps the speech around it', async () => {
    const { media, drive } = engine({ suppressDigits: true });
    const { leg, peer } = await legAt(media, drive, '192.0.2.1');
    const path = join(folder, 'sequence.wav');
    const recording = leg.record({ ...RECORD, path, channels: 'received', stereo: false });
    const LOW = { 1: 697, 4: 770, 7: 852, '*': 941 };
    const keys = Object.values(LOW);
    // 100 frames of speech, then a key of 80 ms every 160 ms, then speech again.
    const frameAt = (i: number): Int16Array => {
      const from = i * FRAME;
      if (i < 100 || i >= 260) return sine(400, FRAME, { from });
      if (i % 8 >= 4) return new Int16Array(FRAME);
      const low = sine(keys[Math.floor(i / 8) % keys.length] ?? 0, FRAME, { from });
      const high = sine(1209, FRAME, { from });
      return low.map((value, at) => value + (high[at] ?? 0));
    };
    const waiting: (() => void)[] = [];
    for (let i = 0; i < 400; i += 1) {
      const late = (i * 7) % 5 === 0;
      const send = () => {
        peer.sequence = i;
        peer.timestamp = i * FRAME;
        peer.send(frameAt(i));
      };
      // One of 50 packets is lost; some arrive after their successor.
      const isLost = i % 50 === 17;
      if (late) waiting.push(send);
      else if (!isLost) send();
      if (!late) for (const held of waiting.splice(0)) held();
      drive.advance(20);
    }
    recording.stop();
    drive.advance(100);
    expect(await recording.finished).toMatchObject({ durationMs: 8000 });
    const parts = frames(wav(path).samples);
    const heard = parts.map((part) => Math.max(...keys.map((hz) => purity(part, hz))));
    const loud = parts.map((part) => rms(part) > 1000);
    const tones = heard.filter((share, i) => i >= 98 && i < 262 && share > 0.3 && loud[i]);
    expect(tones).toEqual([]);
    expect(loud.slice(5, 94).every((is) => is)).toBe(true);
    expect(loud.slice(268, 395).every((is) => is)).toBe(true);
  });

  it('ends by silence of the peer, by length, and with its leg; each file is complete', async () => {
    const { media, drive } = engine();
    const { leg, peer } = await legAt(media, drive, '192.0.2.1');
    const record = (name: string, more: Partial<RecordOptions>) =>
      leg.record({
        ...RECORD,
        path: join(folder, name),
        channels: 'received',
        stereo: false,
        ...more,
      });
    const silence = record('silence.wav', { silenceEndMs: 1000 });
    const length = record('length.wav', { maxMs: 1500 });
    const leave = record('leave.wav', {});
    for (let i = 0; i < 50; i += 1) {
      peer.send(sine(400, FRAME, { from: i * FRAME }));
      drive.advance(20);
    }
    for (let i = 0; i < 100; i += 1) {
      peer.send(new Int16Array(FRAME));
      drive.advance(20);
    }
    const ended = await silence.finished;
    expect(ended.reason).toBe('silence');
    expect(ended.durationMs).toBeGreaterThan(1900);
    expect(ended.durationMs).toBeLessThan(2300);
    expect(await length.finished).toMatchObject({ reason: 'maxLength', durationMs: 1500 });
    leg.close();
    drive.advance(100);
    expect(await leave.finished).toMatchObject({ reason: 'legEnded', durationMs: 3000 });
    expect(wav(join(folder, 'leave.wav')).samples).toHaveLength(24_000);
  });

  it('omits audio while paused', async () => {
    const { media, drive } = engine();
    const { leg } = await legAt(media, drive, '192.0.2.1');
    const recording = leg.record({ path: join(folder, 'pause.wav'), ...RECORD });
    drive.advance(1000);
    recording.pause(true);
    drive.advance(1000);
    recording.pause(false);
    drive.advance(500);
    recording.stop();
    drive.advance(100);
    expect(await recording.finished).toMatchObject({ durationMs: 1500 });
  });

  it('reports the reason if it cannot be written, without other effects', async () => {
    const { media, drive } = engine();
    const { leg } = await legAt(media, drive, '192.0.2.1');
    const recording = leg.record({ path: join(folder, 'no', 'such', 'folder.wav'), ...RECORD });
    expect(await recording.finished).toEqual({ reason: 'failed', durationMs: 0, error: 'ENOENT' });
    recording.stop();
    drive.advance(100);
    expect(drive.drain().length).toBeGreaterThan(0);
  });
});

describe('listening to a leg', () => {
  const AMD = {
    totalMs: 5000,
    initialSilenceMs: 4500,
    greetingMs: 1500,
    maximumWords: 3,
    maximumWordMs: 5000,
    adaptive: false,
  };
  /** Speech-like noise: 250 ms on, 150 ms off. */
  function speak(
    peer: Peer,
    drive: ManualDrive,
    ms: number,
    loud: (atMs: number) => boolean,
  ): void {
    let seed = 1;
    for (let at = 0; at < ms; at += 20) {
      const frame = Int16Array.from({ length: FRAME }, () => {
        seed = (seed * 48_271) % 0x7fff_ffff;
        return ((seed % 2001) - 1000) * (loud(at) ? 8 : 0);
      });
      peer.send(frame);
      drive.advance(20);
    }
  }

  it('distinguishes a person who speaks briefly from a machine that talks on (dialect §6)', async () => {
    const { media, drive } = engine();
    const one = await legAt(media, drive, '192.0.2.1');
    const person = one.leg.detectMachine(AMD);
    speak(one.peer, drive, 5000, (at) => at >= 600 && at < 1000);
    expect(await person).toMatchObject({ machine: false, reason: 'human' });

    const two = await legAt(media, drive, '192.0.2.2');
    const machine = two.leg.detectMachine(AMD);
    speak(two.peer, drive, 5000, (at) => at >= 300 && at % 400 < 280);
    expect((await machine).machine).toBe(true);
  });

  it('ends undecided with its leg', async () => {
    const { media, drive } = engine();
    const { leg } = await legAt(media, drive, '192.0.2.1');
    const result = leg.detectMachine(AMD);
    leg.close();
    expect(await result).toMatchObject({ machine: false, reason: 'ended' });
  });

  it('frees the place of a canceled detection', async () => {
    const { media, drive } = engine();
    const { leg } = await legAt(media, drive, '192.0.2.1');
    for (let round = 0; round < 50; round += 1) {
      const over = new AbortController();
      const result = leg.detectMachine(AMD, over.signal);
      over.abort();
      expect(await result).toMatchObject({ machine: false, reason: 'ended' });
    }
    expect(await leg.detectMachine(AMD, AbortSignal.abort())).toMatchObject({ reason: 'ended' });
  });

  it('waits for a pause of the peer, at most until its limit or cancellation', async () => {
    const { media, drive } = engine();
    const { leg, peer } = await legAt(media, drive, '192.0.2.1');
    const never = new AbortController();
    const silent = leg.waitForSilence(1000, 10_000, never.signal);
    let done = false;
    void silent.then(() => {
      done = true;
    });
    speak(peer, drive, 2000, () => true);
    await Promise.resolve();
    expect(done).toBe(false);
    speak(peer, drive, 1200, () => false);
    expect(await silent).toBe(true);

    const limited = leg.waitForSilence(1000, 500, never.signal);
    speak(peer, drive, 700, () => true);
    expect(await limited).toBe(false);

    const aborted = new AbortController();
    const given = leg.waitForSilence(1000, 5000, aborted.signal);
    aborted.abort();
    expect(await given).toBe(false);
  });
});

describe('a room', () => {
  async function room() {
    const { media, drive } = engine();
    const floor: (RoomMember | undefined)[] = [];
    const place = media.openRoom({ floor: (member) => floor.push(member) });
    const parties = await Promise.all(
      [1, 2, 3].map((host) => legAt(media, drive, `192.0.2.${host}`)),
    );
    const members = parties.map(({ leg }) => place.join(leg, { muted: false, deaf: false }));
    const tones = [400, 1000, 1800];
    let at = 0;
    const talk = (ms: number, who = [0, 1, 2]): ((leg: MediaLeg) => Int16Array) => {
      drive.drain();
      for (let t = 0; t < ms; t += 20) {
        for (const i of who)
          parties[i]!.peer.send(sine(tones[i]!, FRAME, { from: at, peak: 4000 }));
        at += FRAME;
        drive.advance(20);
      }
      const packets = drive.drain();
      return (leg) =>
        Int16Array.from(
          packets
            .filter(({ localPort }) => localPort === leg.port)
            .flatMap(({ bytes }) => [...decodeMulaw(parseRtp(bytes).payload)]),
        ).subarray(-2400);
    };
    const share = (received: Int16Array) =>
      tones.map((hz) => Math.round(purity(received, hz) * 10) / 10);
    return { media, drive, place, parties, members, floor, talk, share };
  }

  it('lets each member hear all others', async () => {
    const { parties, talk, share } = await room();
    talk(500);
    const received = talk(1000);
    expect(parties.map(({ leg }) => share(received(leg)))).toEqual([
      [0, 0.5, 0.5],
      [0.5, 0, 0.5],
      [0.5, 0.5, 0],
    ]);
  });

  it('silences a muted member, and sends nothing to a deaf or held one', async () => {
    const { parties, members, talk, share } = await room();
    talk(500);
    members[0]!.set({ muted: true });
    members[1]!.set({ deaf: true });
    talk(200);
    const received = talk(1000);
    expect(share(received(parties[0]!.leg))).toEqual([0, 0.5, 0.5]);
    expect(rms(received(parties[1]!.leg))).toBe(0);
    expect(share(received(parties[2]!.leg))).toEqual([0, 1, 0]);
    members[0]!.set({ muted: false });
    members[1]!.set({ deaf: false });
    members[2]!.set({ held: true });
    talk(200);
    const later = talk(1000);
    expect(share(later(parties[0]!.leg))).toEqual([0, 1, 0]);
    expect(rms(later(parties[2]!.leg))).toBe(0);
  });

  it('plays to all, reports the active speaker, and records the mix', async () => {
    const { drive, place, parties, members, floor, talk } = await room();
    const recording = place.record(join(folder, 'room.wav'));
    const playback = place.play(
      { rate: 8000, samples: l16(sine(600, 8000)) },
      { loop: 1, mix: true },
    );
    const received = talk(1000, []);
    for (const { leg } of parties) expect(purity(received(leg), 600)).toBeGreaterThan(0.95);
    talk(200, []);
    expect(await playback.finished).toBe('completed');
    talk(1000, [1]);
    expect(floor).toEqual([members[1]]);
    talk(3000, []);
    expect(floor).toEqual([members[1], undefined]);
    recording.stop();
    drive.advance(100);
    expect((await recording.finished).durationMs).toBe(5200);
  });

  it('removes a member whose leg is bridged to another', async () => {
    const { media, drive, parties, talk, share } = await room();
    const other = await legAt(media, drive, '192.0.2.9');
    media.bridge(parties[0]!.leg, other.leg);
    talk(300);
    const received = talk(1000);
    expect(share(received(parties[1]!.leg))).toEqual([0, 0, 1]);
    expect(purity(received(other.leg), 400)).toBeGreaterThan(0.95);
    expect(rms(received(parties[0]!.leg))).toBe(0);
  });

  it('continues when a member leaves or its leg closes, and releases all members when it closes', async () => {
    const { drive, place, parties, members, talk, share } = await room();
    talk(500);
    members[2]!.leave();
    const received = talk(1000);
    expect(share(received(parties[0]!.leg))).toEqual([0, 1, 0]);
    expect(rms(received(parties[2]!.leg))).toBe(0);
    parties[1]!.leg.close();
    drive.advance(100);
    place.close();
    place.close();
    expect(rms(talk(500, [0])(parties[0]!.leg))).toBe(0);
  });
});
