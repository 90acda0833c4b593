/** RTCP reports of running calls sent to Homer. */
import { describe, expect, it } from 'vitest';
import type { MediaQuality } from '../../src/base/media-quality.ts';
import type { Call } from '../../src/domain/call/call.ts';
import type { HepExporter } from '../../src/edge/sip/trace/hep-exporter.ts';
import { MediaReports } from '../../src/service/media-reports.ts';
import { SimClock } from '../sim/clock.ts';

const QUALITY: MediaQuality = {
  packetsReceived: 250,
  packetsSent: 200,
  packetsLost: 5,
  packetsLate: 1,
  jitterMs: 4,
  lossFraction: 0.02,
  mos: 4.1,
  roundTripMs: 30,
};
const PEER = { lossFraction: 0.5, jitterMs: 2, mos: 2.5 };

type Report = Parameters<HepExporter['report']>[0];

function sampled(quality: MediaQuality, more: object = {}): readonly Report[] {
  const reported: Report[] = [];
  const exporter = { report: (report: Report) => reported.push(report) } as unknown as HepExporter;
  const call = {
    uuid: 'a',
    isAnswered: true,
    identity: { parentCallUuid: 'root' },
    peer: {},
    media: { address: '192.0.2.1', port: 4000, remote: { address: '192.0.2.9', port: 5001 } },
    ...more,
  };
  new MediaReports(exporter, new SimClock()).sampled(call as unknown as Call, quality);
  return reported;
}

const textOf = ({ payload }: Report) => JSON.parse(Buffer.from(payload).toString());

describe('reports of a leg', () => {
  it("contain the received quality from this service, and the peer's report from the peer", () => {
    const [ours, theirs, ...more] = sampled({ ...QUALITY, peer: PEER });
    expect(more).toEqual([]);
    if (ours === undefined || theirs === undefined) throw new Error('not told');
    expect(ours).toMatchObject({ from: { port: 4001 }, to: { port: 5001 }, correlation: 'root' });
    expect(textOf(ours)).toMatchObject({
      type: 200,
      sender_information: { packets: 200 },
      mos: 4.1,
      rtt_ms: 30,
      report_blocks: [{ fraction_lost: 5, packets_lost: 5, ia_jitter: 32 }],
    });
    expect(theirs).toMatchObject({ from: ours.to, to: ours.from, correlation: 'root' });
    expect(textOf(theirs)).toMatchObject({
      type: 201,
      mos: 2.5,
      rtt_ms: 30,
      report_blocks: [{ fraction_lost: 128, packets_lost: 100, ia_jitter: 16 }],
    });
  });

  it("omit the peer's report without its RTCP, and are not sent for unanswered calls", () => {
    expect(sampled(QUALITY)).toHaveLength(1);
    expect(sampled({ ...QUALITY, peer: PEER }, { isAnswered: false })).toEqual([]);
  });
});
