import { describe, expect, it } from 'vitest';
import { readRtp, telephoneEvent, writeRtp } from '../../src/phone/rtp/packet.ts';
import { meanOpinionScore, Reception } from '../../src/phone/rtp/reception.ts';

const PACKET = {
  payloadType: 0,
  marker: true,
  sequence: 65_535,
  timestamp: 4_294_967_295,
  ssrc: 0xdeadbeef,
  payload: Buffer.from([1, 2, 3]),
};

describe('RTP packets (RFC 3550 §5.1)', () => {
  it('parses what it wrote', () => {
    expect(readRtp(writeRtp(PACKET))).toEqual(PACKET);
  });

  it('skips CSRCs, an extension and padding', () => {
    const plain = writeRtp(PACKET);
    plain[0] = 0x80 | 0x20 | 0x10 | 2;
    const extra = Buffer.from([0, 0, 0, 1, 0, 0, 0, 2, 0xbe, 0xde, 0, 1, 9, 9, 9, 9]);
    const bytes = Buffer.concat([
      plain.subarray(0, 12),
      extra,
      plain.subarray(12),
      Buffer.from([0, 2]),
    ]);
    expect(readRtp(bytes)?.payload).toEqual(PACKET.payload);
  });

  it.each([
    ['short', Buffer.alloc(11)],
    ['another version', Buffer.alloc(20)],
    ['an extension beyond the end', Buffer.from([0x90, ...new Array(11).fill(0), 0, 0, 0, 9])],
    ['more padding than payload', Buffer.from([0xa0, ...new Array(11).fill(0), 200])],
  ])('rejects %s as RTP', (_what, bytes) => {
    expect(readRtp(bytes)).toBeUndefined();
  });

  it('parses event, end bit, volume and duration of a telephone event (RFC 4733 §2.3)', () => {
    expect([...telephoneEvent('#', 800, true)]).toEqual([11, 0x8a, 0x03, 0x20]);
  });
});

describe('reception (RFC 3550)', () => {
  const perfect = (reception: Reception, from: number, count: number): void => {
    for (let i = 0; i < count; i += 1)
      reception.add((from + i) & 0xffff, (from + i) * 160, (from + i) * 20);
  };

  it('counts lost packets across the wrap of the sequence number', () => {
    const reception = new Reception();
    perfect(reception, 65_530, 4);
    perfect(reception, 65_536 + 4, 6);
    expect(reception.report()).toMatchObject({ received: 10, lost: 6 });
  });

  it('does not count a late packet as lost', () => {
    const reception = new Reception();
    for (const i of [0, 1, 3, 2, 4]) reception.add(i, i * 160, i * 20);
    expect(reception.report()).toMatchObject({ received: 5, lost: 0 });
  });

  it('counts no loss when a sender restarts', () => {
    const reception = new Reception();
    perfect(reception, 100, 10);
    perfect(reception, 40_000, 10);
    expect(reception.report()).toMatchObject({ received: 20, lost: 0, jitterMs: 0 });
  });

  it('excludes non-audio packets from loss and jitter', () => {
    const reception = new Reception();
    perfect(reception, 0, 5);
    for (let i = 5; i < 10; i += 1) reception.count(i);
    reception.add(10, 10 * 160, 10 * 20);
    expect(reception.report()).toMatchObject({ received: 11, lost: 0, jitterMs: 0 });
  });

  it('computes jitter as J += (|D| - J)/16 (§6.4.1)', () => {
    const reception = new Reception();
    reception.add(0, 0, 0);
    reception.add(1, 160, 36);
    expect(reception.report().jitterMs).toBe(1);
    for (let i = 2; i < 400; i += 1) reception.add(i, i * 160, i * 20 + (i % 2) * 16);
    expect(reception.report().jitterMs).toBeCloseTo(16, 1);
  });
});

describe('MOS (ITU-T G.107)', () => {
  it('is about 4.4 without impairments and decreases with delay and loss', () => {
    expect(meanOpinionScore(0, 0)).toBeCloseTo(4.41, 2);
    expect(meanOpinionScore(400, 0)).toBeLessThan(meanOpinionScore(150, 0));
    expect(meanOpinionScore(0, 0.05)).toBeLessThan(4);
    expect(meanOpinionScore(5000, 1)).toBe(1);
  });
});
