/** Ten minutes of many streams in virtual time with the native engine: no drift, no loss and no growing queue. */

import { describe, expect, it } from 'vitest';
import { asStreamId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createMedia } from '../../src/edge/media/engine.ts';
import type { LegStream } from '../../src/edge/media/stream.ts';
import { PCMU } from '../../src/phone/audio/g711.ts';
import { readRtp, writeRtp } from '../../src/phone/rtp/packet.ts';

const HOST = '127.0.0.1';
const PEER = { address: HOST, port: 40_000 };
const FRAME_MS = 20;
const FRAMES = (10 * 60 * 1000) / FRAME_MS;
const STREAMS = 4;
const CHECKPOINT_EVERY = 500;

describe('ten minutes of audio streams in virtual time', () => {
  it('keeps the audio position within one frame in both directions over ten minutes', {
    timeout: 120_000,
  }, async () => {
    const media = createMedia({
      rtpHost: HOST,
      publicHost: HOST,
      portMin: 43_000,
      portMax: 43_999,
      drive: 'manual',
      wallMs: () => 1_760_000_000_000,
      logger: silentLogger,
    });
    const { manual } = media;
    if (manual === undefined) throw new Error('the engine is not in manual mode');
    const lines = await Promise.all(
      Array.from({ length: STREAMS }, async (_, index) => {
        const leg = await media.openLeg(
          { mediaTimeoutMs: 60_000 },
          { dtmf: () => undefined, silent: () => undefined },
        );
        leg.configure({
          ...PEER,
          codec: { name: 'PCMU', clockRate: 8000, sampleRate: 8000, channels: 1 },
          payloadType: { send: 0, receive: 0 },
          telephoneEvent: { send: 101, receive: 101, clockRate: 8000 },
          ptimeMs: 20,
          direction: 'sendrecv',
          protection: 'none',
        });
        const seen = {
          media: 0,
          firstTimestamp: 0,
          lastTimestamp: 0,
          played: [] as number[],
          worst: 0,
        };
        const stream = leg.openStream(
          {
            streamId: asStreamId('5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22'),
            encoding: 'audio/x-l16',
            rate: index % 2 === 0 ? 8000 : 16_000,
            tracks: 'inbound',
            bidirectional: true,
            extraHeadersJson: '"{}"',
            queueMs: 60_000,
          },
          {
            media(messages) {
              seen.media += messages.length;
              // Parsing each message would be slow. The timestamp is at a fixed offset.
              const last = messages.at(-1);
              if (last === undefined) return;
              const stamp = /"timestamp":"(\d+)"/.exec(Buffer.from(last).toString('latin1'))?.[1];
              seen.lastTimestamp = Number(stamp);
              if (seen.firstTimestamp === 0) seen.firstTimestamp = seen.lastTimestamp;
            },
            played: (name) => seen.played.push(manual.nowMs() - Number(name)),
            degraded: () => undefined,
            dtmf: () => undefined,
          },
        ) as LegStream;
        return { leg, stream, seen };
      }),
    );
    const silence = PCMU.encode(new Int16Array(160));
    const audio = new Uint8Array(320).fill(1);
    const rtpOut = new Map<number, { first: number; last: number; count: number }>();
    for (let frame = 0; frame < FRAMES; frame += 1) {
      for (const { leg, stream } of lines) {
        const header = {
          payloadType: 0,
          marker: frame === 0,
          sequence: frame,
          timestamp: frame * 160,
          ssrc: 7,
        };
        manual.inject(leg.port, PEER, writeRtp({ ...header, payload: silence }));
        stream.enqueue('audio/x-l16', 8000, audio);
        if (frame % CHECKPOINT_EVERY === 0) stream.checkpoint(String(manual.nowMs()));
      }
      manual.advance(FRAME_MS);
      if (frame % 50 === 49) {
        for (const { localPort, bytes } of manual.drain()) {
          const packet = readRtp(Buffer.from(bytes));
          if (packet === undefined) continue;
          const known = rtpOut.get(localPort) ?? { first: packet.timestamp, last: 0, count: 0 };
          rtpOut.set(localPort, { ...known, last: packet.timestamp, count: known.count + 1 });
        }
      }
    }
    for (const { leg, stream, seen } of lines) {
      expect(Math.abs(seen.media - FRAMES)).toBeLessThanOrEqual(1);
      expect(
        Math.abs(seen.lastTimestamp - seen.firstTimestamp - (seen.media - 1) * FRAME_MS),
      ).toBeLessThanOrEqual(FRAME_MS);
      expect(seen.played).toHaveLength(FRAMES / CHECKPOINT_EVERY);
      // The delay through the queue is constant over the whole run.
      expect(Math.max(...seen.played) - Math.min(...seen.played)).toBeLessThanOrEqual(FRAME_MS);
      expect(stream.queuedMs()).toBeLessThanOrEqual(3 * FRAME_MS);
      const out = rtpOut.get(leg.port);
      expect(Math.abs((out?.count ?? 0) - FRAMES)).toBeLessThanOrEqual(1);
      expect(((out?.last ?? 0) - (out?.first ?? 0)) >>> 0).toBe(((out?.count ?? 0) - 1) * 160);
    }
    await media.stop();
  });
});
