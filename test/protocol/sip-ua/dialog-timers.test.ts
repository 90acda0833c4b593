import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DialogTimers } from '../../../src/protocol/sip/dialog/pending.ts';

describe('agenda', () => {
  it('runs due timers by time, then by order of creation, without cancelled ones', () => {
    const entry = fc.record({ dueMs: fc.nat(50), cancel: fc.boolean() });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 200 }), fc.nat(60), (entries, nowMs) => {
        const dialogTimers = new DialogTimers();
        const ran: number[] = [];
        const cancels = entries.map(({ dueMs }, index) =>
          dialogTimers.at(dueMs, () => ran.push(index)),
        );
        for (const [index, { cancel }] of entries.entries()) if (cancel) cancels[index]?.();
        dialogTimers.run(nowMs);
        const expected = entries
          .map(({ dueMs, cancel }, index) => ({ dueMs, cancel, index }))
          .filter(({ dueMs, cancel }) => !cancel && dueMs <= nowMs)
          .sort((a, b) => a.dueMs - b.dueMs || a.index - b.index)
          .map(({ index }) => index);
        expect(ran).toEqual(expected);
        const left = entries.filter(({ dueMs, cancel }) => !cancel && dueMs > nowMs);
        const next = left.length === 0 ? undefined : Math.min(...left.map(({ dueMs }) => dueMs));
        expect(dialogTimers.deadlineMs()).toBe(next);
      }),
    );
  });

  it('runs timers added by an action if they are already due', () => {
    const dialogTimers = new DialogTimers();
    const ran: string[] = [];
    dialogTimers.at(1, () => {
      ran.push('first');
      dialogTimers.at(1, () => ran.push('second'));
      dialogTimers.at(9, () => ran.push('later'));
    });
    dialogTimers.run(5);
    expect(ran).toEqual(['first', 'second']);
  });

  it('releases the memory of cancelled timers', () => {
    const dialogTimers = new DialogTimers();
    for (let i = 0; i < 100_000; i += 1) dialogTimers.at(1_000_000 + i, () => undefined)();
    expect(dialogTimers.size).toBeLessThan(3_000);
  });
});
