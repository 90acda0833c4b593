import { afterEach, describe, expect, it } from 'vitest';
import { asStreamId, type StreamId } from '../../../src/base/ids.ts';
import type { MediaStreamOptions } from '../../../src/domain/call/needs.ts';
import type { ManualDrive, MediaEngine } from '../../../src/edge/media/engine.ts';
import type { LegStream } from '../../../src/edge/media/stream.ts';
import { openNativeSockets } from '../../../src/edge/stream/native.ts';
import { writePaddedNumber } from '../../sim/padded-number.ts';
import {
  decodeMulaw,
  encodeMulaw,
  FRAME,
  l16,
  manualEngine,
  Peer,
  parseRtp,
  purity,
  REMOTE,
  rms,
  sine,
  WALL_START,
} from './peer.ts';

const STREAM_ID = asStreamId('5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22');
const engines: MediaEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

interface MediaMessage {
  sequenceNumber: number;
  event: string;
  streamId: StreamId;
  media: { track: string; timestamp: string; chunk: number; payload: string };
  extra_headers: string;
}

async function setUp(options: Partial<MediaStreamOptions> = {}) {
  const { media, drive } = manualEngine();
  engines.push(media);
  const leg = await media.openLeg(
    { mediaTimeoutMs: 0 },
    { dtmf: () => undefined, silent: () => undefined },
  );
  leg.configure(REMOTE);
  const messages: MediaMessage[] = [];
  const log: string[] = [];
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
      media: (batch) => {
        for (const bytes of batch) {
          writePaddedNumber(bytes, '{"sequenceNumber":'.length, messages.length + 1);
          messages.push(JSON.parse(Buffer.from(bytes).toString()));
        }
      },
      played: (name) => log.push(`played ${name}`),
      degraded: (percent) => log.push(`degraded ${percent}`),
      dtmf: (digit, timestampMs) => log.push(`dtmf ${digit} ${timestampMs}`),
    },
  ) as LegStream;
  return { media, drive, leg, stream, messages, log, peer: new Peer(drive, leg.port) };
}

const audio = (messages: readonly MediaMessage[]): Int16Array => {
  const bytes = Buffer.concat(messages.map(({ media }) => Buffer.from(media.payload, 'base64')));
  return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
};

const line = (drive: ManualDrive): Int16Array =>
  Int16Array.from(drive.drain().flatMap(({ bytes }) => [...decodeMulaw(parseRtp(bytes).payload)]));

const playAudio = (
  samples: Buffer | Uint8Array,
  contentType = 'audio/x-l16',
  sampleRate: number | string = 8000,
) =>
  Buffer.from(
    JSON.stringify({
      event: 'playAudio',
      streamId: STREAM_ID,
      media: { contentType, sampleRate, payload: Buffer.from(samples).toString('base64') },
    }),
  );

describe('media messages (dialect §1.1)', () => {
  it('contain all fields of the superset, with timestamps every 20 ms and chunks from 1', async () => {
    const { drive, messages, peer } = await setUp({ extraHeadersJson: '"{\\"tenant\\":\\"7\\"}"' });
    for (let i = 0; i < 10; i += 1) {
      drive.advance(20);
      peer.send(sine(440, FRAME, { from: i * FRAME }));
    }
    expect(messages.length).toBeGreaterThanOrEqual(10);
    messages.forEach((message, i) => {
      expect(message).toMatchObject({
        sequenceNumber: i + 1,
        event: 'media',
        streamId: STREAM_ID,
        extra_headers: '{"tenant":"7"}',
      });
      expect(message.media).toMatchObject({ track: 'inbound', chunk: i + 1 });
      expect(Number(message.media.timestamp)).toBe(Number(messages[0]!.media.timestamp) + 20 * i);
      expect(Buffer.from(message.media.payload, 'base64')).toHaveLength(320);
    });
    expect(Math.abs(Number(messages[0]!.media.timestamp) - WALL_START - 1000)).toBeLessThan(40);
  });

  it.each([
    ['audio/x-l16', 8000, 320],
    ['audio/x-l16', 16_000, 640],
    ['audio/x-mulaw', 8000, 160],
  ] as const)(
    "contain the caller's audio in %s at %i Hz, %i bytes each",
    async (encoding, rate, bytes) => {
      const { drive, messages, peer } = await setUp({ encoding, rate });
      for (let i = 0; i < 50; i += 1) {
        peer.send(sine(440, FRAME, { from: i * FRAME }));
        drive.advance(20);
      }
      const received = messages.slice(5);
      for (const { media } of received)
        expect(Buffer.from(media.payload, 'base64')).toHaveLength(bytes);
      const samples =
        encoding === 'audio/x-l16'
          ? audio(received)
          : decodeMulaw(
              Buffer.concat(received.map(({ media }) => Buffer.from(media.payload, 'base64'))),
            );
      expect(purity(samples, 440, rate)).toBeGreaterThan(0.99);
    },
  );

  it('continue with silence while the peer sends nothing, from the start (dialect §0.2 rule 3)', async () => {
    const { drive, messages } = await setUp();
    drive.advance(1000);
    expect(messages.length).toBeGreaterThanOrEqual(49);
    expect(messages.length).toBeLessThanOrEqual(50);
    expect(audio(messages).every((value) => value === 0)).toBe(true);
  });

  it('are sent on arrival, without a jitter buffer', async () => {
    const { drive, messages, peer } = await setUp();
    peer.send(sine(440, FRAME));
    drive.advance(1);
    const before = messages.length;
    drive.advance(18);
    peer.send(sine(440, FRAME, { from: FRAME }));
    expect(messages.length).toBe(before + 1);
  });

  it('are continuous over loss, reordering, repeats, a pause and a stall: no gap, jump or drift', async () => {
    const { drive, messages, peer } = await setUp();
    const send = (i: number): void => peer.send(sine(440, FRAME, { from: i * FRAME }));
    for (let i = 0; i < 300; i += 1) {
      if (i % 30 === 7) peer.lose();
      else if (i % 30 === 11) {
        // Swap this packet and the next one.
        peer.sequence += 1;
        peer.timestamp += FRAME;
        send(i + 1);
        peer.sequence -= 2;
        peer.timestamp -= 2 * FRAME;
        send(i);
        peer.sequence += 1;
        peer.timestamp += FRAME;
      } else if (i % 30 === 12) {
        /* was sent with the one before */
      } else if (i >= 200 && i < 225) peer.timestamp += FRAME;
      else send(i);
      drive.advance(20);
    }
    expect(Math.abs(messages.length - 300)).toBeLessThanOrEqual(4);
    messages.forEach(({ media }, i) => {
      expect(media.chunk).toBe(i + 1);
      expect(Number(media.timestamp)).toBe(Number(messages[0]!.media.timestamp) + 20 * i);
    });
    const samples = audio(messages);
    expect(purity(samples.subarray(8 * FRAME, 150 * FRAME), 440)).toBeGreaterThan(0.9);
  });

  it('continue while a digit is sent without audio (RFC 4733)', async () => {
    const { drive, messages, peer } = await setUp();
    for (let i = 0; i < 20; i += 1) {
      peer.send(sine(440, FRAME, { from: i * FRAME }));
      drive.advance(20);
    }
    const counts: number[] = [];
    for (let i = 1; i <= 10; i += 1) {
      const duration = Math.min(i, 8) * FRAME;
      peer.raw(101, Uint8Array.of(5, i < 8 ? 10 : 0x8a, duration >> 8, duration & 0xff));
      drive.advance(20);
      counts.push(messages.length);
    }
    peer.timestamp += 10 * FRAME;
    peer.send(sine(440, FRAME));
    counts.push(messages.length);
    for (let i = 1; i < counts.length; i += 1) {
      expect(counts[i]! - counts[i - 1]!).toBeLessThanOrEqual(2);
    }
    expect(counts.at(-1)! - counts[0]!).toBe(10);
  });

  it('continue over hold, a transfer and a conference: no gap over 20 ms, no lost audio', async () => {
    const { media, drive, leg, messages, peer } = await setUp();
    const other = await media.openLeg(
      { mediaTimeoutMs: 0 },
      { dtmf: () => undefined, silent: () => undefined },
    );
    const at = { ...REMOTE, address: '192.0.2.9' };
    other.configure(at);
    const far = new Peer(drive, other.port, { address: at.address, port: at.port }, 0x77);
    const arrivals: number[] = [];
    let sent = 0;
    const talk = (frames: number, from = peer) => {
      for (let i = 0; i < frames; i += 1) {
        from.send(sine(440, FRAME, { from: sent * FRAME }));
        far.send(new Int16Array(FRAME));
        sent += 1;
        for (let ms = 0; ms < 20; ms += 5) {
          drive.advance(5);
          while (arrivals.length < messages.length) arrivals.push(sent * 20 + ms);
        }
      }
    };
    talk(25);
    // The other side holds and retrieves the call.
    leg.configure({ ...REMOTE, direction: 'recvonly' });
    talk(25);
    leg.configure(REMOTE);
    talk(25);
    const bridge = media.bridge(leg, other);
    talk(25);
    bridge.close();
    const room = media.openRoom({ floor: () => undefined });
    const member = room.join(leg, { muted: false, deaf: false });
    room.join(other, { muted: false, deaf: false });
    talk(25);
    member.leave();
    talk(10);
    // The call is transferred: another phone with its own source takes the place of the peer.
    const next = { ...REMOTE, address: '192.0.2.3', port: 40_000 };
    leg.configure(next);
    const target = new Peer(drive, leg.port, { address: next.address, port: next.port }, 0x99);
    target.sequence = 60_000;
    target.timestamp = 7;
    talk(40, target);

    const first = Number(messages[0]!.media.timestamp);
    messages.forEach(({ sequenceNumber, media: { chunk, timestamp } }, i) => {
      expect(sequenceNumber).toBe(i + 1);
      expect(chunk).toBe(i + 1);
      const gap = Number(timestamp) - (i === 0 ? first : Number(messages[i - 1]!.media.timestamp));
      expect(gap).toBeLessThanOrEqual(40);
      expect(gap).toBeGreaterThanOrEqual(i === 0 ? 0 : 20);
      // The audio of a frame is sent when it is complete.
      expect(Math.abs(Number(timestamp) - first - (arrivals[i]! - arrivals[0]!))).toBeLessThan(60);
    });
    expect(Math.abs(messages.length - sent)).toBeLessThanOrEqual(2);
    // The caller's own hold, the bridge and the room cost no audio. A new phone starts within 60 ms.
    const quiet = messages.filter((message) => rms(audio([message])) < 1000).length;
    expect(quiet).toBeLessThanOrEqual(4);
  });

  it('of the outbound track contain the audio sent to the peer', async () => {
    const { drive, leg, messages } = await setUp({ tracks: 'both', bidirectional: false });
    leg.play({ rate: 8000, samples: l16(sine(1000, 8000)) }, { loop: 1, mix: false });
    drive.advance(1000);
    const outbound = messages.filter(({ media }) => media.track === 'outbound');
    expect(outbound).toHaveLength(50);
    expect(purity(audio(outbound).subarray(320, 7000), 1000)).toBeGreaterThan(0.99);
    expect(messages.filter(({ media }) => media.track === 'inbound').length).toBeGreaterThan(45);
  });
});

describe('playAudio', () => {
  it.each([
    ['audio/x-l16', 8000],
    ['audio/x-l16', 16_000],
    ['audio/x-l16', 24_000],
    ['audio/x-mulaw', 8000],
  ] as const)(
    'in %s at %i Hz is played at its pitch, without clicks between messages',
    async (type, rate) => {
      const { drive, stream } = await setUp();
      const tone = sine(1000, rate, { rate });
      for (let at = 0; at < tone.length; at += rate / 50) {
        const part = tone.slice(at, at + rate / 50);
        expect(
          stream.receive(
            playAudio(type === 'audio/x-l16' ? l16(part) : encodeMulaw(part), type, rate),
          ),
        ).toBe('taken');
      }
      drive.advance(1000);
      const received = line(drive).subarray(400, 7600);
      expect(purity(received, 1000)).toBeGreaterThan(0.9998); // 37 dB: µ-law alone gives 38 dB
      expect(20 * Math.log10(rms(received) / (8000 / Math.SQRT2))).toBeCloseTo(0, 0);
    },
  );

  it('accepts any length: odd bytes are kept for the next message', async () => {
    const { drive, stream } = await setUp();
    const bytes = l16(sine(1000, 8000));
    for (let at = 0; at < bytes.length; at += 333)
      stream.receive(playAudio(bytes.subarray(at, at + 333)));
    expect(stream.queuedMs()).toBe(1000);
    drive.advance(1000);
    expect(purity(line(drive).subarray(160, 7800), 1000)).toBeGreaterThan(0.999);
  });

  it('accepts a whole utterance and sends it in 20 ms intervals', async () => {
    const { drive, stream } = await setUp();
    stream.receive(playAudio(l16(sine(1000, 40_000))));
    expect(stream.queuedMs()).toBe(5000);
    drive.advance(2000);
    expect(stream.queuedMs()).toBe(3000);
    expect(drive.drain()).toHaveLength(100);
  });

  it.each([
    [
      'keys in any order, white space, unknown simple keys',
      `{ "media" :\n{"payload":"AAAA","sampleRate":"8000", "x":null ,"contentType":"audio/x-l16"},"y":-1,"event":"playAudio"}`,
      'taken',
    ],
    ["no format: the stream's own", '{"event":"playAudio","media":{"payload":"AAAA"}}', 'taken'],
    ['escapes', '{"event":"play\\u0041udio","media":{"payload":"AAAA"}}', 'other'],
    ['an escaped payload', '{"event":"playAudio","media":{"payload":"AA\\/A"}}', 'other'],
    ['a repeated key', '{"event":"playAudio","event":"x","media":{"payload":"AAAA"}}', 'other'],
    ['a nested unknown value', '{"event":"playAudio","z":{},"media":{"payload":"AAAA"}}', 'other'],
    [
      'an alias of a content type',
      '{"event":"playAudio","media":{"contentType":"audio/mulaw","payload":"AAAA"}}',
      'other',
    ],
    ['another event', '{"event":"clearAudio"}', 'other'],
    ['half a message', '{"event":"playAudio","media":{"payload":"AAAA"', 'other'],
    ['something after the message', '{"event":"playAudio","media":{"payload":"AAAA"}} x', 'other'],
    ['nothing', '', 'other'],
    [
      'a payload that is not base64',
      '{"event":"playAudio","media":{"payload":"A*AA"}}',
      'badPayload',
    ],
    ['no payload', '{"event":"playAudio","media":{}}', 'badPayload'],
    [
      'an unsupported rate',
      '{"event":"playAudio","media":{"contentType":"audio/x-l16","sampleRate":11025,"payload":"AAAA"}}',
      'unsupportedFormat',
    ],
    [
      'another stream',
      '{"event":"playAudio","streamId":"x","media":{"payload":"AAAA"}}',
      'wrongStream',
    ],
  ])('%s', async (_, text, result) => {
    const { stream } = await setUp();
    expect(stream.receive(Buffer.from(text))).toBe(result);
  });

  it('is refused completely beyond the queue limit; each fill level is reported once', async () => {
    const { drive, stream, log } = await setUp({ queueMs: 1000 });
    const second = playAudio(l16(sine(1000, 800)));
    for (let i = 0; i < 10; i += 1) expect(stream.receive(second)).toBe('taken');
    expect(stream.receive(second)).toBe('bufferFull');
    expect(stream.queuedMs()).toBe(1000);
    await Promise.resolve();
    expect(log).toEqual(['degraded 30', 'degraded 60', 'degraded 90']);
    drive.advance(1000);
    expect(stream.receive(second)).toBe('taken');
  });

  it('is sent within 20 ms if the queue is empty', async () => {
    const { drive, stream } = await setUp();
    drive.advance(500);
    drive.drain();
    const at = drive.nowMs();
    stream.receive(playAudio(l16(sine(1000, 160))));
    drive.advance(100);
    const first = drive
      .drain()
      .find(({ bytes }) => rms(decodeMulaw(parseRtp(bytes).payload)) > 100);
    expect(first!.atMs - at).toBeLessThanOrEqual(20);
  });

  it('from a bot with 40 ms of jitter plays without gaps once the buffer has grown', async () => {
    const { drive, stream } = await setUp();
    // 20 ms messages; every fourth one is 40 ms late together with its successors.
    let owed = 0;
    for (let utterance = 0; utterance < 2; utterance += 1) {
      drive.drain();
      for (let i = 0; i < 150; i += 1) {
        owed += 1;
        if (i % 12 !== 9 && i % 12 !== 10) {
          while (owed > 0) {
            stream.receive(playAudio(l16(sine(1000, FRAME, { from: i * FRAME }))));
            owed -= 1;
          }
        }
        drive.advance(20);
      }
      const frames = drive
        .drain()
        .map(({ bytes }) => rms(decodeMulaw(parseRtp(bytes).payload)) > 100);
      const gaps = frames
        .slice(frames.indexOf(true), frames.lastIndexOf(true))
        .filter((loud) => !loud).length;
      if (utterance === 0) expect(gaps).toBeGreaterThan(0);
      else expect(gaps).toBe(0);
      drive.advance(1000);
    }
  });
});

describe('clearAudio and checkpoints', () => {
  it('silences the line within one frame, after a fade of a few milliseconds', async () => {
    const { drive, stream } = await setUp();
    stream.receive(playAudio(l16(sine(1000, 16_000))));
    drive.advance(500);
    drive.drain();
    const at = drive.nowMs();
    stream.clear();
    expect(stream.queuedMs()).toBe(0);
    drive.advance(200);
    const packets = drive.drain();
    const samples = Int16Array.from(
      packets.flatMap(({ bytes }) => [...decodeMulaw(parseRtp(bytes).payload)]),
    );
    const last = samples.findLastIndex((value) => Math.abs(value) > 50);
    expect(last).toBeLessThan(40);
    expect(packets[0]!.atMs - at).toBeLessThanOrEqual(20);
    // A fade has no step larger than those of the tone itself.
    for (let i = 1; i < 160; i += 1)
      expect(Math.abs(samples[i]! - samples[i - 1]!)).toBeLessThan(6300);
  });

  it('reports checkpoints in order when the last sample before each has been sent', async () => {
    const { drive, stream, log } = await setUp();
    stream.receive(playAudio(l16(sine(1000, 800))));
    stream.checkpoint('first');
    stream.receive(playAudio(l16(sine(1000, 800))));
    stream.checkpoint('second');
    stream.checkpoint('third');
    drive.advance(80);
    expect(log).toEqual([]);
    drive.advance(40);
    expect(log).toEqual(['played first']);
    drive.advance(100);
    expect(log).toEqual(['played first', 'played second', 'played third']);
    expect(purity(line(drive).subarray(160, 1600), 1000)).toBeGreaterThan(0.95);
  });

  it('reports a checkpoint immediately if the queue is empty', async () => {
    const { drive, stream, log } = await setUp();
    drive.advance(100);
    stream.checkpoint('now');
    drive.advance(20);
    expect(log).toEqual(['played now']);
  });

  it('never completes a discarded checkpoint, and continues with later ones', async () => {
    const { drive, stream, log } = await setUp();
    stream.receive(playAudio(l16(sine(1000, 8000))));
    stream.checkpoint('discarded');
    drive.advance(100);
    stream.clear();
    stream.receive(playAudio(l16(sine(500, 1600))));
    stream.checkpoint('kept');
    drive.drain();
    drive.advance(400);
    expect(log).toEqual(['played kept']);
    expect(purity(line(drive).subarray(160, 1600), 500)).toBeGreaterThan(0.9);
  });

  it('reports digits with their wall time', async () => {
    const { drive, log, peer } = await setUp();
    peer.send(sine(440, FRAME));
    drive.advance(20);
    peer.raw(101, Uint8Array.of(11, 10, 0, 160));
    expect(log).toEqual([`dtmf # ${WALL_START + drive.nowMs()}`]);
  });

  it('is silent in both directions while paused, and its time continues afterwards', async () => {
    const { drive, stream, messages } = await setUp();
    stream.receive(playAudio(l16(sine(1000, 8000))));
    drive.advance(200);
    stream.pause(true);
    const queued = stream.queuedMs();
    const reported = messages.length;
    drive.advance(1000);
    expect(stream.queuedMs()).toBe(queued);
    expect(messages.length).toBe(reported);
    stream.pause(false);
    drive.advance(200);
    expect(stream.queuedMs()).toBe(queued - 200);
    const [before, after] = [messages[reported - 1]!, messages[reported]!];
    expect(Number(after.media.timestamp) - Number(before.media.timestamp)).toBeGreaterThan(980);
  });

  it('counts audio that the socket thread reads too late', async () => {
    const sockets = openNativeSockets(() => undefined, 1);
    // Without a socket, the thread rests and reads no audio.
    const nothing = () => undefined;
    const wire = { sockets, handle: 1, enqueue: nothing, clear: nothing, checkpoint: nothing };
    const { media, drive } = await setUp({ wire, rate: 16_000, tracks: 'both' });
    drive.advance(10_000);
    expect(media.counters().droppedEvents).toBe(0);
    drive.advance(20_000);
    expect(media.counters().droppedEvents).toBeGreaterThan(0);
    sockets.stop();
  });
});
