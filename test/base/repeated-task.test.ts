import { describe, expect, it } from 'vitest';
import { RepeatedTask } from '../../src/base/repeated-task.ts';
import { SimClock } from '../sim/clock.ts';

describe('a repeated task', () => {
  it('starts the first round immediately, pauses between rounds, and stops', async () => {
    const clock = new SimClock();
    let count = 0;
    const rounds = new RepeatedTask({ clock, everyMs: 1000, round: () => count++ });
    rounds.start();
    expect(count).toBe(1);
    await clock.advance(3500);
    expect(count).toBe(4);
    await rounds.stop();
    await clock.advance(5000);
    expect(count).toBe(4);
  });

  it('delays the first round, and never starts it if stopped before', async () => {
    const clock = new SimClock();
    let count = 0;
    const options = { clock, everyMs: 1000, firstMs: 300, round: () => count++ };
    const rounds = new RepeatedTask(options);
    rounds.start();
    await clock.advance(299);
    expect(count).toBe(0);
    await clock.advance(1);
    expect(count).toBe(1);
    await rounds.stop();
    const stopped = new RepeatedTask(options);
    stopped.start();
    await stopped.stop();
    await clock.advance(5000);
    expect(count).toBe(1);
  });

  it('doubles the pause after each failure, up to the limit', async () => {
    const clock = new SimClock();
    const pauses: number[] = [];
    let fails = true;
    const rounds = new RepeatedTask({
      clock,
      everyMs: 1000,
      longestPauseMs: 3000,
      round: () => {
        if (fails) throw new Error('away');
      },
      failed: (_, againInMs) => pauses.push(againInMs),
    });
    rounds.start();
    await clock.advance(6000);
    expect(pauses).toEqual([2000, 3000, 3000]);
    fails = false;
    await clock.advance(3000);
    fails = true;
    await clock.advance(1000);
    expect(pauses).toEqual([2000, 3000, 3000, 2000]);
    await rounds.stop();
  });

  it('waits for the current round when stopped, and signals it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const rounds: RepeatedTask = new RepeatedTask({
      clock: new SimClock(),
      everyMs: 1,
      round: () => promise,
    });
    rounds.start();
    let isStopped = false;
    const stopped = rounds.stop().then(() => {
      isStopped = true;
    });
    expect(rounds.stopping.aborted).toBe(true);
    await Promise.resolve();
    expect(isStopped).toBe(false);
    resolve();
    await stopped;
  });
});
