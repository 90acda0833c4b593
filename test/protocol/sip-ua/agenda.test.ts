import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DialogTimers } from '../../../src/protocol/sip/dialog/pending.ts';

describe('agenda', () => {
  it('runs due timers by time, then by order of creation, without cancelled ones', () => {
    const entry = fc.record({ dueMs: fc.nat(50), cancel: fc.boolean() });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 200 }), fc.nat(60), (entries, nowMs) => {
        const agenda = new DialogTimers();
        const ran: number[] = [];
        const cancels = entries.map(({ dueMs }, index) => agenda.at(dueMs, () => ran.push(index)));
        for (const [index, { cancel }] of entries.entries()) if (cancel) cancels[index]?.();
        agenda.run(nowMs);
        const expected = entries
          .map(({ dueMs, cancel }, index) => ({ dueMs, cancel, index }))
          .filter(({ dueMs, cancel }) => !cancel && dueMs <= nowMs)
          .sort((a, b) => a.dueMs - b.dueMs || a.index - b.index)
          .map(({ index }) => index);
        expect(ran).toEqual(expected);
        const left = entries.filter(({ dueMs, cancel }) => !cancel && dueMs > nowMs);
        const next = left.length === 0 ? undefined : Math.min(...left.map(({ dueMs }) => dueMs));
        expect(agenda.deadlineMs()).toBe(next);
      }),
    );
  });

  it('runs timers added by an action if they are already due', () => {
    const agenda = new DialogTimers();
    const ran: string[] = [];
    agenda.at(1, () => {
      ran.push('first');
      agenda.at(1, () => ran.push('second'));
      agenda.at(9, () => ran.push('later'));
    });
    agenda.run(5);
    expect(ran).toEqual(['first', 'second']);
  });

  it('releases the memory of cancelled timers', () => {
    const agenda = new DialogTimers();
    for (let i = 0; i < 100_000; i += 1) agenda.at(1_000_000 + i, () => undefined)();
    expect(agenda.size).toBeLessThan(3_000);
  });
});
