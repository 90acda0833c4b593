import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asStreamId } from '../../../src/base/ids.ts';
import { answeredTimeMs, micros } from '../../../src/base/money.ts';
import type { CallEnd } from '../../../src/domain/cdr/billing.ts';
import { chargeAt, chargesOf, closeCall, closeStream, dueAt } from '../../../src/domain/cdr/cdr.ts';
import type { OpenStream } from '../../../src/domain/cdr/needs.ts';
import { aCdr, anOpenCall, START_US } from '../../edge/store/records.ts';

const end = (seconds: number): CallEnd => ({
  endUs: START_US + seconds * 1_000_000,
  hangupCause: 'NORMAL_CLEARING',
  hangupCauseCode: 4000,
  hangupCauseName: 'Normal Hangup',
  hangupSource: 'Caller',
  hangupDisposition: 'recv_bye',
});
const stream = (over: Partial<OpenStream> = {}): OpenStream => ({
  streamId: asStreamId('s1'),
  serviceUrl: 'ws://127.0.0.1/',
  audioTrack: 'inbound',
  bidirectional: true,
  contentType: 'audio/x-l16;rate=8000',
  startUs: START_US + 2_000_000,
  earlierUs: 0,
  sinceUs: over.startUs ?? START_US + 2_000_000,
  endUs: undefined,
  perMinute: micros(3_000),
  pulseMs: 60_000,
  ...over,
});
const open = (over: object = {}, streams: readonly OpenStream[] = []) =>
  anOpenCall({ cdr: aCdr({ billedMs: 0, cost: micros(0), ...over }), streams });

describe('a charge never exceeds what was reserved', () => {
  it('for any call length, streams and prices', () => {
    const money = fc.integer({ min: 0, max: 200_000 }).map(micros);
    const aStream = fc.record({
      startS: fc.integer({ min: 0, max: 300 }),
      closed: fc.boolean(),
      perMinute: money,
    });
    fc.assert(
      fc.property(
        fc.record({
          lengthMs: fc.integer({ min: 0, max: 600_000 }),
          pulse: fc.constantFrom(1000, 6000, 60_000),
          perMinute: money,
          reserved: money,
          streams: fc.array(aStream, { maxLength: 4 }),
        }),
        ({ lengthMs, pulse, perMinute, reserved, streams }) => {
          const all = streams.map(({ startS, perMinute: price }, i) =>
            stream({
              streamId: asStreamId(`s${i}`),
              startUs: START_US + startS * 1_000_000,
              perMinute: price,
            }),
          );
          const isClosed = (_: unknown, i: number): boolean => streams[i]?.closed === true;
          const { endUs } = end(lengthMs / 1000);
          const call = {
            ...open({ answerUs: START_US, perMinute }),
            pulseMs: pulse,
            reserved,
            streams: all.filter((_, i) => !isClosed(_, i)),
          };
          const closed = all
            .filter(isClosed)
            .map((one) => closeStream(one, endUs, 'USD', 'Call hangup'));
          const cdr = closeCall(
            { ...call, cdr: { ...call.cdr, streams: closed } },
            end(lengthMs / 1000),
            'Call hangup',
          );
          const charged = chargesOf(cdr).reduce((sum, { amount }) => sum + amount, 0);
          expect(charged).toBeLessThanOrEqual(reserved);
          expect(charged).toBe(cdr.cost + cdr.streamingCost);
          // Shown, rounded and paid time are consistent.
          if (cdr.billedMs > 0) {
            const billsec = answeredTimeMs(cdr.answerUs, cdr.endUs);
            expect(cdr.billedMs).toBe(Math.ceil(billsec / pulse) * pulse);
          }
        },
      ),
    );
  });

  it('after a crash: charges the reservation, not the cost up to the heartbeat', () => {
    const call = { ...open({ answerUs: START_US }), reserved: micros(6_500) };
    const cdr = closeCall(call, end(200), 'Connection error');
    expect(cdr).toMatchObject({ billedMs: 60_000, cost: 6_500, endUs: START_US + 60_000_000 });
  });

  it('records a stream without money as ended at its start', () => {
    const call = { ...open({ answerUs: START_US }, [stream()]), reserved: micros(6_500) };
    const cdr = closeCall(call, end(3), 'Call hangup');
    expect(cdr.streams).toMatchObject([
      { billedMs: 0, billedAmount: 0, endUs: START_US + 2_000_000 },
    ]);
  });
});

describe('the end of a call', () => {
  it('bills nothing and adds no entry for an unanswered leg', () => {
    const cdr = closeCall(open({ answerUs: undefined }), end(30), 'Call hangup');
    expect(cdr).toMatchObject({ billedMs: 0, cost: 0 });
    expect(chargesOf(cdr)).toEqual([]);
  });

  it('bills answered time by started pulses, without ringing (spec: Limits, billing pulse)', () => {
    const cdr = closeCall(open({ answerUs: START_US + 10_000_000 }), end(70), 'Call hangup');
    expect(cdr).toMatchObject({ billedMs: 60_000, cost: 6_500 });
  });

  it('adds separate entries with separate references for voice and each stream', () => {
    const call = open({}, [
      stream(),
      stream({ streamId: asStreamId('s2'), earlierUs: 20_000_000 }),
    ]);
    const cdr = closeCall(call, end(45), 'Call hangup');
    expect(cdr.streamingCost).toBe(3_000 + 6_000);
    expect(
      chargesOf(cdr).map(({ reference, referenceType, amount }) => [
        reference,
        referenceType,
        amount,
      ]),
    ).toEqual([
      [`cdr:${cdr.callUuid}`, 'cdr', 6_500],
      ['stream_cdr:s1', 'stream_cdr', 3_000],
      ['stream_cdr:s2', 'stream_cdr', 6_000],
    ]);
  });

  it('charges a reconnecting stream once, for its connected time', () => {
    const at = (seconds: number): number => START_US + seconds * 1_000_000;
    // Two connections (2 to 12 s, and from 40 s on) with 28 s between them.
    const reconnected = stream({ earlierUs: 10_000_000, sinceUs: at(40) });
    const once = closeCall(open({}, [reconnected]), end(85), 'Call hangup');
    expect(once.streams).toMatchObject([
      { streamId: 's1', startUs: at(2), endUs: at(85), connectedUs: 55_000_000, billedMs: 60_000 },
    ]);
    expect(chargesOf(once).filter(({ referenceType }) => referenceType === 'stream_cdr')).toEqual([
      expect.objectContaining({ reference: 'stream_cdr:s1', amount: 3_000 }),
    ]);
  });

  it('charges a stream with failed reconnects up to its last connection, also after a crash', () => {
    const lost = stream({ endUs: START_US + 32_000_000 });
    const [closed] = closeCall(open({}, [lost]), end(45), 'Call hangup').streams;
    expect(closed).toMatchObject({
      endUs: START_US + 32_000_000,
      connectedUs: 30_000_000,
      billedMs: 60_000,
    });
  });

  it('does not bill a recorded stream again', () => {
    const first = closeCall(open({}, [stream()]), end(45), 'Call hangup');
    const again = closeCall({ ...open({}, [stream()]), cdr: first }, end(45), 'Call hangup');
    expect(again.streams).toEqual(first.streams);
  });

  it('charges the cost shown in the record', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20_000 }),
        fc.integer({ min: 0, max: 1_000_000 }),
        fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 4 }),
        (seconds, rate, streamEnds) => {
          const streams = streamEnds.map((at, index) =>
            stream({
              streamId: asStreamId(`s${index}`),
              endUs: START_US + 2_000_000 + at * 1_000_000,
            }),
          );
          const cdr = closeCall(
            open({ perMinute: micros(rate) }, streams),
            end(seconds),
            'Call hangup',
          );
          const charged = chargesOf(cdr).reduce((sum, entry) => sum + entry.amount, 0);
          expect(charged).toBe(cdr.cost + cdr.streamingCost);
        },
      ),
    );
  });
});

describe('the amount that a running call must have reserved', () => {
  const at = (seconds: number): number => START_US + seconds * 1_000_000;
  const call = (
    over: object,
    streams: readonly OpenStream[] = [],
    past: readonly number[] = [],
  ) => ({
    answerUs: START_US,
    price: { perMinute: micros(6_000), pulseMs: 60_000 },
    streams: { open: streams, past: past.map((amount) => ({ billedAmount: micros(amount) })) },
    ...over,
  });

  it('includes the pulse that starts now; its charge does not', () => {
    expect(dueAt(call({}), at(59))).toBe(6_000);
    expect(dueAt(call({}), at(60))).toBe(12_000);
    expect(chargeAt(call({}), at(60))).toBe(6_000);
  });

  it('is the first pulse before the answer, which costs nothing', () => {
    expect(dueAt(call({ answerUs: undefined }), at(600))).toBe(6_000);
    expect(chargeAt(call({ answerUs: undefined }), at(600))).toBe(0);
  });

  it('adds streams: past ones, and the started pulses of connected ones', () => {
    expect(dueAt(call({}, [stream()], [500]), at(62))).toBe(12_000 + 6_000 + 500);
    expect(chargeAt(call({}, [stream()], [500]), at(62))).toBe(12_000 + 3_000 + 500);
  });

  it('adds no pulse of a stream that is disconnected', () => {
    const lost = stream({ endUs: at(62) });
    expect(dueAt(call({}, [lost]), at(63))).toBe(12_000 + 3_000);
  });
});

describe('a shortened end', () => {
  const at = (seconds: number): number => START_US + seconds * 1_000_000;

  it('takes the money of earlier streams from later ones', () => {
    const streams = ['s1', 's2', 's3'].map((id) => stream({ streamId: asStreamId(id) }));
    const call = { ...open({ answerUs: START_US }, streams), reserved: micros(6_500 + 6_500) };
    const cdr = closeCall(call, end(45), 'Call hangup');
    expect(cdr.streams.map(({ billedAmount }) => billedAmount)).toEqual([3_000, 3_000, 0]);
  });

  it('bills a stream for the whole pulses that remain, and moves its end back', () => {
    const call = { ...open({ answerUs: START_US }, [stream()]), reserved: micros(26_000 + 8_999) };
    const cdr = closeCall({ ...call, streamPulseMs: 60_000 }, end(200), 'Call hangup');
    expect(cdr).toMatchObject({ billedMs: 240_000, cost: 26_000 });
    expect(cdr.streams).toMatchObject([
      { billedMs: 120_000, billedAmount: 6_000, connectedUs: 120_000_000, endUs: at(122) },
    ]);
  });

  it('does not lengthen a stream whose last pulse had only begun', () => {
    const call = { ...open({ answerUs: START_US }, [stream()]), reserved: micros(6_500 + 3_000) };
    const cdr = closeCall(call, end(50), 'Call hangup');
    expect(cdr.streams).toMatchObject([
      { billedMs: 60_000, billedAmount: 3_000, connectedUs: 48_000_000, endUs: at(50) },
    ]);
  });

  it('of a call keeps a stream within the call', () => {
    const later = stream({ startUs: at(100), sinceUs: at(100) });
    const call = { ...open({ answerUs: START_US }, [later]), reserved: micros(6_500) };
    const cdr = closeCall(call, end(150), 'Connection error');
    expect(cdr.endUs).toBe(at(60));
    expect(cdr.streams).toMatchObject([{ startUs: at(100), endUs: at(100), billedAmount: 0 }]);
  });
});
