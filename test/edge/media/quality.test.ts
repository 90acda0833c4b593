/** Quality statistics of a leg: correct values locally and in reports to the peer. */
import { afterEach, describe, expect, it } from 'vitest';
import type { MediaSession } from '../../../src/domain/call/needs.ts';
import type { MediaEngine } from '../../../src/edge/media/engine.ts';
import { encodeMulaw, FRAME, manualEngine, REMOTE, rtp, sine } from './peer.ts';

const engines: MediaEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

const SSRC = 77;
const SPEECH = encodeMulaw(sine(500, FRAME));

async function call(session: Partial<MediaSession> = {}) {
  const { media, drive } = manualEngine();
  engines.push(media);
  const leg = await media.openLeg(
    { mediaTimeoutMs: 0 },
    { dtmf: () => undefined, silent: () => undefined },
  );
  leg.configure({ ...REMOTE, ...session });
  const reports: Buffer[] = [];
  let sentSsrc = 0;
  /** Delivers packets at the given times in ms; undefined means lost. */
  const run = (packets: number, arrival: (n: number) => number | undefined): void => {
    const due = Array.from({ length: packets }, (_, n) => ({ n, at: arrival(n) }))
      .filter((each): each is { n: number; at: number } => each.at !== undefined)
      .sort((a, b) => a.at - b.at);
    let next = 0;
    for (let now = 0; now <= packets * 20 + 300; now += 1) {
      drive.advance(1);
      for (; (due[next]?.at ?? Number.POSITIVE_INFINITY) <= now; next += 1) {
        const n = due[next]?.n ?? 0;
        const packet = { sequence: n, timestamp: n * FRAME, ssrc: SSRC, payload: SPEECH };
        drive.inject(leg.port, { address: REMOTE.address, port: REMOTE.port }, rtp(packet));
      }
      for (const { port, bytes } of drive.drain()) {
        const packet = Buffer.from(bytes);
        if (port === REMOTE.port + 1) reports.push(packet);
        else sentSsrc = packet.readUInt32BE(8);
      }
    }
  };
  const notify = (bytes: Uint8Array): void => {
    drive.inject(leg.port + 1, { address: REMOTE.address, port: REMOTE.port + 1 }, bytes);
    drive.advance(400);
  };
  return { leg, run, notify, reports, sentSsrc: () => sentSsrc };
}

describe('statistics of received audio', () => {
  it('reports 4 % loss locally and to the peer', async () => {
    const { leg, run, reports } = await call();
    run(2000, (n) => (n % 25 === 12 ? undefined : n * 20));
    expect(leg.quality().lossFraction).toBeCloseTo(0.04, 3);
    expect(leg.quality()).toMatchObject({ packetsLost: 80, discardFraction: 0 });
    const blocks = reports.map((report) => report.subarray(28, 52));
    expect(blocks.length).toBeGreaterThan(4);
    const last = blocks.at(-1)!;
    expect(last.readUInt32BE(0)).toBe(SSRC);
    expect(last[4]! / 256).toBeCloseTo(0.04, 1);
    const highest = last.readUInt32BE(8);
    expect(last.readUIntBE(5, 3) / (highest + 1)).toBeCloseTo(0.04, 2);
  });

  it('counts late packets of a busy sender as discarded, separately from loss', async () => {
    const { leg, run, reports } = await call();
    // Every two seconds the sender stops for 160 ms and then sends all of it.
    run(1500, (n) => (n % 100 < 8 && n > 100 ? (n - (n % 100) + 8) * 20 : n * 20));
    const quality = leg.quality();
    expect(quality).toMatchObject({ packetsLost: 0, lossFraction: 0 });
    expect(quality.packetsLate).toBeGreaterThan(0);
    expect(quality.discardFraction).toBeCloseTo(quality.packetsLate / 1500, 3);
    expect(reports.every((report) => report.readUIntBE(28 + 5, 3) === 0)).toBe(true);
  });

  it('reports bursts with density and lengths, and rates them worse than single losses', async () => {
    const single = await call();
    single.run(2000, (n) => (n % 25 === 12 ? undefined : n * 20));
    const burst = await call();
    burst.run(2000, (n) => (n % 100 >= 50 && n % 100 < 54 ? undefined : n * 20));
    expect(burst.leg.quality().lossFraction).toBeCloseTo(0.04, 3);
    expect(burst.leg.quality()).toMatchObject({ burstDensity: 1, burstMs: 80 });
    expect(burst.leg.quality().gapMs).toBeCloseTo(1940, -2);
    expect(single.leg.quality()).toMatchObject({ burstDensity: 0, burstMs: 0 });
    expect(burst.leg.quality().mos!).toBeLessThan(single.leg.quality().mos!);
  });
});

describe('reports of the peer', () => {
  const receiverReport = (about: number, lost: number, highest: number): Buffer => {
    const report = Buffer.alloc(32);
    report.set([0x81, 201, 0, 7]);
    report.writeUInt32BE(SSRC, 4);
    report.writeUInt32BE(about, 8);
    report.writeUIntBE(lost, 13, 3);
    report.writeUInt32BE(highest, 16);
    report.writeUInt32BE(80, 20);
    return report;
  };

  it('describe our audio at the peer: loss, jitter and a separate MOS', async () => {
    const { leg, run, notify, sentSsrc } = await call();
    run(500, (n) => n * 20);
    expect(leg.quality().peer).toBeUndefined();
    const sent = leg.quality().packetsSent;
    // The sequence numbers are not ours, so the loss relates to the packets that we sent.
    notify(receiverReport(sentSsrc(), Math.round(sent * 0.1), 0x7fffffff));
    const { peer, mos } = leg.quality();
    expect(peer?.lossFraction).toBeCloseTo(0.1, 2);
    expect(peer?.jitterMs).toBe(10);
    expect(peer!.mos).toBeLessThan(3.5);
    expect(mos).toBeGreaterThan(4.2);
  });

  it('include VoIP metrics (RFC 3611) in both directions if requested', async () => {
    const plain = await call();
    plain.run(400, (n) => n * 20);
    expect(plain.reports.some((report) => report.includes(Buffer.from([207, 0, 10])))).toBe(false);
    const { leg, run, reports, notify, sentSsrc } = await call({ voipMetrics: true });
    run(1000, (n) => (n % 25 === 12 ? undefined : n * 20));
    const last = reports.at(-1)!;
    const at = last.indexOf(Buffer.from([0x80, 207, 0, 10]));
    const block = last.subarray(at + 8);
    expect([block[0], block.readUInt16BE(2), block.readUInt32BE(4)]).toEqual([7, 8, SSRC]);
    expect(block[8]).toBe(10); // 4 % of 256
    expect(block[23]).toBe(16);
    expect(block[27]).toBeGreaterThan(35);
    const theirs = Buffer.concat([receiverReport(sentSsrc(), 0, 1), last.subarray(at, at + 44)]);
    theirs.writeUInt32BE(SSRC, 32 + 4);
    theirs.writeUInt32BE(sentSsrc(), 32 + 12);
    theirs[32 + 8 + 27] = 21;
    notify(theirs);
    expect(leg.quality().peer?.mos).toBeCloseTo(2.1);
  });
});
