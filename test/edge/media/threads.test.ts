import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { asStreamId } from '../../../src/base/ids.ts';
import type { MediaEngine } from '../../../src/edge/media/engine.ts';
import { writePaddedNumber } from '../../sim/padded-number.ts';
import { FRAME, manualEngine, Peer, purity, REMOTE, sine } from './peer.ts';

const engines: MediaEngine[] = [];
const folder = mkdtempSync(join(tmpdir(), 'media-'));
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a leg that moves to another media thread', () => {
  it('moves its recording and its stream without a gap', async () => {
    const { media, drive } = manualEngine({ threads: 2 });
    engines.push(media);
    const keys: string[] = [];
    const opened = await Promise.all(
      [0, 1].map(async (index) => {
        const leg = await media.openLeg(
          { mediaTimeoutMs: 0 },
          { dtmf: (digit) => keys.push(`${index}:${digit}`), silent: () => undefined },
        );
        const address = `192.0.2.${1 + index}`;
        leg.configure({ ...REMOTE, address });
        return { leg, peer: new Peer(drive, leg.port, { address, port: REMOTE.port }) };
      }),
    );
    const [a, b] = opened;
    if (a === undefined || b === undefined) throw new Error('two were opened');
    expect(media.status().threads.map(({ legs }) => legs)).toEqual([1, 1]);

    const timestamps: number[] = [];
    const open = (leg: typeof a.leg) =>
      leg.openStream(
        {
          streamId: asStreamId('1b4e28ba-2fa1-11d2-883f-0016d3cca427'),
          rate: 8000,
          encoding: 'audio/x-l16',
          tracks: 'inbound',
          bidirectional: false,
          extraHeadersJson: '"{}"',
          queueMs: 1000,
        },
        {
          media: (batch) => {
            for (const bytes of batch) {
              writePaddedNumber(bytes, '{"sequenceNumber":'.length, timestamps.length + 1);
              const message = JSON.parse(Buffer.from(bytes).toString()) as {
                media: { timestamp: string };
              };
              timestamps.push(Number(message.media.timestamp));
            }
          },
          played: () => undefined,
          degraded: () => undefined,
          dtmf: () => undefined,
        },
      );
    for (const { leg } of opened) open(leg).pause(leg === a.leg);
    const paths = opened.map((_, index) => join(folder, `${index}.wav`));
    const recordings = opened.map(({ leg }, index) =>
      leg.record({
        path: paths[index] ?? '',
        channels: 'received',
        stereo: false,
        silenceEndMs: 0,
        maxMs: 0,
      }),
    );
    let said = 0;
    const talk = (frames: number): void => {
      for (let frame = 0; frame < frames; frame += 1) {
        for (const { peer } of opened) peer.send(sine(1000, FRAME, { from: said * FRAME }));
        said += 1;
        drive.advance(20);
      }
    };
    talk(50);
    const bridge = media.bridge(a.leg, b.leg);
    expect(
      media
        .status()
        .threads.map(({ legs }) => legs)
        .sort(),
    ).toEqual([0, 2]);
    talk(50);
    bridge.close();
    talk(50);
    for (const recording of recordings) recording.stop();
    drive.advance(100);

    for (const [index, recording] of recordings.entries()) {
      expect(await recording.finished).toMatchObject({ reason: 'stopped', durationMs: 3000 });
      const bytes = readFileSync(paths[index] ?? '').subarray(44);
      const samples = new Int16Array(
        bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
      );
      // After the first frames of the jitter buffer, a continuous tone, which would reveal any gap.
      expect(purity(samples.subarray(8000, 22_000), 1000)).toBeGreaterThan(0.99);
    }
    const steps = timestamps.slice(1).map((at, i) => at - (timestamps[i] ?? 0));
    expect(timestamps.length).toBeGreaterThan(140);
    expect(new Set(steps)).toEqual(new Set([20]));
    expect(media.counters().unknownHandles).toBe(0);
    for (const { leg } of opened) {
      expect(leg.close()).toMatchObject({ packetsReceived: 150, packetsLost: 0, packetsLate: 0 });
    }
  });
});
