import { describe, expect, it } from 'vitest';
import { asAccountId } from '../../../src/base/ids.ts';
import { micros } from '../../../src/base/money.ts';
import { AlarmBook, CallTrends } from '../../../src/domain/alarm/alarm.ts';
import type { Condition } from '../../../src/domain/alarm/types.ts';
import type { Cdr } from '../../../src/domain/cdr/types.ts';
import { aCdr } from '../../edge/store/records.ts';

const MINUTE_MS = 60_000;
const LIMITS = { answerRatioPercent: 0, spendFactor: 5, spendFloor: 10 };
const TIMES = { carrierDownMs: MINUTE_MS, clearMs: 15 * MINUTE_MS };
const NOW_US = 1_000_000;
const disk: Condition = { kind: 'disk', subject: '/data', detail: '1 GiB free' };
const down: Condition = { kind: 'carrier_down', subject: 'main', detail: 'no answer' };

describe('an alarm', () => {
  it('is reported once when raised and once when cleared', () => {
    const book = new AlarmBook(TIMES);
    const states = [0, 1, 2, 30, 31].map((minute) =>
      book.update(minute <= 2 ? [disk] : [], minute * MINUTE_MS, NOW_US).map(({ state }) => state),
    );
    expect(states).toEqual([['raised'], [], [], ['cleared'], []]);
    expect(book.list()).toEqual([]);
  });

  it('is reported once while it flaps', () => {
    const book = new AlarmBook(TIMES);
    const changes = Array.from({ length: 60 }, (_, minute) =>
      book.update(minute % 10 === 0 ? [disk] : [], minute * MINUTE_MS, NOW_US),
    ).flat();
    expect(changes.map(({ state }) => state)).toEqual(['raised']);
    expect(book.list()).toMatchObject([{ kind: 'disk', subject: '/data', sinceUs: NOW_US }]);
  });

  it('is raised for a carrier after one minute, so that a single lost response is ignored', () => {
    const book = new AlarmBook(TIMES);
    expect(book.update([down], 0, NOW_US)).toEqual([]);
    expect(book.update([], 30_000, NOW_US)).toEqual([]);
    expect(book.update([down], 60_000, NOW_US)).toEqual([]);
    expect(book.update([down], 120_000, NOW_US)).toMatchObject([{ state: 'raised' }]);
  });

  it('is dropped beyond the limit, so that the list stays bounded', () => {
    const book = new AlarmBook(TIMES);
    const many = Array.from({ length: 600 }, (_, n) => ({ ...disk, subject: String(n) }));
    expect(book.update(many, 0, NOW_US)).toHaveLength(500);
  });
});

describe('call trends', () => {
  const quality = {
    packetsReceived: 500,
    packetsSent: 500,
    packetsLost: 0,
    packetsLate: 0,
    jitterMs: 1,
    lossFraction: 0,
    mos: 4.4,
    roundTripMs: undefined,
  };
  const call = (over: Partial<Cdr>): Cdr =>
    aCdr({ direction: 'outbound', carrier: 'main', quality, ...over });
  const unanswered = { answerUs: undefined };
  const lasting = (seconds: number): Partial<Cdr> => ({ answerUs: 0, endUs: seconds * 1_000_000 });
  const none = () => undefined;
  const feed = (trends: CallTrends, count: number, minute: number, over: Partial<Cdr>): void => {
    for (let n = 0; n < count; n += 1) trends.observe(call(over), minute * MINUTE_MS);
  };
  const found = (
    trends: CallTrends,
    minute: number,
    limits = LIMITS,
    usual = none as () => number | undefined,
  ) => trends.conditions(limits, usual, minute * MINUTE_MS);

  it('report a carrier whose answer ratio has halved, but not one that was always low', () => {
    const trends = new CallTrends();
    feed(trends, 40, 10, lasting(60));
    feed(trends, 40, 50, unanswered);
    feed(trends, 10, 50, lasting(60));
    expect(found(trends, 50)).toEqual([
      {
        kind: 'answer_ratio',
        subject: 'main',
        detail: '20 % of 50 calls in 15 minutes were answered; 100 % before',
      },
    ]);
    // One hour later, the low ratio is the earlier value.
    const steady = new CallTrends();
    for (const minute of [10, 50]) {
      feed(steady, 40, minute, unanswered);
      feed(steady, 10, minute, lasting(60));
    }
    expect(found(steady, 50)).toEqual([]);
    expect(found(steady, 50, { ...LIMITS, answerRatioPercent: 25 })).toHaveLength(1);
  });

  it('ignore small numbers of calls', () => {
    const trends = new CallTrends();
    feed(trends, 29, 50, unanswered);
    expect(found(trends, 50, { ...LIMITS, answerRatioPercent: 90 })).toEqual([]);
  });

  it('report calls without received audio', () => {
    const trends = new CallTrends();
    feed(trends, 20, 10, lasting(60));
    feed(trends, 2, 10, { ...lasting(60), quality: { ...quality, unheardMs: 60_000 } });
    expect(found(trends, 10)).toEqual([]);
    feed(trends, 1, 10, { ...lasting(60), quality: { ...quality, unheardMs: 60_000 } });
    expect(found(trends, 10)).toMatchObject([{ kind: 'one_way_audio' }]);
    expect(found(trends, 26)).toEqual([]);
  });

  it('report an account with many short calls', () => {
    const trends = new CallTrends();
    feed(trends, 49, 10, lasting(3));
    expect(found(trends, 10)).toEqual([]);
    feed(trends, 1, 11, lasting(3));
    expect(found(trends, 11)).toMatchObject([{ kind: 'short_calls', subject: aCdr({}).accountId }]);
    feed(trends, 40, 12, lasting(60));
    expect(found(trends, 12)).toEqual([]);
  });

  it('report a carrier whose calls have poor audio in either direction', () => {
    const trends = new CallTrends();
    feed(trends, 50, 10, lasting(60));
    feed(trends, 2, 10, { ...lasting(60), quality: { ...quality, mos: 2.4 } });
    expect(found(trends, 10)).toEqual([]);
    const peer = { lossFraction: 0.3, jitterMs: 4, mos: 2.1 };
    feed(trends, 1, 10, { ...lasting(60), quality: { ...quality, peer } });
    const detail = expect.stringContaining('3 of 53 calls in 15 minutes had a MOS below 3');
    expect(found(trends, 10)).toEqual([
      { kind: 'poor_audio', subject: 'main', detail },
      { kind: 'poor_audio', subject: '', detail },
    ]);
    expect(found(trends, 26)).toEqual([]);
  });

  it('report an account that spends many times its usual hour, above a floor', () => {
    const trends = new CallTrends();
    const accountId = asAccountId('MA_SPENDER');
    feed(trends, 12, 10, { accountId, cost: micros(1_000_000), streamingCost: micros(0) });
    const usual = (units: number | undefined) => () => units && units * 1_000_000;
    expect(found(trends, 10, LIMITS, usual(2))).toMatchObject([
      {
        kind: 'spend',
        subject: 'MA_SPENDER',
        detail: '12.00 spent within an hour; usual: 2.00',
      },
    ]);
    expect(found(trends, 10, LIMITS, usual(3))).toEqual([]);
    expect(found(trends, 10, LIMITS, usual(undefined))).toEqual([]);
    expect(found(trends, 10, { ...LIMITS, spendFloor: 13 }, usual(0))).toEqual([]);
    expect(found(trends, 10, { ...LIMITS, spendFactor: 0 }, usual(0))).toEqual([]);
    expect(found(trends, 70, LIMITS, usual(0))).toEqual([]);
  });
});
