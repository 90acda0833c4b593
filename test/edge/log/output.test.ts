import { describe, expect, it } from 'vitest';
import { LogOutput } from '../../../src/edge/log/output.ts';

/** An output whose destination takes `room` bytes in total, and then fails with `code`. */
function stage() {
  const state = { text: '', room: Number.POSITIVE_INFINITY, code: 'ENOSPC', writes: 0 };
  const timers: { readonly ms: number; readonly act: () => void }[] = [];
  const pauses: number[] = [];
  const output = new LogOutput({
    write(bytes) {
      state.writes += 1;
      if (state.room === 0) throw Object.assign(new Error(state.code), { code: state.code });
      const count = Math.min(state.room, bytes.length);
      state.room -= count;
      state.text += Buffer.from(bytes.subarray(0, count)).toString();
      return count;
    },
    after: (ms, act) => void timers.push({ ms, act }),
    pause: (ms) => void pauses.push(ms),
  });
  return { state, timers, pauses, output, wake: () => timers.shift()?.act() };
}

describe('the output of the log', () => {
  it('writes each line immediately', () => {
    const { state, timers, output } = stage();
    output.write('one\n');
    expect(state.text).toBe('one\n');
    expect(timers).toEqual([]);
  });

  it('keeps the lines during a full disk, and continues at the byte where it stopped', () => {
    const { state, timers, output, wake } = stage();
    state.room = 6;
    output.write('one\n');
    output.write('two\n');
    output.write('three\n');
    expect(state.text).toBe('one\ntw');
    // One attempt per second, not one per line.
    expect(timers.map(({ ms }) => ms)).toEqual([1000]);
    const { writes } = state;
    for (let at = 0; at < 100; at += 1) output.write('x\n');
    expect(state.writes).toBe(writes);
    wake();
    state.room = Number.POSITIVE_INFINITY;
    wake();
    expect(state.text).toBe(`one\ntwo\nthree\n${'x\n'.repeat(100)}`);
    expect(timers).toEqual([]);
  });

  it('loses lines above its limit, and reports their number once', () => {
    const { state, output, wake } = stage();
    const reports: unknown[] = [];
    output.onLost = (lines, reason) => reports.push([lines, reason]);
    state.room = 0;
    const line = `${'x'.repeat(99_999)}\n`;
    for (let at = 0; at < 15; at += 1) output.write(line);
    state.room = Number.POSITIVE_INFINITY;
    wake();
    output.write('after\n');
    expect(state.text).toBe(`${line.repeat(10)}after\n`);
    expect(reports).toEqual([[5, 'ENOSPC']]);
  });

  it('waits shortly for a full pipe, and only a limited time at the end of the process', () => {
    const { state, timers, pauses, output } = stage();
    state.room = 0;
    state.code = 'EAGAIN';
    output.write('one\n');
    expect(timers.map(({ ms }) => ms)).toEqual([50]);
    output.end();
    const waitedMs = pauses.reduce((sum, ms) => sum + ms, 0);
    expect(waitedMs).toBeGreaterThanOrEqual(500);
    expect(waitedMs).toBeLessThan(1000);
    state.room = 100;
    output.end();
    expect(state.text).toBe('one\n');
  });

  it('stops when the reader of the pipe has ended', () => {
    const { state, timers, output } = stage();
    state.room = 0;
    state.code = 'EPIPE';
    output.write('one\n');
    const { writes } = state;
    output.write('two\n');
    expect(state.writes).toBe(writes);
    expect(timers).toEqual([]);
  });
});
