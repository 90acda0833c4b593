import { describe, expect, it } from 'vitest';
import { NodeLease } from '../../../src/domain/cluster/cluster.ts';
import { SimClock } from '../../sim/clock.ts';

const NEVER = new AbortController().signal;

describe('the lease of a node', () => {
  it('expires 5 s after the last beat that the store confirmed was sent', async () => {
    const clock = new SimClock();
    const lease = new NodeLease(clock);
    await clock.advance(3000);
    lease.confirmedByStore(clock.monotonicMs() - 1000);
    await clock.advance(3900);
    expect(lease.isHeld).toBe(true);
    await clock.advance(100);
    expect(lease.isHeld).toBe(false);
  });

  it('is renewed by Redis while held, but not after it expired', async () => {
    const clock = new SimClock();
    const lease = new NodeLease(clock);
    for (let second = 0; second < 20; second += 1) {
      await clock.advance(1000);
      lease.confirmedByRedis(clock.monotonicMs());
      expect(lease.isHeld).toBe(true);
    }
    await clock.advance(8000);
    lease.confirmedByRedis(clock.monotonicMs());
    expect(lease.isHeld).toBe(false);
  });

  it('holds waiters back until the store confirms a recent beat', async () => {
    const clock = new SimClock();
    const lease = new NodeLease(clock);
    await clock.advance(8000);
    let isHeld = false;
    const held = lease.held(NEVER).then(() => {
      isHeld = true;
    });
    lease.confirmedByStore(clock.monotonicMs() - 6000);
    await clock.advance(1000);
    expect(isHeld).toBe(false);
    lease.confirmedByStore(clock.monotonicMs());
    await held;
    expect(isHeld).toBe(true);
  });

  it("rejects with the signal's reason when a waiter is aborted", async () => {
    const clock = new SimClock();
    const lease = new NodeLease(clock);
    await clock.advance(8000);
    const controller = new AbortController();
    const held = lease.held(controller.signal);
    controller.abort(new Error('the call has ended'));
    await expect(held).rejects.toThrow('the call has ended');
  });
});
