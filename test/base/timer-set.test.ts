import { beforeEach, describe, expect, it } from 'vitest';
import { TimerSet } from '../../src/base/timer-set.ts';

let timers: TimerSet<'a' | 'b' | 'c'>;
beforeEach(() => {
  timers = new TimerSet();
  timers.set('a', 300);
  timers.set('b', 100);
  timers.set('c', 200);
});

describe('a set of timers', () => {
  it('returns the due timers once, earliest first', () => {
    expect(timers.takeDue(99)).toEqual([]);
    expect(timers.takeDue(200)).toEqual(['b', 'c']);
    expect(timers.takeDue(200)).toEqual([]);
    expect(timers.deadlineMs()).toBe(300);
    expect(timers.takeDue(300)).toEqual(['a']);
    expect(timers.deadlineMs()).toBeUndefined();
  });

  it('orders all of them, if all are due', () => {
    expect(timers.takeDue(1000)).toEqual(['b', 'c', 'a']);
    expect(timers.takeDue(1000)).toEqual([]);
  });

  it('has one deadline per name, the last that was set', () => {
    timers.set('b', 400);
    expect(timers.takeDue(399)).toEqual(['c', 'a']);
    expect(timers.deadlineMs()).toBe(400);
    expect(timers.takeDue(400)).toEqual(['b']);
  });

  it('forgets cleared timers', () => {
    timers.clear('b');
    expect([timers.has('a'), timers.has('b'), timers.deadlineMs()]).toEqual([true, false, 200]);
    timers.keepOnly((name) => name === 'a');
    expect(timers.takeDue(1000)).toEqual(['a']);
    timers.set('c', 1);
    timers.clearAll();
    expect(timers.takeDue(1000)).toEqual([]);
  });
});
