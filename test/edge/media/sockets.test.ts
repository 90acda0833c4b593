import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { asStreamId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { MediaLeg, MediaLegEvents } from '../../../src/domain/call/needs.ts';
import {
  createMedia,
  type MediaEngine,
  type MediaOptions,
} from '../../../src/edge/media/engine.ts';
import { until } from '../../eventually.ts';
import { writePaddedNumber } from '../../sim/padded-number.ts';
import {
  decodeMulaw,
  encodeMulaw,
  FRAME,
  l16,
  parseRtp,
  purity,
  REMOTE,
  rtp,
  sine,
} from './peer.ts';

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const QUIET: MediaLegEvents = { dtmf: () => undefined, silent: () => undefined };

function engine(options: Partial<MediaOptions> = {}): MediaEngine {
  const media = createMedia({
    rtpHost: '127.0.0.1',
    publicHost: '127.0.0.1',
    portMin: 31_000,
    portMax: 31_998,
    drive: 'thread',
    wallMs: Date.now,
    logger: silentLogger,
    ...options,
  });
  closers.push(() => media.stop());
  return media;
}

async function phone(): Promise<{ socket: Socket; port: number; packets: Buffer[] }> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const packets: Buffer[] = [];
  socket.on('message', (bytes) => packets.push(bytes));
  closers.push(() => {
    socket.close();
  });
  return { socket, port: socket.address().port, packets };
}

/** Next packet of the leg at any of the phones; it sends one every 20 ms. */
async function nextPacket(...phones: readonly { readonly socket: Socket }[]): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race(
    phones.map(({ socket }) => once(socket, 'message', { signal }).catch(() => undefined)),
  );
  over.abort();
}

const configure = (leg: MediaLeg, port: number): void =>
  leg.configure({ ...REMOTE, address: '127.0.0.1', port });

describe('the media engine on real sockets', () => {
  it('binds a released port again after its quarantine', async () => {
    const warned: unknown[] = [];
    const logger = { ...silentLogger, warn: (facts: object) => void warned.push(facts) };
    const media = engine({ portMin: 31_990, portMax: 31_991, logger });
    for (let turn = 0; turn < 2; turn += 1) {
      const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
      leg.close('refused');
      await until(() => media.status().portsFree > 0, 'a port');
    }
    expect(warned).toEqual([]);
  });

  it.each([true, false])(
    'sends a clip as RTP every 20 ms and reports its end (io_uring requested: %s)',
    async (ioUring) => {
      const media = engine({ ioUring });
      const { port, packets } = await phone();
      const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
      expect(leg.address).toBe('127.0.0.1');
      expect(leg.port % 2).toBe(0);
      configure(leg, port);
      const clip = { rate: 8000, samples: l16(sine(1000, 3200)) } as const;
      expect(await leg.play(clip, { loop: 1, mix: false }).finished).toBe('completed');
      const audio = Int16Array.from(
        packets.flatMap((bytes) => [...decodeMulaw(parseRtp(bytes).payload)]),
      );
      const start = audio.findIndex((value) => Math.abs(value) > 500);
      expect(purity(audio.subarray(start, start + 3000), 1000)).toBeGreaterThan(0.99);
      expect(media.status()).toMatchObject({ ready: true, legs: 1 });
      if (!ioUring) expect(media.status().threads).toMatchObject([{ ioUring: false }]);
    },
  );

  it('carries audio from a caller to a stream and back', async () => {
    const media = engine();
    const { socket, port, packets } = await phone();
    const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    configure(leg, port);
    let chunks = 0;
    const received = Promise.withResolvers<void>();
    const played = Promise.withResolvers<string>();
    const stream = leg.openStream(
      {
        streamId: asStreamId('x'),
        encoding: 'audio/x-mulaw',
        rate: 8000,
        tracks: 'inbound',
        bidirectional: true,
        extraHeadersJson: '"{}"',
        queueMs: 60_000,
      },
      {
        media: (messages) => {
          chunks += messages.length;
          for (const bytes of messages) {
            writePaddedNumber(bytes, '{"sequenceNumber":'.length, chunks);
            const { payload } = JSON.parse(Buffer.from(bytes).toString()).media;
            if (purity(decodeMulaw(Buffer.from(payload, 'base64')), 500) > 0.95) received.resolve();
          }
        },
        played: (name) => played.resolve(name),
        degraded: () => undefined,
        dtmf: () => undefined,
      },
    );
    for (let i = 0; i < 3; i += 1) {
      const payload = encodeMulaw(sine(500, FRAME, { from: i * FRAME }));
      socket.send(rtp({ sequence: i, timestamp: i * FRAME, payload }), leg.port, '127.0.0.1');
    }
    await received.promise;
    stream.enqueue('audio/x-l16', 16_000, l16(sine(1000, 3200, { rate: 16_000 })));
    stream.checkpoint('end');
    expect(await played.promise).toBe('end');
    expect(chunks).toBeGreaterThan(5);
    const audio = Int16Array.from(
      packets.flatMap((bytes) => [...decodeMulaw(parseRtp(bytes).payload)]),
    );
    const start = audio.findIndex((value) => Math.abs(value) > 500);
    expect(purity(audio.subarray(start, start + 1400), 1000)).toBeGreaterThan(0.99);
    expect(leg.close()).toMatchObject({ packetsReceived: 3, packetsLost: 0 });
  });

  it('accepts arbitrary data on its ports and continues', async () => {
    const media = engine();
    const { socket, port, packets } = await phone();
    const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    configure(leg, port);
    for (let size = 0; size < 1500; size += 37) {
      socket.send(
        Buffer.from(Array.from({ length: size }, (_, i) => (i * 167 + size) & 0xff)),
        leg.port,
        '127.0.0.1',
      );
    }
    await leg.play({ rate: 8000, samples: l16(sine(1000, 1600)) }, { loop: 1, mix: false })
      .finished;
    expect(packets.length).toBeGreaterThan(5);
    expect(media.counters().malformed + media.counters().unknownSources).toBeGreaterThan(0);
  });

  it('follows the peer: returns with its first packet, and follows it to a new NAT address', async () => {
    const media = engine();
    const [owner, moved, unknownPeer] = [await phone(), await phone(), await phone()];
    const changes: string[] = [];
    const received = Promise.withResolvers<void>();
    const leg = await media.openLeg(
      { mediaTimeoutMs: 0 },
      {
        ...QUIET,
        sourceChanged: ({ port, reason }) => {
          changes.push(`${reason} ${port}`);
          if (reason === 'moved') received.resolve();
        },
      },
    );
    configure(leg, owner.port);
    const streams = new Map<Socket, { sequence: number; timestamp: number; ssrc: number }>();
    const speak = async (packets: number, ...sockets: Socket[]): Promise<void> => {
      for (let i = 0; i < packets; i += 1) {
        for (const socket of sockets) {
          const at = streams.get(socket) ?? { sequence: 1, timestamp: 1, ssrc: streams.size + 1 };
          streams.set(socket, at);
          socket.send(rtp({ ...at, payload: new Uint8Array(FRAME) }), leg.port, '127.0.0.1');
          at.sequence += 1;
          at.timestamp += FRAME;
        }
        await nextPacket(owner, moved, unknownPeer);
      }
    };
    await speak(20, unknownPeer.socket);
    const leaked = unknownPeer.packets.length;
    expect(leaked).toBeGreaterThan(0);
    await speak(30, owner.socket, unknownPeer.socket);
    // At most the packets that were in transit.
    expect(unknownPeer.packets.length - leaked).toBeLessThan(3);
    expect(owner.packets.length).toBeGreaterThan(25);
    streams.set(moved.socket, streams.get(owner.socket)!);
    await Promise.all([received.promise, speak(40, moved.socket)]);
    expect(moved.packets.length).toBeGreaterThan(10);
    expect(changes).toEqual([
      `learned ${unknownPeer.port}`,
      `signalled ${owner.port}`,
      `moved ${moved.port}`,
    ]);
  });

  it('refuses a leg without a free port, and reuses none in quarantine', async () => {
    const media = engine({ portMin: 32_000, portMax: 32_003 });
    const a = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    const b = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    expect(new Set([a.port, b.port])).toEqual(new Set([32_000, 32_002]));
    await expect(media.openLeg({ mediaTimeoutMs: 0 }, QUIET)).rejects.toMatchObject({
      code: 'MEDIA_NO_PORTS',
    });
    a.close();
    await expect(media.openLeg({ mediaTimeoutMs: 0 }, QUIET)).rejects.toMatchObject({
      code: 'MEDIA_NO_PORTS',
    });
  });

  it('skips a port used by another process', async () => {
    const taken = createSocket('udp4');
    taken.bind(32_010, '127.0.0.1');
    await once(taken, 'listening');
    closers.push(() => {
      taken.close();
    });
    const media = engine({ portMin: 32_010, portMax: 32_013 });
    expect((await media.openLeg({ mediaTimeoutMs: 0 }, QUIET)).port).toBe(32_012);
  });

  it('stops during a recording and leaves a complete file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'media-'));
    closers.push(() => rmSync(folder, { recursive: true }));
    const media = engine();
    const { socket, port, packets } = await phone();
    const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    configure(leg, port);
    const path = join(folder, 'cut.wav');
    const recording = leg.record({
      path,
      channels: 'both',
      stereo: true,
      silenceEndMs: 0,
      maxMs: 0,
    });
    while (packets.length < 12) await once(socket, 'message');
    await media.stop();
    const { reason, durationMs } = await recording.finished;
    expect(reason).toBe('legEnded');
    expect(durationMs).toBeGreaterThanOrEqual(180);
    const bytes = readFileSync(path);
    expect(bytes.readUInt32LE(40)).toBe(durationMs * 32);
    expect(bytes).toHaveLength(44 + durationMs * 32);
  });

  it('stops with open legs: pending operations end, and new ones are refused', async () => {
    const media = engine();
    const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    configure(leg, 9);
    const playback = leg.play(
      { rate: 8000, samples: l16(sine(1000, 80_000)) },
      { loop: 0, mix: false },
    );
    const digits = leg.sendDigits('123WWWW', { toneMs: 100, gapMs: 100, inband: false });
    await media.stop();
    expect(await playback.finished).toBe('stopped');
    await digits;
    await expect(media.openLeg({ mediaTimeoutMs: 0 }, QUIET)).rejects.toMatchObject({
      code: 'MEDIA_UNAVAILABLE',
    });
    await media.stop();
    expect(media.status().ready).toBe(false);
  });
});
