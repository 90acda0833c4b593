import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeadlineQueue, type Timed } from '../../../src/protocol/sip/transaction/deadline-queue.ts';

class Machine implements Timed {
  queuedMs: number | undefined;
  dueMs: number | undefined;

  deadlineMs(): number | undefined {
    return this.dueMs;
  }
}

describe('the deadlines of many machines', () => {
  it('are taken in order, each once, after any changes', () => {
    const change = fc.record({
      at: fc.nat(29),
      dueMs: fc.option(fc.nat(100), { nil: undefined }),
      isRemoved: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    });
    // By default most lists are short, and their machines few.
    const changed = fc.array(change, { maxLength: 120, size: 'max' });
    let taken = 0;
    fc.assert(
      fc.property(changed, fc.nat(100), (changes, nowMs) => {
        const queue = new DeadlineQueue<Machine>();
        const machines = Array.from({ length: 30 }, () => new Machine());
        for (const { at, dueMs, isRemoved } of changes) {
          const machine = machines[at] as Machine;
          machine.dueMs = isRemoved ? undefined : dueMs;
          if (isRemoved) queue.remove(machine);
          else queue.update(machine);
        }
        const pending = machines.flatMap(({ dueMs }) => dueMs ?? []).sort((a, b) => a - b);
        expect(queue.deadlineMs()).toBe(pending[0]);
        const due: number[] = [];
        for (;;) {
          const machine = queue.takeDue(nowMs);
          if (machine === undefined) break;
          due.push(machine.dueMs ?? Number.NaN);
        }
        expect(due).toEqual(pending.filter((dueMs) => dueMs <= nowMs));
        expect(queue.deadlineMs()).toBe(pending.find((dueMs) => dueMs > nowMs));
        taken += due.length;
      }),
    );
    expect(taken).toBeGreaterThan(100);
  });

  it('may be equal to the one that was just taken', () => {
    const queue = new DeadlineQueue<Machine>();
    const machine = new Machine();
    machine.dueMs = 5;
    for (let round = 0; round < 2; round += 1) {
      queue.update(machine);
      expect(queue.takeDue(5)).toBe(machine);
      expect(queue.takeDue(5)).toBeUndefined();
    }
  });

  it('are due at their time, not before', () => {
    const queue = new DeadlineQueue<Machine>();
    const machine = new Machine();
    machine.dueMs = 5;
    queue.update(machine);
    expect(queue.takeDue(4)).toBeUndefined();
    expect(queue.takeDue(5)).toBe(machine);
  });
});
