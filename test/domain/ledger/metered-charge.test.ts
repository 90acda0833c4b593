import { beforeEach, describe, expect, it } from 'vitest';
import { type Micros, micros } from '../../../src/base/money.ts';
import { MeteredCharge, type Pulse } from '../../../src/domain/ledger/metered-charge.ts';
import { SimClock } from '../../sim/clock.ts';

const PULSE_MS = 60_000;
const PRICE = 100;

/** An activity with one pulse per minute, which began at 0. */
class Activity {
  readonly clock = new SimClock();
  isOver = false;
  isPaused = false;
  /** Answer of the store to the next increases. */
  store: (amount: Micros) => Promise<boolean> = async () => true;
  readonly requested: { readonly atMs: number; readonly amount: number }[] = [];
  readonly exhaustedMs: number[] = [];
  readonly failedMs: number[] = [];
  readonly charge = new MeteredCharge(this, this.clock, micros(PRICE));

  nextPulse(): Pulse | undefined {
    if (this.isPaused) return undefined;
    const atMs = (Math.floor(this.clock.monotonicMs() / PULSE_MS) + 1) * PULSE_MS;
    return { atMs, due: () => micros((atMs / PULSE_MS + 1) * PRICE) };
  }

  reserve(amount: Micros): Promise<boolean> {
    this.requested.push({ atMs: this.clock.monotonicMs(), amount });
    return this.store(amount);
  }

  notReserved(): void {
    this.failedMs.push(this.clock.monotonicMs());
  }

  exhausted(atMs: number): void {
    this.exhaustedMs.push(atMs);
    this.isOver = true;
  }
}

let activity: Activity;
beforeEach(() => {
  activity = new Activity();
});

describe('the reservation of the next pulse', () => {
  it('is raised 5 s before each pulse', async () => {
    activity.charge.schedule();
    await activity.clock.advance(3 * PULSE_MS);
    expect(activity.requested).toEqual([
      { atMs: 55_000, amount: 200 },
      { atMs: 115_000, amount: 300 },
      { atMs: 175_000, amount: 400 },
    ]);
    expect(activity.charge.reserved).toBe(400);
  });

  it('is raised after half of the remaining time if the pulse is near', async () => {
    await activity.clock.advance(PULSE_MS - 4000);
    activity.charge.schedule();
    await activity.clock.advance(4000);
    expect(activity.requested[0]).toEqual({ atMs: PULSE_MS - 2000, amount: 200 });
  });

  it('is retried every second while the store refuses writes', async () => {
    activity.store = () => Promise.reject(new Error('full'));
    activity.charge.schedule();
    await activity.clock.advance(58_000);
    expect(activity.failedMs).toEqual([55_000, 56_000, 57_000, 58_000]);
    activity.store = async () => true;
    await activity.clock.advance(1000);
    expect(activity.charge.reserved).toBe(200);
    expect(activity.exhaustedMs).toEqual([]);
  });

  it('is retried just before an unpaid pulse, and the activity continues if it is paid then', async () => {
    activity.store = async () => activity.clock.monotonicMs() > 59_000;
    activity.charge.schedule();
    await activity.clock.advance(PULSE_MS + 56_000);
    expect(activity.exhaustedMs).toEqual([]);
    expect(activity.requested.map(({ atMs }) => atMs)).toEqual([55_000, 59_950, 115_000]);
  });

  it('ends the activity before a pulse that stays unpaid', async () => {
    activity.store = async () => false;
    activity.charge.schedule();
    await activity.clock.advance(PULSE_MS - 1);
    expect(activity.exhaustedMs).toEqual([PULSE_MS]);
    await activity.clock.advance(PULSE_MS);
    expect(activity.requested).toHaveLength(2);
  });

  it('has no effect after the activity has ended', async () => {
    activity.store = async () => false;
    activity.charge.schedule();
    await activity.clock.advance(56_000);
    activity.isOver = true;
    await activity.clock.advance(2 * PULSE_MS);
    expect(activity.exhaustedMs).toEqual([]);
  });

  it('follows the new schedule if the pulse moved while the store answered', async () => {
    const answer = Promise.withResolvers<boolean>();
    activity.store = () => answer.promise;
    activity.charge.schedule();
    await activity.clock.advance(55_000);
    activity.isPaused = true;
    activity.charge.schedule();
    answer.resolve(false);
    await activity.clock.advance(PULSE_MS);
    expect(activity.exhaustedMs).toEqual([]);
    expect(activity.requested).toHaveLength(1);
  });

  it('never falls below a larger one that was written before it', async () => {
    const slow = Promise.withResolvers<boolean>();
    activity.store = (amount) => (amount === 200 ? slow.promise : Promise.resolve(true));
    const first = activity.charge.cover(micros(200));
    expect(await activity.charge.cover(micros(500))).toBe(true);
    slow.resolve(true);
    await first;
    expect(activity.charge.reserved).toBe(500);
  });

  it('is not raised again for an amount that is reserved', async () => {
    expect(await activity.charge.cover(micros(PRICE))).toBe(true);
    expect(activity.requested).toEqual([]);
  });
});
