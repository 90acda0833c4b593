import { beforeEach, describe, expect, it } from 'vitest';
import { asAccountId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { micros } from '../../../src/base/money.ts';
import { UseMeter } from '../../../src/domain/ledger/ledger.ts';
import type { Use } from '../../../src/domain/ledger/types.ts';
import { SimClock } from '../../sim/clock.ts';
import { FakeUses } from './fake-uses.ts';

const PULSE_MS = 60_000;
const PRICE = 100;

const use = (perMinute = PRICE): Use => ({
  reservationId: 'u1',
  accountId: asAccountId('MA_A'),
  currency: 'USD',
  rate: { perMinute: micros(perMinute), pulseMs: PULSE_MS },
  description: 'Recording',
  reference: 'recording:u1',
  referenceType: 'recording',
});

let clock: SimClock;
let uses: FakeUses;
let endedMs: number[];
beforeEach(() => {
  clock = new SimClock();
  uses = new FakeUses();
  endedMs = [];
});

const open = async (price?: number): Promise<UseMeter> => {
  const meter = await UseMeter.open({ ledger: uses, clock, logger: silentLogger }, use(price));
  if (!meter.ok) throw new Error(meter.error);
  return meter.value;
};
const begin = (meter: UseMeter): void => meter.begin(() => endedMs.push(clock.monotonicMs()));
const held = () => uses.held.get('u1');

describe('a metered use', () => {
  it('reserves its first pulse when it is opened, and is refused without funds', async () => {
    await open();
    expect(held()).toBe(PRICE);
    uses = new FakeUses();
    uses.funds = PRICE - 1;
    await expect(open()).rejects.toThrow('insufficientFunds');
  });

  it('reserves each further pulse shortly before it begins', async () => {
    begin(await open());
    await clock.advance(PULSE_MS - 5001);
    expect(held()).toBe(PRICE);
    await clock.advance(2);
    expect(held()).toBe(2 * PRICE);
    await clock.advance(PULSE_MS);
    expect(held()).toBe(3 * PRICE);
  });

  it('ends just before a pulse that the funds do not cover', async () => {
    uses.funds = 2 * PRICE;
    begin(await open());
    await clock.advance(3 * PULSE_MS);
    expect(endedMs).toEqual([2 * PULSE_MS - 50]);
  });

  it('reserves nothing in a pause, whose time is not used', async () => {
    const meter = await open();
    begin(meter);
    await clock.advance(40_000);
    meter.pause(true);
    await clock.advance(10 * PULSE_MS);
    expect(held()).toBe(PRICE);
    meter.pause(false);
    await clock.advance(14_000);
    expect(held()).toBe(PRICE);
    await clock.advance(2000);
    expect(held()).toBe(2 * PRICE);
  });

  it('counts from the beginning when it begins again', async () => {
    const meter = await open();
    begin(meter);
    await clock.advance(30_000);
    meter.pause(true);
    meter.pause(false);
    begin(meter);
    await clock.advance(54_000);
    expect(held()).toBe(PRICE);
    await clock.advance(2000);
    expect(held()).toBe(2 * PRICE);
  });

  it('reserves nothing after its end, and needs no timer then', async () => {
    const meter = await open();
    begin(meter);
    meter.stop();
    expect(clock.nextMs()).toBeUndefined();
    meter.pause(true);
    meter.pause(false);
    await clock.advance(3 * PULSE_MS);
    expect(held()).toBe(PRICE);
  });

  it('needs no timer if it is free', async () => {
    begin(await open(0));
    expect(clock.nextMs()).toBeUndefined();
  });
});
