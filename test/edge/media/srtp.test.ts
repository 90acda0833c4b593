import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { MediaSession, SrtpSession, SrtpSuite } from '../../../src/domain/call/needs.ts';
import type { MediaEngine } from '../../../src/edge/media/engine.ts';
import {
  decodeMulaw,
  encodeMulaw,
  FRAME,
  manualEngine,
  parseRtp,
  purity,
  REMOTE,
  rtp,
  sine,
} from './peer.ts';
import { derive, masterBytes, SrtpContext, SUITES } from './srtp-peer.ts';

const engines: MediaEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

const FROM = { address: REMOTE.address, port: REMOTE.port };
const keysOf = (suite: SrtpSuite): SrtpSession => ({
  suite,
  send: randomBytes(masterBytes(suite)),
  receive: randomBytes(masterBytes(suite)),
  receiveMkiBytes: 0,
});
const session = (protection: SrtpSession | 'none'): MediaSession => ({ ...REMOTE, protection });

async function secureLeg(suite: SrtpSuite) {
  const { media, drive } = manualEngine();
  engines.push(media);
  const leg = await media.openLeg(
    { mediaTimeoutMs: 0 },
    { dtmf: () => undefined, silent: () => undefined },
  );
  const keys = keysOf(suite);
  leg.configure(session(keys));
  return { media, drive, leg, keys };
}

/** Packets of a tone, unencrypted. */
function tone(count: number, first = 65_500): Uint8Array[] {
  const samples = sine(1000, count * FRAME);
  return Array.from({ length: count }, (_, i) =>
    rtp({
      sequence: first + i,
      timestamp: i * FRAME,
      ssrc: 0x1234,
      payload: encodeMulaw(samples.subarray(i * FRAME, (i + 1) * FRAME)),
    }),
  );
}

const rolloversOf = (first: number, i: number): number => (first + i > 65_535 ? 1 : 0);

describe('the peer of these tests', () => {
  it('derives the keys of RFC 3711 B.3', () => {
    const key = Buffer.from('E1F97A0D3E018BE0D64FA32C06DE4139', 'hex');
    const salt = Buffer.from('0EC675AD498AFEEBB6960B3AABE6', 'hex');
    const hex = (label: number, bytes: number): string =>
      derive(key, salt, { label, bytes }).toString('hex').toUpperCase();
    expect(hex(0, 16)).toBe('C61E7A93744F39EE10734AFE3FF7A087');
    expect(hex(2, 14)).toBe('30CBBC08863D8C85D49DB34A9AE1');
    expect(hex(1, 20)).toBe('CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4');
  });
});

describe.each(SUITES)('SRTP with %s', (suite) => {
  it('decrypts audio of the peer beyond the wrap of sequence numbers', async () => {
    const { media, drive, leg, keys } = await secureLeg(suite);
    const listener = await media.openLeg(
      { mediaTimeoutMs: 0 },
      { dtmf: () => undefined, silent: () => undefined },
    );
    listener.configure(session('none'));
    media.bridge(leg, listener);
    const peer = new SrtpContext(suite, keys.receive);
    for (const [i, packet] of tone(100).entries()) {
      drive.inject(leg.port, FROM, peer.protect(packet, rolloversOf(65_500, i)));
      drive.advance(20);
    }
    const received = drive
      .drain()
      .filter(({ localPort }) => localPort === listener.port)
      .slice(20)
      .flatMap(({ bytes }) => [...decodeMulaw(parseRtp(bytes).payload)]);
    expect(purity(Int16Array.from(received), 1000)).toBeGreaterThan(0.98);
    expect(leg.quality()).toMatchObject({ packetsReceived: 100, packetsLost: 0 });
  });

  it("encrypts audio so that only the peer's key decrypts it", async () => {
    const { drive, leg, keys } = await secureLeg(suite);
    leg.play({ rate: 8000, samples: bytesOf(sine(600, 8000)) }, { loop: 1, mix: false });
    drive.advance(900);
    const packets = drive.drain();
    expect(packets.length).toBeGreaterThan(40);
    const peer = new SrtpContext(suite, keys.send);
    const wrong = new SrtpContext(suite, keys.receive);
    const audio = packets.flatMap(({ bytes }) => [
      ...decodeMulaw(parseRtp(peer.unprotect(bytes, 0)).payload),
    ]);
    expect(purity(Int16Array.from(audio), 600)).toBeGreaterThan(0.95);
    expect(() => wrong.unprotect(packets[0]!.bytes, 0)).toThrow();
  });

  it('protects reports in both directions with the RTCP keys', async () => {
    const { drive, leg, keys } = await secureLeg(suite);
    const ours = new SrtpContext(suite, keys.send);
    const theirs = new SrtpContext(suite, keys.receive);
    drive.inject(leg.port, FROM, theirs.protect(tone(1)[0]!, 0));
    drive.advance(12_000);
    const report = drive.drain().find(({ localPort }) => localPort === leg.port + 1);
    const plain = ours.unprotectRtcp(report!.bytes);
    expect(plain[1]).toBe(200);
    // The peer sends a report about our stream 40 ms later, which gives the round-trip time.
    const reply = Buffer.alloc(32);
    reply.set([0x81, 201, 0, 7]);
    reply.writeUInt32BE(0x1234, 4);
    reply.writeUInt32BE(plain.readUInt32BE(4), 8);
    plain.copy(reply, 24, 10, 14);
    const atMs = report!.atMs + 40;
    const from = { ...FROM, port: FROM.port + 1 };
    drive.inject(leg.port + 1, from, theirs.protectRtcp(reply, 5), atMs);
    drive.advance(20);
    expect(leg.quality().roundTripMs).toBeGreaterThan(35);
  });
});

describe('SRTP', () => {
  const SUITE = 'AES_CM_128_HMAC_SHA1_80';

  it('drops unencrypted, forged and replayed packets', async () => {
    const { drive, leg, keys } = await secureLeg(SUITE);
    const peer = new SrtpContext(SUITE, keys.receive);
    for (const packet of tone(50, 100)) {
      const forged = peer.protect(packet, 0);
      forged.writeUInt8(forged.readUInt8(20) ^ 1, 20);
      drive.inject(leg.port, FROM, packet);
      drive.inject(leg.port, FROM, forged);
      drive.advance(20);
    }
    expect(leg.quality().packetsReceived).toBe(0);
    const good = peer.protect(tone(1, 200)[0]!, 0);
    for (let i = 0; i < 10; i += 1) drive.inject(leg.port, FROM, good);
    drive.advance(20);
    expect(leg.quality().packetsReceived).toBe(1);
  });

  it('continues with unchanged keys and restarts with new ones', async () => {
    const { drive, leg, keys } = await secureLeg(SUITE);
    const peer = new SrtpContext(SUITE, keys.receive);
    const packets = tone(200, 65_500);
    const send = (from: number, to: number, context: SrtpContext, rollovers?: number): void => {
      for (let i = from; i < to; i += 1) {
        const packet = context.protect(packets[i]!, rollovers ?? rolloversOf(65_500, i));
        drive.inject(leg.port, FROM, packet);
        drive.advance(20);
      }
    };
    send(0, 60, peer);
    leg.configure(session({ ...keys, send: Buffer.from(keys.send) }));
    send(60, 100, peer);
    expect(leg.quality().packetsReceived).toBe(100);
    const next = keysOf(SUITE);
    leg.configure(session(next));
    send(100, 110, peer);
    send(110, 150, new SrtpContext(SUITE, next.receive), 0);
    expect(leg.quality().packetsReceived).toBe(150);
    drive.drain();
    drive.advance(100);
    const ours = new SrtpContext(SUITE, next.send);
    // A report may be among them, on the next port.
    const sent = drive.drain().filter(({ localPort }) => localPort === leg.port);
    expect(sent.length).toBeGreaterThan(3);
    for (const { bytes } of sent) expect(() => ours.unprotect(bytes, 0)).not.toThrow();
  });

  it('decrypts packets that are in flight when the session changes to plain RTP', async () => {
    const { media, drive, leg, keys } = await secureLeg(SUITE);
    const listener = await media.openLeg(
      { mediaTimeoutMs: 0 },
      { dtmf: () => undefined, silent: () => undefined },
    );
    listener.configure({ ...REMOTE, port: 42_000 });
    media.bridge(leg, listener);
    const peer = new SrtpContext(SUITE, keys.receive);
    const packets = tone(140, 1000);
    for (const [i, packet] of packets.entries()) {
      if (i === 60) leg.configure(session('none'));
      // A new description without changes, such as the refresh of a session, keeps the former key.
      if (i === 65) leg.configure(session('none'));
      const wasInFlight = i < 70 || i === 72;
      drive.inject(leg.port, FROM, wasInFlight ? peer.protect(packet, 0) : packet);
      drive.advance(20);
    }
    const passed = drive.drain().filter(({ port }) => port === 42_000);
    const audio = Int16Array.from(
      passed.slice(30).flatMap(({ bytes }) => [...decodeMulaw(parseRtp(bytes).payload)]),
    );
    expect(audio.length).toBe(110 * FRAME);
    expect(purity(audio, 1000)).toBeGreaterThan(0.99);
    expect(leg.quality().packetsReceived).toBe(packets.length);
  });

  it('changes from SRTP to plain RTP and back after negotiation', async () => {
    const { drive, leg, keys } = await secureLeg(SUITE);
    leg.configure(session('none'));
    drive.advance(40);
    drive.drain();
    drive.advance(20);
    expect(drive.drain()[0]?.bytes).toHaveLength(12 + FRAME);
    leg.configure(session(keys));
    drive.advance(40);
    expect(drive.drain().at(-1)?.bytes).toHaveLength(12 + FRAME + 10);
  });
});

const bytesOf = (samples: Int16Array): Buffer =>
  Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
