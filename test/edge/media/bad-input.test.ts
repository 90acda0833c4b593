import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { createMedia, type MediaEngine } from '../../../src/edge/media/engine.ts';
import { until } from '../../eventually.ts';
import {
  encodeMulaw,
  FRAME,
  l16,
  manualEngine,
  Peer,
  parseRtp,
  REMOTE,
  rtp,
  sine,
} from './peer.ts';
import { masterBytes, SrtpContext } from './srtp-peer.ts';

const engines: MediaEngine[] = [];
const leavers: (() => void)[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
  for (const leave of leavers.splice(0)) leave();
});

const QUIET = { dtmf: (): void => undefined, silent: (): void => undefined };
const RECORD = { channels: 'both', stereo: true, silenceEndMs: 0, maxMs: 0 } as const;

/** Mounts a small file system; undefined if mounting is not possible. */
function smallDisk(bytes: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'media-'));
  leavers.push(() => rmSync(folder, { recursive: true }));
  try {
    const size = `size=${bytes}`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  leavers.unshift(() => execFileSync('umount', ['-l', folder]));
  return folder;
}

describe('faults around a leg', () => {
  it('ends a recording with its cause when the disk is full; the call and other recordings continue', async ({
    skip,
  }) => {
    const small = smallDisk(96 * 1024);
    if (small === undefined) return skip('no separate disk can be mounted here');
    const large = mkdtempSync(join(tmpdir(), 'media-'));
    leavers.push(() => rmSync(large, { recursive: true }));
    const { media, drive } = manualEngine();
    engines.push(media);
    const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    leg.configure(REMOTE);
    const peer = new Peer(drive, leg.port, { address: REMOTE.address, port: REMOTE.port });
    const doomed = leg.record({ path: join(small, 'a.wav'), ...RECORD });
    const healthy = leg.record({ path: join(large, 'b.wav'), ...RECORD });
    for (let frame = 0; frame < 500; frame += 1) {
      peer.send(sine(1000, FRAME));
      drive.advance(20);
    }
    const end = await doomed.finished;
    expect(end).toMatchObject({ reason: 'failed', error: 'ENOSPC' });
    // Two channels of 16-bit samples at 8 kHz: the disk has room for three seconds.
    const file = readFileSync(join(small, 'a.wav'));
    const stored = file.readUInt32LE(40);
    expect(stored).toBeGreaterThan(2 * 32_000);
    expect(stored).toBeLessThanOrEqual(file.length - 44);
    expect(drive.drain().length).toBeGreaterThan(400);
    healthy.stop();
    drive.advance(100);
    expect(await healthy.finished).toEqual({
      reason: 'stopped',
      durationMs: 10_000,
      error: undefined,
    });
  });

  it('counts and drops packets with a wrong key in any number, and plays those with the right key', async () => {
    const { media, drive } = manualEngine();
    engines.push(media);
    const suite = 'AEAD_AES_128_GCM';
    const key = (): Buffer => randomBytes(masterBytes(suite));
    const protection = { suite, send: key(), receive: key(), receiveMkiBytes: 0 } as const;
    const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    leg.configure({ ...REMOTE, protection });
    const packet = (i: number): Uint8Array =>
      rtp({
        sequence: i,
        timestamp: i * FRAME,
        ssrc: 7,
        payload: encodeMulaw(sine(1000, FRAME)),
      });
    const from = { address: REMOTE.address, port: REMOTE.port };
    const unknownPeer = new SrtpContext(suite, key());
    for (let i = 0; i < 2000; i += 1) {
      drive.inject(leg.port, from, unknownPeer.protect(packet(i), 0));
      if (i % 50 === 0) drive.advance(20);
    }
    expect(leg.quality().packetsReceived).toBe(0);
    expect(media.counters().malformed).toBe(2000);
    const peer = new SrtpContext(suite, protection.receive);
    for (let i = 0; i < 50; i += 1) {
      drive.inject(leg.port, from, peer.protect(packet(i), 0));
      drive.advance(20);
    }
    expect(leg.quality()).toMatchObject({ packetsReceived: 50, packetsLost: 0 });
  });

  it('logs the reason once for each kind of bad packet that lasts a second, and none for fewer packets', async () => {
    const logged: (readonly [unknown, string])[] = [];
    const warn = (fields: object, message: string): void => void logged.push([fields, message]);
    const { media, drive } = manualEngine({ logger: { ...silentLogger, warn } });
    engines.push(media);
    const suite = 'AES_CM_128_HMAC_SHA1_80';
    const key = (): Buffer => randomBytes(masterBytes(suite));
    const protection = { suite, send: key(), receive: key(), receiveMkiBytes: 0 } as const;
    const unknownPeer = new SrtpContext(suite, key());
    const peer = { address: REMOTE.address, port: REMOTE.port };
    const packet = (sequence: number, payloadType = 0): Uint8Array =>
      rtp({
        sequence,
        payloadType,
        timestamp: sequence * FRAME,
        payload: encodeMulaw(sine(1000, FRAME)),
      });
    const kinds = [
      {
        reason: /another key/,
        bytes: (i: number) => unknownPeer.protect(packet(i), 0),
        protection,
      },
      { reason: /another key/, bytes: packet, protection },
      { reason: /not RTP/, bytes: (i: number) => packet(i).subarray(0, 11) },
      { reason: /payload type/, bytes: (i: number) => packet(i, 99) },
    ];
    for (const { reason, bytes, ...session } of kinds) {
      const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
      leg.configure({ ...REMOTE, ...session });
      for (let i = 0; i < 120; i += 1) {
        drive.inject(leg.port, peer, bytes(i));
        if (i % 10 !== 9) continue;
        drive.advance(20);
        leg.quality();
        expect(logged).toHaveLength(i < 49 ? 0 : 1);
      }
      leg.close();
      expect(logged.splice(0)).toEqual([
        [{ port: leg.port, remote: peer, packets: 50 }, expect.stringMatching(reason)],
      ]);
    }
  });

  it('counts and drops datagrams that are not RTP or RTCP, or from another source', async () => {
    const { media, drive } = manualEngine();
    engines.push(media);
    const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    leg.configure(REMOTE);
    const peer = { address: REMOTE.address, port: REMOTE.port };
    const unknownPeer = { address: '203.0.113.9', port: 5000 };
    const packet = Buffer.from(rtp({ payload: encodeMulaw(sine(1000, FRAME)) }));
    const wrongVersion = Buffer.from(packet);
    wrongVersion[0] = 0x40;
    const longHeader = Buffer.from(packet.subarray(0, 20));
    longHeader[0] = 0x8f;
    const bad = [Buffer.alloc(0), packet.subarray(0, 11), wrongVersion, longHeader];
    for (const bytes of bad) drive.inject(leg.port, peer, bytes);
    expect(media.counters()).toMatchObject({ malformed: 4, unknownSources: 0 });
    drive.inject(leg.port, unknownPeer, packet);
    expect(media.counters()).toMatchObject({ malformed: 4, unknownSources: 1 });
    const report = Buffer.from('80c90001', 'hex');
    const rtcpOf = (from: typeof peer, bytes: Uint8Array): void =>
      drive.inject(leg.port + 1, { ...from, port: from.port + 1 }, bytes);
    rtcpOf(peer, report);
    rtcpOf(peer, Buffer.concat([report, Buffer.alloc(3000)]));
    rtcpOf(unknownPeer, Buffer.concat([report, Buffer.alloc(4, 1)]));
    expect(media.counters()).toMatchObject({ malformed: 6, unknownSources: 2, packetsReceived: 0 });
    rtcpOf(peer, Buffer.concat([report, Buffer.alloc(4, 1)]));
    expect(media.counters()).toMatchObject({ malformed: 6, unknownSources: 2 });
    const { port } = leg;
    expect(leg.close().packetsReceived).toBe(0);
    drive.inject(port, peer, packet);
    expect(media.counters()).toMatchObject({ malformed: 6, unknownSources: 2, packetsReceived: 0 });
  });

  it('counts a flood at one port without loss on the neighbouring leg', async () => {
    const media = createMedia({
      rtpHost: '127.0.0.1',
      publicHost: '127.0.0.1',
      portMin: 31_000,
      portMax: 31_998,
      drive: 'thread',
      wallMs: Date.now,
      logger: silentLogger,
    });
    engines.push(media);
    const socket = createSocket('udp4');
    leavers.push(() => socket.close());
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const received: number[] = [];
    socket.on('message', (bytes) => received.push(parseRtp(bytes).sequence));
    const flooded = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    flooded.configure({ ...REMOTE, address: '127.0.0.1', port: 9 });
    const withRecords = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    withRecords.configure({ ...REMOTE, address: '127.0.0.1', port: socket.address().port });
    const flood = createSocket('udp4');
    leavers.push(() => flood.close());
    const clip = { rate: 8000, samples: l16(sine(1000, 8000)) } as const;
    const played = withRecords.play(clip, { loop: 1, mix: false }).finished;
    let over = false;
    void played.then(() => {
      over = true;
    });
    const garbage = randomBytes(200);
    while (!over) {
      for (let i = 0; i < 200; i += 1) flood.send(garbage, flooded.port, '127.0.0.1');
      await new Promise((resume) => setImmediate(resume));
    }
    await until(() => received.length >= 50, 'all packets of the clip');
    expect(
      received.slice(1).every((sequence, i) => ((sequence - (received[i] ?? 0)) & 0xffff) === 1),
    ).toBe(true);
    const { malformed, unknownSources } = media.counters();
    expect(malformed + unknownSources).toBeGreaterThan(200);
    expect(flooded.close().packetsReceived).toBe(0);
  });
});
