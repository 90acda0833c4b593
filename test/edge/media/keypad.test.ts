import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { asStreamId } from '../../../src/base/ids.ts';
import type { MediaSession } from '../../../src/domain/call/needs.ts';
import type { MediaEngine } from '../../../src/edge/media/engine.ts';
import { FRAME, manualEngine, Peer, REMOTE, sine } from './peer.ts';

const engines: MediaEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

const ROWS = [697, 770, 852, 941];
const COLUMNS = [1209, 1336, 1477, 1633];
const KEYS = '123A456B789C*0#D';
const SILENCE = new Int16Array(FRAME);

/** 20 ms of a digit's tone: frame `i` of the key press. */
function tone(key: string, i: number): Int16Array {
  const at = KEYS.indexOf(key);
  const place = { from: i * FRAME, peak: 6000 };
  const column = sine(COLUMNS[at % 4]!, FRAME, place);
  return sine(ROWS[Math.floor(at / 4)]!, FRAME, place).map((value, n) => value + column[n]!);
}

async function scene(remote: MediaSession = REMOTE) {
  const { media, drive } = manualEngine();
  engines.push(media);
  const pressed: { digit: string; asTone: boolean }[] = [];
  const leg = await media.openLeg(
    { mediaTimeoutMs: 0 },
    { dtmf: (digit, asTone = false) => pressed.push({ digit, asTone }), silent: () => undefined },
  );
  leg.configure(remote);
  leg.hearTones(true);
  const peer = new Peer(drive, leg.port);
  const say = (frames: number, audio: (i: number) => Int16Array = () => SILENCE): void => {
    for (let i = 0; i < frames; i += 1) {
      peer.send(audio(i));
      drive.advance(20);
    }
  };
  /** A key press as RTP events with a length of `frames`. */
  const event = (key: string, frames = 5): void => {
    for (let i = 1; i <= frames + 2; i += 1) {
      const code = '0123456789*#ABCD'.indexOf(key);
      const duration = FRAME * Math.min(i, frames);
      const payload = [code, (i >= frames ? 0x80 : 0) | 10, duration >> 8, duration & 0xff];
      peer.raw(101, Uint8Array.from(payload), { marker: i === 1 });
      drive.advance(20);
    }
    peer.timestamp += FRAME * (frames + 2);
  };
  const press = (key: string, frames = 5): void => say(frames, (i) => tone(key, i));
  const digits = (): string => pressed.map(({ digit }) => digit).join('');
  return { leg, peer, drive, say, event, press, pressed, digits };
}

describe('in-band digits together with telephone-event', () => {
  it('are detected once each while the peer has sent no event', async () => {
    const { say, press, pressed, digits } = await scene();
    say(20);
    for (const key of KEYS) {
      press(key);
      say(4);
    }
    say(20);
    expect(digits()).toBe(KEYS);
    expect(pressed.every(({ asTone }) => asTone)).toBe(true);
  });

  it('are detected only for a listener: the domain, or a stream for its bot', async () => {
    const { leg, say, press, digits } = await scene();
    const pressAfter = (wanted: boolean, key: string): void => {
      leg.hearTones(wanted);
      say(4);
      press(key);
      say(4);
    };
    say(20);
    pressAfter(false, '1');
    pressAfter(true, '2');
    pressAfter(false, '3');
    const reported: string[] = [];
    const stream = leg.openStream(
      {
        streamId: asStreamId('s'),
        encoding: 'audio/x-l16',
        rate: 8000,
        tracks: 'inbound',
        bidirectional: false,
        extraHeadersJson: '"{}"',
        queueMs: 1000,
      },
      {
        media: () => undefined,
        played: () => undefined,
        degraded: () => undefined,
        dtmf: (digit) => reported.push(digit),
      },
    );
    pressAfter(false, '4');
    stream.close();
    pressAfter(false, '5');
    expect(digits()).toBe('24');
    expect(reported).toEqual(['4']);
  });

  it('are ignored from a peer that uses events, so no digit counts twice', async () => {
    const { say, press, event, pressed, digits } = await scene();
    say(20);
    for (const key of '5579') {
      event(key);
      press(key); // tone that a gateway passes after the event
      say(10);
    }
    expect(digits()).toBe('5579');
    expect(pressed.some(({ asTone }) => asTone)).toBe(false);
  });

  it('count once if the first tone arrives before its event', async () => {
    const { say, press, event, digits } = await scene();
    say(20);
    press('4', 6);
    say(3);
    event('4');
    say(10);
    event('4');
    press('7');
    say(20);
    expect(digits()).toBe('44');
  });

  it('are detected again after a re-INVITE to another peer', async () => {
    const { leg, peer, say, press, event, digits } = await scene();
    say(20);
    event('1');
    leg.configure(REMOTE);
    press('2');
    say(10);
    expect(digits()).toBe('1');
    leg.configure({ ...REMOTE, port: 41_000 });
    Object.assign(peer.from, { port: 41_000 });
    say(20);
    press('3');
    say(20);
    expect(digits()).toBe('13');
  });

  it('are not detected in speech or music', async () => {
    const { say, digits } = await scene();
    const speech = readFileSync('fixtures/audio/speech.wav').subarray(44);
    const samples = new Int16Array(speech.buffer.slice(speech.byteOffset), 0, speech.length >> 1);
    for (const gain of [0.3, 1, 2]) {
      say(Math.floor(samples.length / FRAME), (i) =>
        samples
          .subarray(i * FRAME, (i + 1) * FRAME)
          .map((value) => Math.max(-32_000, Math.min(32_000, value * gain))),
      );
    }
    // Chords with harmonics; some notes are at DTMF frequencies.
    for (const [root, third] of [
      [697, 1209],
      [348.5, 1336],
      [220, 440],
      [470.5, 738.5],
    ] as const) {
      say(25, (i) => {
        const place = { from: i * FRAME, peak: 2500 };
        const partials = [1, 2, 3, 4].flatMap((n) => [
          sine(root * n, FRAME, { ...place, peak: 2500 / n }),
          sine(third * n, FRAME, { ...place, peak: 2500 / n }),
        ]);
        return sine(root * 1.25, FRAME, place).map((value, at) =>
          partials.reduce((sum, partial) => sum + partial[at]!, value),
        );
      });
    }
    expect(digits()).toBe('');
  });

  it('are not detected in the echo of digits that we send as tones', async () => {
    const { leg, drive, peer, digits } = await scene();
    const done = leg.sendDigits('159', { toneMs: 100, gapMs: 100, inband: true });
    drive.drain();
    for (let i = 0; i < 60; i += 1) {
      drive.advance(20);
      const echo = drive.drain().at(-1)?.bytes.subarray(12);
      if (echo !== undefined) peer.raw(0, echo);
      peer.timestamp += FRAME;
    }
    await done;
    expect(digits()).toBe('');
  });
});
