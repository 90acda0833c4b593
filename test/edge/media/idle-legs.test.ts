import { afterEach, describe, expect, it } from 'vitest';
import { asStreamId } from '../../../src/base/ids.ts';
import type { MediaLegEvents, MediaSession } from '../../../src/domain/call/needs.ts';
import type { ManualDrive, MediaEngine } from '../../../src/edge/media/engine.ts';
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
} from './peer.ts';

const KEEP_ALIVE_MS = 15_000;
const QUIET: MediaLegEvents = { dtmf: () => undefined, silent: () => undefined };
const engines: MediaEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

async function openLeg(
  session: Partial<MediaSession> = {},
  { events = QUIET, mediaTimeoutMs = 0 } = {},
) {
  const { media, drive } = manualEngine({ keepAliveMs: KEEP_ALIVE_MS });
  engines.push(media);
  const leg = await media.openLeg({ mediaTimeoutMs }, events);
  leg.configure({ ...REMOTE, ...session });
  return { media, drive, leg };
}

/** RTP sent since the last call. */
const sent = (drive: ManualDrive) =>
  drive
    .drain()
    .filter(({ localPort }) => localPort % 2 === 0)
    .map((packet) => ({ ...packet, rtp: parseRtp(packet.bytes) }));

type Packet = ReturnType<typeof sent>[number];

/** Checks that timestamps include the time between packets. */
function expectTrueTime(packets: readonly Packet[]): void {
  const [first] = packets;
  packets.forEach(({ rtp, atMs }, i) => {
    expect(rtp.sequence).toBe((first!.rtp.sequence + i) & 0xffff);
    expect((rtp.timestamp - first!.rtp.timestamp) >>> 0).toBe(8 * (atMs - first!.atMs));
  });
}

describe('an idle leg', () => {
  it('sends one packet at its start and one per keep-alive interval, with timestamps that advance with time', async () => {
    const { drive } = await openLeg();
    drive.advance(4 * KEEP_ALIVE_MS);
    const packets = sent(drive);
    expect(packets).toHaveLength(4);
    expectTrueTime(packets);
    expect(packets[1]!.atMs - packets[0]!.atMs).toBeGreaterThanOrEqual(KEEP_ALIVE_MS);
    expect(packets[1]!.atMs - packets[0]!.atMs).toBeLessThanOrEqual(KEEP_ALIVE_MS + 20);
    expect(packets.every(({ rtp }) => rtp.marker && rms(decodeMulaw(rtp.payload)) === 0)).toBe(
      true,
    );
  });

  it('sends complete packets of the requested packet time', async () => {
    const { drive, leg } = await openLeg({ ptimeMs: 60 });
    drive.advance(1000);
    expect(sent(drive).map(({ rtp }) => rtp.payload.length)).toEqual([480]);
    // Five frames: the last two are sent with one of silence. A quarter of the samples are at zero crossings.
    leg.play({ rate: 8000, samples: l16(sine(1000, 5 * FRAME)) }, { loop: 1, mix: false });
    drive.advance(1000);
    const packets = sent(drive);
    expect(packets.length).toBeLessThanOrEqual(3);
    const audio = packets.flatMap(({ rtp }) => [...decodeMulaw(rtp.payload)]);
    expect(audio.filter((value) => value !== 0).length).toBe(3.75 * FRAME);
  });

  it('sends to a new peer address immediately', async () => {
    const { drive, leg } = await openLeg();
    drive.advance(1000);
    expect(sent(drive)).toHaveLength(1);
    leg.configure({ ...REMOTE, address: '192.0.2.99' });
    drive.advance(1000);
    expect(sent(drive).map(({ address }) => address)).toEqual(['192.0.2.99']);
  });

  it('plays a clip within a frame, then is idle again', async () => {
    const { drive, leg } = await openLeg();
    drive.advance(1010);
    const [first] = sent(drive);
    const requested = drive.nowMs();
    const clip = l16(sine(1000, 10 * FRAME));
    const { finished } = leg.play({ rate: 8000, samples: clip }, { loop: 1, mix: false });
    drive.advance(2000);
    const packets = sent(drive);
    expect(await finished).toBe('completed');
    expectTrueTime([first!, ...packets]);
    expect(packets.length).toBeGreaterThanOrEqual(10);
    expect(packets.length).toBeLessThanOrEqual(12);
    expect(packets[0]!.atMs - requested).toBeLessThanOrEqual(20);
    expect(packets.map(({ rtp }) => rtp.marker)).toEqual(packets.map((_, i) => i === 0));
    expect(decodeMulaw(packets[9]!.rtp.payload).some((value) => value !== 0)).toBe(true);
  });

  it('sends continuous silence after the first packet of its peer', async () => {
    const { drive, leg } = await openLeg();
    drive.advance(3333);
    sent(drive);
    const peer = new Peer(drive, leg.port);
    const receivedAt = drive.nowMs();
    peer.send(sine(440, FRAME));
    drive.advance(1000);
    const packets = sent(drive);
    expect(packets).toHaveLength(50);
    expectTrueTime(packets);
    expect(packets[0]!.atMs - receivedAt).toBeLessThanOrEqual(20);
  });

  it('reports a media timeout as soon as an active leg does', async () => {
    const reported: number[] = [];
    const events = { ...QUIET, silent: (sinceMs: number) => reported.push(sinceMs) };
    const { drive } = await openLeg({}, { events, mediaTimeoutMs: 3000 });
    drive.advance(2990);
    expect(reported).toEqual([]);
    drive.advance(30);
    expect(reported).toHaveLength(1);
    drive.advance(60_000);
    expect(reported).toHaveLength(1);
  });

  it('counts packets from unknown sources', async () => {
    const { drive, leg } = await openLeg();
    drive.advance(1000);
    new Peer(drive, leg.port, { address: '203.0.113.66', port: 9 }).send(sine(440, FRAME));
    drive.advance(1000);
    expect(sent(drive)).toHaveLength(1);
    expect(leg.close()).toMatchObject({ packetsReceived: 0, packetsSent: 1 });
  });

  it('sends requested digits', async () => {
    const { drive, leg } = await openLeg();
    drive.advance(1000);
    sent(drive);
    const done = leg.sendDigits('5', { toneMs: 100, gapMs: 100, inband: false });
    drive.advance(1000);
    await done;
    const events = sent(drive).filter(({ rtp }) => rtp.payloadType === 101);
    expect(events).toHaveLength(7);
  });
});

describe('a bridge of two legs', () => {
  it('sends nothing while both sides are silent, and everything from the first packet on', async () => {
    const { media, drive, leg: a } = await openLeg();
    const b = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    b.configure({ ...REMOTE, address: '192.0.2.8' });
    media.bridge(a, b);
    drive.advance(5000);
    expect(sent(drive)).toHaveLength(2);
    const alice = new Peer(drive, a.port);
    for (let i = 0; i < 50; i += 1) {
      alice.send(sine(400, FRAME, { from: i * FRAME }));
      drive.advance(20);
    }
    const packets = sent(drive);
    const from = (port: number) => packets.filter(({ localPort }) => localPort === port);
    expect(from(a.port).length).toBeGreaterThanOrEqual(49);
    expect(from(b.port).length).toBeGreaterThanOrEqual(49);
    const received = from(b.port).slice(10);
    expect(received.every(({ rtp }) => rms(decodeMulaw(rtp.payload)) > 1000)).toBe(true);
    a.close();
    drive.advance(100);
    sent(drive);
    drive.advance(5000);
    expect(sent(drive)).toEqual([]);
  });
});

describe('listeners of a silent leg', () => {
  it('a stream receives 20 ms every 20 ms, and the peer receives silence', async () => {
    const { drive, leg } = await openLeg();
    drive.advance(1000);
    sent(drive);
    let messages = 0;
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
        media: (chunks) => {
          messages += chunks.length;
        },
        played: () => undefined,
        degraded: () => undefined,
        dtmf: () => undefined,
      },
    );
    drive.advance(2000);
    expect(messages).toBeGreaterThanOrEqual(98);
    expect(sent(drive)).toHaveLength(100);
    stream.close();
    drive.advance(100);
    sent(drive);
    drive.advance(2000);
    expect(sent(drive)).toEqual([]);
  });

  it('a silence detection ends in time', async () => {
    const { drive, leg } = await openLeg();
    drive.advance(1000);
    const waited = leg.waitForSilence(500, 5000, new AbortController().signal);
    drive.advance(540);
    expect(await waited).toBe(true);
  });
});
