/** A leg with ICE and DTLS, as for a browser. */
import { randomBytes } from 'node:crypto';
import { generate } from 'selfsigned';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { MediaLeg, MediaSession } from '../../../src/domain/call/needs.ts';
import type { ManualDrive, MediaEngine, MediaIdentity } from '../../../src/edge/media/engine.ts';
import { readFingerprint } from '../../../src/protocol/sdp/secure-transport.ts';
import { decodeMulaw, manualEngine, parseRtp, purity, REMOTE, sine } from './peer.ts';
import { bindingRequest, type Check, readAnswer } from './stun-peer.ts';

const ICE = { localUfrag: 'ours', localPassword: 'p'.repeat(22), remoteUfrag: 'them' };
const GOOD: Check = { username: 'ours:them', password: ICE.localPassword, useCandidate: true };
const BROWSER = { address: '192.0.2.77', port: 50_000 };
const QUIET = { dtmf: () => undefined, silent: () => undefined };

let identity: MediaIdentity;
beforeAll(async () => {
  const made = await generate([{ name: 'commonName', value: 'x' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
  });
  identity = { certificate: made.cert, key: made.private };
});
const engines: MediaEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

const engine = () => {
  const made = manualEngine({ identity });
  engines.push(made.media);
  return made;
};

function dtls(media: MediaEngine, role: 'client' | 'server', broken = false) {
  const { hash, value } = readFingerprint(media.fingerprint ?? '')!;
  const fingerprint = Buffer.from(value);
  if (broken) fingerprint.writeUInt8(fingerprint.readUInt8(0) ^ 1, 0);
  return { role, hash, fingerprint };
}

const byIce = (protection: MediaSession['protection']): MediaSession => ({
  ...REMOTE,
  address: '',
  ice: ICE,
  rtcpMux: true,
  protection,
});

describe('ICE checks', () => {
  async function checked(check: Check, from = BROWSER) {
    const { media, drive } = engine();
    const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    leg.configure(byIce(dtls(media, 'server')));
    const request = bindingRequest(check);
    drive.inject(leg.port, from, request);
    const [sent] = drive.drain();
    return {
      media,
      drive,
      leg,
      request,
      sent,
      answer: sent === undefined ? undefined : readAnswer(sent.bytes, ICE.localPassword),
    };
  }

  it('answers a valid check with its source address, authenticated by our password', async () => {
    const { answer, sent, request } = await checked(GOOD);
    expect(sent).toMatchObject(BROWSER);
    expect(answer).toMatchObject({ type: 0x0101, address: '192.0.2.77:50000', authentic: true });
    expect(answer?.transaction.equals(request.subarray(8, 20))).toBe(true);
  });

  it.each<[string, Check, number | undefined]>([
    ['a foreign name', { ...GOOD, username: 'other:them' }, 401],
    ['a foreign name of the peer', { ...GOOD, username: 'ours:other' }, 401],
    ['a wrong password', { ...GOOD, password: 'q'.repeat(22) }, 401],
    ['no integrity', { ...GOOD, integrity: false }, 400],
    ['an attribute that is not known', { ...GOOD, extra: [[0x7777, Buffer.alloc(4)]] }, 420],
    ['no fingerprint', { ...GOOD, fingerprint: false }, undefined],
  ])('refuses %s and sends no media to the sender', async (_, check, code) => {
    const { answer, drive } = await checked(check);
    expect(answer?.errorCode).toBe(code);
    drive.advance(100);
    expect(drive.drain()).toEqual([]);
  });

  it('ignores a captured check that is replayed from another address', async () => {
    const { drive, leg, request } = await checked(GOOD);
    drive.inject(leg.port, { address: '203.0.113.9', port: 666 }, request);
    expect(drive.drain()).toEqual([]);
  });

  it('ignores truncated and random messages', async () => {
    const { drive, leg } = await checked(GOOD);
    const request = bindingRequest({ ...GOOD, transaction: randomBytes(12) });
    for (let size = 0; size < request.length; size += 1) {
      drive.inject(leg.port, BROWSER, request.subarray(0, size));
    }
    for (let i = 20; i < request.length; i += 1) {
      const broken = Buffer.from(request);
      broken.writeUInt8(broken.readUInt8(i) ^ 0x55, i);
      drive.inject(leg.port, BROWSER, broken);
    }
    expect(drive.drain()).toEqual([]);
  });
});

describe('an ICE restart during a call', () => {
  const AGAIN = { localUfrag: 'ours2', localPassword: 'r'.repeat(22), remoteUfrag: 'them2' };
  const OTHER = { address: '198.51.100.8', port: 50_002 };
  const anew: Check = { username: 'ours2:them2', password: AGAIN.localPassword };
  const code = (sent: { bytes: Uint8Array } | undefined, password: string) =>
    sent === undefined ? undefined : readAnswer(sent.bytes, password);

  /** A leg connected to BROWSER that has new ICE credentials. */
  async function restarted() {
    const { media, drive } = engine();
    const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    const session: MediaSession = { ...byIce('none'), ice: ICE };
    leg.configure(session);
    drive.inject(leg.port, BROWSER, bindingRequest(GOOD));
    drive.advance(100);
    leg.configure({ ...session, ice: AGAIN });
    drive.drain();
    const rtpTo = () => {
      drive.advance(100);
      const places = drive.drain().filter(({ bytes }) => (bytes[0] ?? 0) >= 128);
      return [...new Set(places.map(({ address, port }) => `${address}:${port}`))];
    };
    const check = (from: typeof BROWSER, what: Check) => {
      drive.inject(leg.port, from, bindingRequest(what));
      return drive.drain()[0];
    };
    return { drive, leg, rtpTo, check };
  }

  it('keeps the old path and answers its checks until the peer nominates again', async () => {
    const { rtpTo, check } = await restarted();
    expect(rtpTo()).toEqual(['192.0.2.77:50000']);
    expect(code(check(BROWSER, GOOD), ICE.localPassword)).toMatchObject({ authentic: true });
    expect(code(check(OTHER, anew), AGAIN.localPassword)).toMatchObject({ authentic: true });
    expect(rtpTo()).toEqual(['192.0.2.77:50000']);
    check(OTHER, { ...anew, useCandidate: true });
    expect(rtpTo()).toEqual(['198.51.100.8:50002']);
  });

  it('refuses old user names afterwards', async () => {
    const { rtpTo, check } = await restarted();
    check(OTHER, { ...anew, useCandidate: true });
    expect(code(check(BROWSER, GOOD), ICE.localPassword)?.errorCode).toBe(401);
    expect(rtpTo()).toEqual(['198.51.100.8:50002']);
  });

  it('refuses a user name with the password of the other session', async () => {
    const { check } = await restarted();
    for (const mixed of [
      { ...GOOD, password: AGAIN.localPassword },
      { ...anew, password: ICE.localPassword },
      { ...anew, username: 'ours2:them' },
    ]) {
      expect(code(check(OTHER, mixed), AGAIN.localPassword)?.errorCode).toBe(401);
    }
  });

  it('stops sending to a peer that stops checking, until it checks again', async () => {
    const { drive, rtpTo, check } = await restarted();
    drive.advance(29_000);
    expect(rtpTo()).toEqual(['192.0.2.77:50000']);
    drive.advance(2000);
    drive.drain();
    // Consent also applies to RTCP (RFC 7675 §5.1), which is sent every few seconds.
    drive.advance(20_000);
    expect(rtpTo()).toEqual([]);
    check(BROWSER, GOOD);
    expect(rtpTo()).toEqual(['192.0.2.77:50000']);
  });
});

/** DTLS record of epoch 0. */
function dtlsRecord(type: number, body: Uint8Array, version = 0xfefd): Buffer {
  const head = Buffer.alloc(13);
  head[0] = type;
  head.writeUInt16BE(version, 1);
  head.writeUInt16BE(9, 9);
  head.writeUInt16BE(body.length, 11);
  return Buffer.concat([head, body]);
}

/** Handshake message in one fragment. */
function handshakeRecord(type: number, message: number, body: Uint8Array): Buffer {
  const head = Buffer.alloc(12);
  head[0] = type;
  head.writeUIntBE(body.length, 1, 3);
  head.writeUInt16BE(message, 4);
  head.writeUIntBE(body.length, 9, 3);
  return dtlsRecord(22, Buffer.concat([head, body]));
}

const clientHello = (suite: readonly [number, number]): Buffer =>
  Buffer.concat([
    Buffer.from([0xfe, 0xfd]),
    Buffer.alloc(32, 7),
    Buffer.from([0, 0, 0, 2, ...suite, 1, 0]),
  ]);

function forgedRecords(): [string, Buffer][] {
  const random = Buffer.from(Array.from({ length: 200 }, (_, i) => (i * 73 + 19) & 0xff));
  const records: [string, Buffer][] = [
    ['213 bytes of an invalid handshake', dtlsRecord(22, random)],
    ['a message of random content', handshakeRecord(1, 0, random)],
    ['a fatal alert', dtlsRecord(21, Buffer.from([2, 40]))],
    ['close_notify', dtlsRecord(21, Buffer.from([1, 0]))],
    ['data', dtlsRecord(23, random)],
    ['an unexpected ClientHello', handshakeRecord(1, 4, clientHello([0xc0, 0x2b]))],
    ['a request for a cookie', handshakeRecord(3, 5, Buffer.from([0xfe, 0xfd, 2, 1, 2]))],
    ['Finished in the clear', handshakeRecord(20, 3, random.subarray(0, 12))],
    ['a message that would be 16 MB long', dtlsRecord(22, Buffer.alloc(60, 0xff))],
    ['a broken ChangeCipherSpec', dtlsRecord(20, Buffer.from([7, 7]))],
    ['another version', dtlsRecord(22, random, 0x0303)],
  ];
  const cut = dtlsRecord(22, random).subarray(0, 100);
  const encrypted = dtlsRecord(23, random);
  encrypted.writeUInt16BE(1, 3);
  const later = dtlsRecord(22, random);
  later.writeUInt16BE(2, 3);
  return [
    ...records,
    ['a record that is cut short', cut],
    ['encrypted with an unknown key', encrypted],
    ['a later epoch', later],
    ['a header alone', dtlsRecord(22, Buffer.alloc(0))],
  ];
}

describe('DTLS keys', () => {
  /** Connects two legs: each receives the packets of the other from its visible address. */
  class Wire {
    readonly #drive: ManualDrive;
    readonly #ends: readonly MediaLeg[];
    readonly kinds: string[] = [];
    lose: (bytes: Uint8Array) => boolean = () => false;

    constructor(drive: ManualDrive, ...ends: MediaLeg[]) {
      this.#drive = drive;
      this.#ends = ends;
    }

    #seenAt(leg: MediaLeg) {
      return { address: '192.0.2.77', port: leg.port };
    }

    nominate(): void {
      const [a, b] = this.#ends;
      for (const [at, from] of [
        [a, b],
        [b, a],
      ] as const) {
        this.#drive.inject(at!.port, this.#seenAt(from!), bindingRequest(GOOD));
      }
    }

    run(ms: number): void {
      for (let i = 0; i < ms; i += 5) {
        this.#drive.advance(5);
        for (const packet of this.#drive.drain()) {
          const first = packet.bytes[0] ?? 0;
          this.kinds.push(first < 4 ? 'stun' : first < 64 ? 'dtls' : 'rtp');
          const from = this.#ends.find(({ port }) => port === packet.localPort);
          if (from === undefined || first < 4 || this.lose(packet.bytes)) continue;
          this.#drive.inject(packet.port, this.#seenAt(from), packet.bytes);
        }
      }
    }
  }

  async function pair(broken = false) {
    const { media, drive } = engine();
    const faults: (string | undefined)[] = [];
    const events = { ...QUIET, secured: (fault: string | undefined) => void faults.push(fault) };
    const a = await media.openLeg({ mediaTimeoutMs: 0 }, events);
    const b = await media.openLeg({ mediaTimeoutMs: 0 }, events);
    a.configure(byIce(dtls(media, 'client', broken)));
    b.configure(byIce(dtls(media, 'server')));
    return { media, drive, a, b, faults, wire: new Wire(drive, a, b) };
  }

  it('sends no media before there are keys; then both receive audio', async () => {
    const { drive, a, b, faults, wire, media } = await pair();
    wire.run(100);
    expect(wire.kinds).toEqual([]);
    wire.nominate();
    wire.run(200);
    expect(faults).toEqual([undefined, undefined]);
    const samples = Buffer.from(sine(800, 24_000).buffer);
    a.play({ rate: 8000, samples }, { loop: 1, mix: false });
    const listener = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    listener.configure(REMOTE);
    media.bridge(b, listener);
    const received: number[] = [];
    wire.lose = () => false;
    for (let i = 0; i < 200; i += 1) {
      drive.advance(10);
      for (const packet of drive.drain()) {
        if (packet.localPort === listener.port) {
          received.push(...decodeMulaw(parseRtp(packet.bytes).payload));
        } else if (packet.localPort === a.port) {
          drive.inject(b.port, { address: '192.0.2.77', port: a.port }, packet.bytes);
        }
      }
    }
    expect(purity(Int16Array.from(received.slice(4000, 12_000)), 800)).toBeGreaterThan(0.98);
  });

  it('ignores an identical description', async () => {
    const { media, a, wire, faults, b } = await pair();
    wire.nominate();
    wire.run(200);
    a.configure(byIce(dtls(media, 'client')));
    wire.run(200);
    expect(faults).toEqual([undefined, undefined]);
    expect(b.quality().packetsReceived).toBeGreaterThan(15);
  });

  it('fails with a reason if the certificate differs from the description', async () => {
    const { faults, wire, b } = await pair(true);
    wire.nominate();
    wire.run(300);
    expect(faults).toContain('the certificate does not match the session description');
    expect(b.quality().packetsReceived).toBe(0);
  });

  it('starts no handshake from an unverified address', async () => {
    const { drive, a, b, wire, faults } = await pair();
    wire.nominate();
    const hello = drive
      .drain()
      .find(({ localPort, bytes }) => localPort === a.port && bytes[0] === 22);
    expect(hello).toBeDefined();
    drive.inject(b.port, { address: '203.0.113.9', port: 666 }, hello!.bytes);
    drive.advance(50);
    expect(drive.drain().filter(({ address }) => address === '203.0.113.9')).toEqual([]);
    expect(faults).toEqual([]);
  });

  describe.each([
    ['before the handshake', 0],
    ['between its first messages', 5],
    ['in its middle', 10],
    ['after it', 200],
  ])('forged records from the address of the peer %s', (_, ms) => {
    it.each(forgedRecords())('%s: the call continues', async (_name, forged) => {
      const { drive, a, b, faults, wire } = await pair();
      const forge = (): void => {
        for (const [to, from] of [
          [b, a],
          [a, b],
        ] as const) {
          for (let i = 0; i < 20; i += 1)
            drive.inject(to.port, { address: '192.0.2.77', port: from.port }, forged);
        }
      };
      wire.nominate();
      wire.run(ms);
      forge();
      wire.run(300);
      forge();
      wire.run(300);
      expect(faults).toEqual([undefined, undefined]);
      expect(b.quality().packetsReceived).toBeGreaterThan(15);
      expect(a.quality().packetsReceived).toBeGreaterThan(15);
    });
  });

  it('discards an unusable ClientHello without an alert', async () => {
    const { drive, a, b, faults, wire } = await pair();
    wire.nominate();
    const unusable = handshakeRecord(1, 0, clientHello([0x00, 0x2f]));
    for (let i = 0; i < 20; i += 1) {
      drive.inject(b.port, { address: '192.0.2.77', port: a.port }, unusable);
    }
    const alerts: Uint8Array[] = [];
    wire.lose = (bytes) => {
      if (bytes[0] === 21) alerts.push(bytes);
      return false;
    };
    wire.run(300);
    expect(alerts).toEqual([]);
    expect(faults).toEqual([undefined, undefined]);
  });

  it('uses the same port for RTCP', async () => {
    const { drive, wire, a } = await pair();
    wire.nominate();
    wire.run(200);
    drive.advance(12_000);
    const ports = new Set(drive.drain().map(({ localPort }) => localPort));
    expect(ports.has(a.port + 1)).toBe(false);
  });
});
