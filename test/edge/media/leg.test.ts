import alawmulaw from 'alawmulaw';
import { afterEach, describe, expect, it } from 'vitest';
import { asStreamId } from '../../../src/base/ids.ts';
import type { MediaLegEvents, SourceChange } from '../../../src/domain/call/needs.ts';
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
  sine,
} from './peer.ts';

const { alaw } = alawmulaw;
const STREAM = {
  streamId: asStreamId('x'),
  encoding: 'audio/x-mulaw',
  rate: 8000,
  tracks: 'inbound',
  bidirectional: false,
  extraHeadersJson: '"{}"',
  queueMs: 0,
} as const;
const engines: MediaEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

async function openLeg(
  events: MediaLegEvents = { dtmf: () => undefined, silent: () => undefined },
  mediaTimeoutMs = 0,
) {
  const { media, drive } = manualEngine();
  engines.push(media);
  const leg = await media.openLeg({ mediaTimeoutMs }, events);
  return { media, drive, leg };
}

const sent = (drive: ManualDrive) =>
  drive.drain().map((packet) => ({ ...packet, rtp: parseRtp(packet.bytes) }));

function audioOf(packets: ReturnType<typeof sent>): Int16Array {
  return Int16Array.from(packets.flatMap(({ rtp }) => [...decodeMulaw(rtp.payload)]));
}

describe('a leg sending', () => {
  it('is silent until configured, then sends a packet every 20 ms to the address in the SDP', async () => {
    const { drive, leg } = await openLeg();
    drive.advance(100);
    expect(sent(drive)).toEqual([]);
    leg.configure(REMOTE);
    drive.advance(200);
    const packets = sent(drive);
    expect(packets).toHaveLength(10);
    const [first] = packets;
    expect(first).toMatchObject({
      localPort: leg.port,
      address: REMOTE.address,
      port: REMOTE.port,
    });
    packets.forEach(({ rtp, atMs }, i) => {
      expect(atMs - first!.atMs).toBe(20 * i);
      expect(rtp.sequence).toBe((first!.rtp.sequence + i) & 0xffff);
      expect(rtp.timestamp).toBe((first!.rtp.timestamp + FRAME * i) >>> 0);
      expect(rtp.payload).toHaveLength(FRAME);
      expect(rtp.marker).toBe(i === 0);
    });
  });

  it('plays a clip to its end, with the correct pitch at any rate', async () => {
    const { drive, leg } = await openLeg();
    leg.configure(REMOTE);
    for (const rate of [8000, 16000] as const) {
      const playback = leg.play(
        { rate, samples: l16(sine(1000, rate / 5, { rate })) },
        { loop: 1, mix: false },
      );
      drive.advance(200);
      const audio = audioOf(sent(drive));
      expect(purity(audio.subarray(160, 1440), 1000)).toBeGreaterThan(0.99);
      drive.advance(40);
      expect(await playback.finished).toBe('completed');
      sent(drive);
    }
  });

  it.each([10, 20, 30, 40, 60])(
    'sends the requested packet time of %i ms at exact intervals',
    async (ptimeMs) => {
      const { drive, leg } = await openLeg();
      leg.configure({ ...REMOTE, ptimeMs });
      drive.advance(40 * ptimeMs);
      const packets = sent(drive).slice(1);
      expect(packets.length).toBeGreaterThan(35);
      packets.forEach(({ rtp, atMs }, i) => {
        expect(rtp.payload).toHaveLength(ptimeMs * 8);
        expect(atMs - packets[0]!.atMs).toBe(ptimeMs * i);
        expect(rtp.timestamp).toBe((packets[0]!.rtp.timestamp + ptimeMs * 8 * i) >>> 0);
      });
    },
  );

  it('sends nothing on hold, and its timestamps advance with time (RFC 3550 §5.1)', async () => {
    const { drive, leg } = await openLeg();
    leg.configure(REMOTE);
    drive.advance(100);
    const before = sent(drive).at(-1)!;
    leg.configure({ ...REMOTE, direction: 'inactive' });
    drive.advance(1000);
    expect(sent(drive)).toEqual([]);
    leg.configure(REMOTE);
    drive.advance(20);
    const [after] = sent(drive);
    expect(after!.rtp.sequence).toBe((before.rtp.sequence + 1) & 0xffff);
    expect((after!.rtp.timestamp - before.rtp.timestamp) >>> 0).toBe(
      8 * (after!.atMs - before.atMs),
    );
    expect(after!.rtp.marker).toBe(true);
  });
});

describe('DTMF digits', () => {
  it('are sent as RTP events: marker first, growing duration, the end three times (RFC 4733 §2.5)', async () => {
    const { drive, leg } = await openLeg();
    leg.configure(REMOTE);
    const done = leg.sendDigits('5', { toneMs: 100, gapMs: 100, inband: false });
    drive.advance(300);
    await done;
    const events = sent(drive).filter(({ rtp }) => rtp.payloadType === 101);
    expect(new Set(events.map(({ rtp }) => rtp.timestamp)).size).toBe(1);
    expect(events.map(({ rtp }) => rtp.marker)).toEqual([true, ...Array(6).fill(false)]);
    expect(events.map(({ rtp }) => rtp.payload[0])).toEqual(Array(7).fill(5));
    expect(events.map(({ rtp }) => rtp.payload[1]! >> 7)).toEqual([0, 0, 0, 0, 1, 1, 1]);
    expect(events.map(({ rtp }) => Buffer.from(rtp.payload).readUInt16BE(2))).toEqual([
      160, 320, 480, 640, 800, 800, 800,
    ]);
  });

  it('are sent as tones without telephone-event', async () => {
    const { drive, leg } = await openLeg();
    leg.configure({ ...REMOTE, telephoneEvent: undefined });
    const done = leg.sendDigits('5', { toneMs: 200, gapMs: 100, inband: false });
    drive.advance(200);
    const audio = audioOf(sent(drive));
    expect(purity(audio.subarray(160), 770)).toBeGreaterThan(0.4);
    expect(purity(audio.subarray(160), 1336)).toBeGreaterThan(0.4);
    drive.advance(200);
    await done;
  });

  it('are received once each despite repeated, lost or reordered packets (RFC 4733 §2.5.2.2)', async () => {
    const pressed: string[] = [];
    const { drive, leg } = await openLeg({
      dtmf: (digit) => pressed.push(digit),
      silent: () => undefined,
    });
    leg.configure(REMOTE);
    const peer = new Peer(drive, leg.port);
    peer.send(sine(440, FRAME));
    for (const digit of [1, 2]) {
      for (let i = 1; i <= 7; i += 1) {
        const end = i >= 5 ? 0x80 : 0;
        if (digit === 2 && i === 1) peer.sequence += 1;
        else peer.raw(101, Uint8Array.of(digit, end | 10, 0, (160 * Math.min(i, 5)) & 0xff));
        drive.advance(20);
      }
      peer.timestamp += 1600;
    }
    expect(pressed).toEqual(['1', '2']);
  });

  it('are received as tones without telephone-event', async () => {
    const pressed: string[] = [];
    const { drive, leg } = await openLeg({
      dtmf: (digit) => pressed.push(digit),
      silent: () => undefined,
    });
    leg.configure({ ...REMOTE, telephoneEvent: undefined });
    leg.hearTones(true);
    const peer = new Peer(drive, leg.port);
    const tone = sine(852, 1600, { peak: 6000 }).map(
      (value, i) => value + sine(1477, 1, { from: i, peak: 6000 })[0]!,
    );
    for (let i = 0; i < 30; i += 1) {
      peer.send(i < 10 ? tone.slice(i * FRAME, (i + 1) * FRAME) : new Int16Array(FRAME));
      drive.advance(20);
    }
    expect(pressed).toEqual(['9']);
  });

  it('count once if sent both as tones and by SIP INFO, in any order', async () => {
    const pressed: string[] = [];
    const { drive, leg } = await openLeg({
      dtmf: (digit) => pressed.push(digit),
      silent: () => undefined,
    });
    leg.configure({ ...REMOTE, telephoneEvent: undefined });
    leg.hearTones(true);
    const peer = new Peer(drive, leg.port);
    const nine = sine(852, 800, { peak: 6000 }).map(
      (value, i) => value + sine(1477, 1, { from: i, peak: 6000 })[0]!,
    );
    const say = (samples: Int16Array): void => {
      for (let i = 0; i < 10; i += 1) {
        const frame = samples.slice(i * FRAME, (i + 1) * FRAME);
        peer.send(frame.length === FRAME ? frame : new Int16Array(FRAME));
        drive.advance(20);
      }
    };
    say(nine);
    leg.pressed('9');
    leg.pressed('9');
    say(nine);
    expect(pressed).toEqual(['9', '9']);
    leg.pressed('1');
    leg.pressed('1');
    expect(pressed).toEqual(['9', '9', '1', '1']);
  });
});

describe('source address of a peer', () => {
  it('is learned from consistent packets of one other source; later unknown sources are ignored', async () => {
    const changes: SourceChange[] = [];
    const { media, drive, leg } = await openLeg({
      dtmf: () => undefined,
      silent: () => undefined,
      sourceChanged: (change) => changes.push(change),
    });
    leg.configure({ ...REMOTE, signallingAddress: '203.0.113.9' });
    const nat = new Peer(drive, leg.port, { address: '203.0.113.9', port: 61_000 });
    for (let i = 0; i < 4; i += 1) {
      nat.send(sine(440, FRAME));
      drive.advance(20);
    }
    drive.advance(20);
    expect(changes).toEqual([{ address: '203.0.113.9', port: 61_000, reason: 'learned' }]);
    expect(media.counters().sourceChanges).toBe(1);
    expect(sent(drive).at(-1)).toMatchObject({ address: '203.0.113.9', port: 61_000 });
    const unknownPeer = new Peer(drive, leg.port, { address: '203.0.113.66', port: 9 });
    const before = media.counters().unknownSources;
    for (let i = 0; i < 20; i += 1) unknownPeer.send(sine(440, FRAME));
    drive.advance(20);
    expect(media.counters().unknownSources - before).toBe(20);
    expect(sent(drive).at(-1)).toMatchObject({ address: '203.0.113.9' });
  });

  it('is the address in the SDP, regardless of a learned one, from its first packet on', async () => {
    const reasons: string[] = [];
    const { drive, leg } = await openLeg({
      dtmf: () => undefined,
      silent: () => undefined,
      sourceChanged: ({ reason }) => reasons.push(reason),
    });
    leg.configure({ ...REMOTE, acceptOtherSources: true });
    const unknownPeer = new Peer(drive, leg.port, { address: '203.0.113.66', port: 9 }, 66);
    const owner = new Peer(drive, leg.port);
    for (let i = 0; i < 25; i += 1) {
      unknownPeer.send(sine(440, FRAME));
      drive.advance(20);
    }
    expect(sent(drive).at(-1)?.address).toBe('203.0.113.66');
    for (let i = 0; i < 50; i += 1) {
      owner.send(sine(440, FRAME));
      unknownPeer.send(sine(440, FRAME));
      drive.advance(20);
    }
    expect(reasons).toEqual(['learned', 'signalled']);
    expect(sent(drive).every(({ address }) => address === REMOTE.address)).toBe(true);
    expect(leg.quality().packetsLost).toBe(0);
  });

  it('is never an address other than those of SDP and signalling', async () => {
    const { media, drive, leg } = await openLeg();
    leg.configure({
      ...REMOTE,
      address: '',
      describedAddress: '10.0.0.9',
      signallingAddress: '203.0.113.9',
    });
    const third = new Peer(drive, leg.port, { address: '203.0.113.66', port: 9 });
    const listen = (peer: Peer, packets: number): void => {
      for (let i = 0; i < packets; i += 1) {
        peer.send(sine(440, FRAME));
        drive.advance(20);
      }
    };
    listen(third, 300);
    expect(sent(drive)).toEqual([]);
    expect(media.counters().unknownSources).toBe(300);
    listen(new Peer(drive, leg.port, { address: '10.0.0.9', port: 7000 }), 20);
    expect(sent(drive).at(-1)).toMatchObject({ address: '10.0.0.9', port: 7000 });
    // A host name in the SDP does not restrict the source.
    leg.configure({ ...REMOTE, address: '', describedAddress: 'phone.example' });
  });

  it('may have the other address family only if the signalling has that address', async () => {
    const { media, drive, leg } = await openLeg();
    const six = new Peer(drive, leg.port, { address: '2001:db8::66', port: 9 });
    const say = (packets: number): void => {
      for (let i = 0; i < packets; i += 1) {
        six.send(sine(440, FRAME));
        drive.advance(20);
      }
    };
    leg.configure({ ...REMOTE, signallingAddress: '203.0.113.9' });
    say(20);
    expect(media.counters()).toMatchObject({ unknownSources: 20, sourceChanges: 0 });
    leg.configure({ ...REMOTE, signallingAddress: '2001:db8::66' });
    say(20);
    expect(sent(drive).at(-1)).toMatchObject({ address: '2001:db8::66', port: 9 });
  });

  it('is not learned from RTCP of an unknown source, even on the same host', async () => {
    const { drive, leg } = await openLeg();
    leg.configure(REMOTE);
    const owner = new Peer(drive, leg.port);
    const report = Buffer.from('80c9000100000000', 'hex');
    const speak = (seconds: number): void => {
      for (let i = 0; i < 50 * seconds; i += 1) {
        owner.send(sine(440, FRAME));
        drive.advance(20);
      }
    };
    const reportsTo = (): number[] =>
      sent(drive)
        .filter(({ localPort }) => localPort === leg.port + 1)
        .map(({ port }) => port);
    speak(1);
    report.writeUInt32BE(0xbad, 4);
    drive.inject(leg.port + 1, { address: REMOTE.address, port: 9 }, report);
    speak(20);
    expect(new Set(reportsTo())).toEqual(new Set([REMOTE.port + 1]));
    report.writeUInt32BE(owner.ssrc, 4);
    drive.inject(leg.port + 1, { address: REMOTE.address, port: 40_500 }, report);
    speak(20);
    expect(new Set(reportsTo())).toEqual(new Set([40_500]));
  });
});

describe('a leg receiving', () => {
  it('reports a media timeout once if no RTP arrives for the configured time, except on hold', async () => {
    let silences = 0;
    const { drive, leg } = await openLeg(
      {
        dtmf: () => undefined,
        silent: () => {
          silences += 1;
        },
      },
      1000,
    );
    leg.configure(REMOTE);
    drive.advance(990);
    expect(silences).toBe(0);
    drive.advance(100);
    expect(silences).toBe(1);
    drive.advance(5000);
    expect(silences).toBe(1);
    // A new configuration, such as the answer after early media, restarts the timeout.
    leg.configure(REMOTE);
    drive.advance(990);
    expect(silences).toBe(1);
    drive.advance(100);
    expect(silences).toBe(2);
    new Peer(drive, leg.port).send(sine(440, FRAME));
    leg.configure({ ...REMOTE, direction: 'sendonly' });
    drive.advance(5000);
    expect(silences).toBe(2);
  });

  it('counts loss, lateness and jitter, keeps them after close, and computes a mean opinion score', async () => {
    const { drive, leg } = await openLeg();
    leg.configure(REMOTE);
    const peer = new Peer(drive, leg.port);
    for (let i = 0; i < 500; i += 1) {
      if (i % 50 === 10) peer.lose();
      else peer.send(sine(440, FRAME, { from: i * FRAME }));
      drive.advance(20);
    }
    const quality = leg.close();
    expect(quality).toMatchObject({ packetsReceived: 490, packetsLost: 10, packetsLate: 0 });
    expect(quality.lossFraction).toBeCloseTo(0.02, 3);
    expect(quality.jitterMs).toBeLessThan(0.1);
    expect(quality.mos).toBeGreaterThan(3.9);
    expect(quality.mos).toBeLessThan(4.4);
    expect(leg.quality()).toEqual(quality);
  });

  it('exchanges RTCP reports with its peer and measures the round-trip time (RFC 3550 §6.4)', async () => {
    const { drive, leg } = await openLeg();
    leg.configure(REMOTE);
    const peer = new Peer(drive, leg.port);
    const reports: Buffer[] = [];
    for (let i = 0; i < 2000; i += 1) {
      peer.send(sine(440, FRAME, { from: i * FRAME }));
      drive.advance(20);
      for (const packet of drive.drain()) {
        if (packet.localPort !== leg.port + 1) continue;
        expect(packet.port).toBe(REMOTE.port + 1);
        const report = Buffer.from(packet.bytes);
        reports.push(report);
        // The peer sends a receiver report about our stream 100 ms later.
        drive.advance(100);
        const answer = Buffer.alloc(32);
        answer.writeUInt32BE(0x81c90007, 0);
        answer.writeUInt32BE(peer.ssrc, 4);
        report.copy(answer, 8, 4, 8);
        report.copy(answer, 24, 10, 14);
        answer.writeUInt32BE(Math.round(0.04 * 65_536), 28);
        drive.inject(leg.port + 1, { address: REMOTE.address, port: REMOTE.port + 1 }, answer);
      }
    }
    expect(reports.length).toBeGreaterThan(2);
    expect(reports[0]!.readUInt32BE(28)).toBe(peer.ssrc);
    drive.advance(20);
    const quality = leg.close();
    expect(quality.roundTripMs).toBeGreaterThanOrEqual(60);
    expect(quality.roundTripMs).toBeLessThan(85);
    const goodbye = drive.drain().find(({ localPort }) => localPort === leg.port + 1);
    expect(goodbye?.bytes.at(-7)).toBe(203);
  });

  it('sends no RTCP to a peer with unknown address until the peer has sent some', async () => {
    const { drive, leg } = await openLeg();
    leg.configure({ ...REMOTE, rtcpLearned: true });
    const peer = new Peer(drive, leg.port);
    const reportsTo = (frames: number): number[] => {
      for (let i = 0; i < frames; i += 1) {
        peer.send(sine(440, FRAME));
        drive.advance(20);
      }
      return drive.drain().flatMap(({ localPort, port }) => (localPort > leg.port ? port : []));
    };
    expect(reportsTo(1000)).toEqual([]);
    const report = Buffer.alloc(8);
    report.writeUInt32BE(0x80c90001, 0);
    report.writeUInt32BE(peer.ssrc, 4);
    drive.inject(leg.port + 1, { address: REMOTE.address, port: REMOTE.port + 7 }, report);
    expect(new Set(reportsTo(1000))).toEqual(new Set([REMOTE.port + 7]));
  });

  it('sends and receives PCMA too', async () => {
    const { drive, leg } = await openLeg();
    leg.configure({
      ...REMOTE,
      codec: { ...REMOTE.codec, name: 'PCMA' },
      payloadType: { send: 8, receive: 8 },
    });
    leg.play({ rate: 8000, samples: l16(sine(1000, 8000)) }, { loop: 1, mix: false });
    drive.advance(500);
    const packets = sent(drive);
    expect(packets.every(({ rtp }) => rtp.payloadType === 8)).toBe(true);
    const audio = Int16Array.from(packets.flatMap(({ rtp }) => [...alaw.decode(rtp.payload)]));
    expect(purity(audio.subarray(320), 1000)).toBeGreaterThan(0.999);

    const received: number[] = [];
    const other = leg.openStream(STREAM, {
      media: (messages) => {
        for (const bytes of messages) {
          const payload = /"payload":"([^"]*)"/.exec(Buffer.from(bytes).toString())?.[1] ?? '';
          received.push(...decodeMulaw(Buffer.from(payload, 'base64')));
        }
      },
      played: () => undefined,
      degraded: () => undefined,
      dtmf: () => undefined,
    });
    const peer = new Peer(drive, leg.port);
    for (let i = 0; i < 25; i += 1) {
      peer.raw(8, alaw.encode(sine(600, FRAME, { from: i * FRAME })));
      peer.timestamp += FRAME;
      drive.advance(20);
    }
    expect(purity(Int16Array.from(received.slice(320)), 600)).toBeGreaterThan(0.99);
    other.close();
  });

  it('moves to a new address after a re-INVITE without interrupting playback', async () => {
    const { drive, leg } = await openLeg();
    leg.configure(REMOTE);
    leg.play({ rate: 8000, samples: l16(sine(1000, 16_000)) }, { loop: 1, mix: false });
    new Peer(drive, leg.port).send(sine(440, FRAME));
    drive.advance(500);
    sent(drive);
    leg.configure({ ...REMOTE, address: '192.0.2.99', port: 5000 });
    drive.advance(500);
    const packets = sent(drive);
    expect(packets).toHaveLength(25);
    for (const packet of packets) {
      expect(packet).toMatchObject({ address: '192.0.2.99', port: 5000 });
    }
    expect(purity(audioOf(packets), 1000)).toBeGreaterThan(0.999);
    const moved = new Peer(drive, leg.port, { address: '192.0.2.99', port: 5000 });
    moved.sequence += 1;
    moved.timestamp += 8000;
    moved.send(sine(440, FRAME));
    drive.advance(20);
    expect(leg.quality().packetsReceived).toBe(2);
  });

  it('receives the other leg of a bridge in both directions, and is silent when it ends', async () => {
    const { media, drive, leg: a } = await openLeg();
    const b = await media.openLeg(
      { mediaTimeoutMs: 0 },
      { dtmf: () => undefined, silent: () => undefined },
    );
    a.configure(REMOTE);
    b.configure({ ...REMOTE, address: '192.0.2.8' });
    const bridge = media.bridge(a, b);
    const alice = new Peer(drive, a.port);
    const bob = new Peer(drive, b.port, { address: '192.0.2.8', port: REMOTE.port });
    for (let i = 0; i < 50; i += 1) {
      alice.send(sine(400, FRAME, { from: i * FRAME }));
      bob.send(sine(1000, FRAME, { from: i * FRAME }));
      drive.advance(20);
    }
    const packets = sent(drive);
    const receivedBy = (port: number) =>
      audioOf(packets.filter(({ localPort }) => localPort === port)).subarray(2400);
    expect(purity(receivedBy(a.port), 1000)).toBeGreaterThan(0.99);
    expect(purity(receivedBy(b.port), 400)).toBeGreaterThan(0.99);
    bridge.close();
    drive.advance(100);
    sent(drive);
    drive.advance(100);
    expect(audioOf(sent(drive)).every((value) => value === 0)).toBe(true);
  });
});
