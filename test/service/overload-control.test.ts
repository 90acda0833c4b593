/** Overload control of a node in virtual time. Calls cost CPU at their start and end. */
import { describe, expect, it } from 'vitest';
import { type Look, OverloadControl } from '../../src/service/overload-control.ts';

const POLL_MS = 250;
const STEP_MS = 5;
const WAIT_LIMIT_MS = 100;
/** Same value as in `NewCalls`. */
const LONGEST_WAIT_MS = 1000;

interface Node {
  /** CPU time of one call in milliseconds, at its start and at its end. */
  readonly beginMs: number;
  readonly endMs: number;
  readonly holdMs: number;
  readonly refusalMs: number;
}

const NODE: Node = { beginMs: 2.5, endMs: 1.5, holdMs: 1000, refusalMs: 0.05 };
/** Calls per second that use all of the CPU. */
const CAPACITY = 1000 / (NODE.beginMs + NODE.endMs);

interface Second {
  readonly begun: number;
  readonly waitMs: number;
  readonly limit: number | undefined;
}

/** `offered` is the number of calls per second, by second. Running work is served before new calls. */
function run(offered: readonly number[], node = NODE): readonly Second[] {
  const control = new OverloadControl();
  const ends: number[] = [];
  const seconds: Second[] = [];
  let [workMs, tokens, arriving] = [0, 0, 0];
  let waiting: number[] = [];
  let look = { begun: 0, refused: 0, busyMs: 0, waits: [0] };
  let second = { begun: 0, waitMs: 0 };
  for (let nowMs = STEP_MS; seconds.length < offered.length; nowMs += STEP_MS) {
    arriving += ((offered[seconds.length] ?? 0) * STEP_MS) / 1000;
    for (; arriving >= 1; arriving -= 1) waiting.push(nowMs);
    for (; (ends[0] ?? Number.POSITIVE_INFINITY) <= nowMs; ends.shift()) workMs += node.endMs;
    const { limit } = control;
    tokens = Math.min(tokens + ((limit ?? 0) * STEP_MS) / 1000, Math.max(10, (limit ?? 0) / 10));
    const left: number[] = [];
    for (const atMs of waiting) {
      if (workMs >= STEP_MS) left.push(atMs);
      else if (limit !== undefined && (tokens < 1 || nowMs - atMs > LONGEST_WAIT_MS)) {
        look.refused += 1;
        workMs += node.refusalMs;
      } else {
        tokens -= 1;
        look.begun += 1;
        look.waits.push(nowMs - atMs);
        second = { begun: second.begun + 1, waitMs: Math.max(second.waitMs, nowMs - atMs) };
        workMs += node.beginMs;
        ends.push(nowMs + node.holdMs);
      }
    }
    waiting = left;
    const doneMs = Math.min(workMs, STEP_MS);
    workMs -= doneMs;
    look.busyMs += doneMs;
    if (nowMs % POLL_MS === 0) {
      const meanMs = look.waits.reduce((sum, ms) => sum + ms, 0) / look.waits.length;
      control.look({
        pressure: meanMs / WAIT_LIMIT_MS,
        utilisation: look.busyMs / POLL_MS,
        begun: (look.begun * 1000) / POLL_MS,
        refused: (look.refused * 1000) / POLL_MS,
      });
      look = { begun: 0, refused: 0, busyMs: 0, waits: [0] };
    }
    if (nowMs % 1000 === 0) {
      seconds.push({ ...second, limit: control.limit });
      second = { begun: 0, waitMs: 0 };
    }
  }
  return seconds;
}

const constant = (rate: number, seconds: number): number[] => Array(seconds).fill(rate);
const meanOf = (seconds: readonly Second[]): number =>
  seconds.reduce((sum, { begun }) => sum + begun, 0) / seconds.length;

describe('a node that is offered more calls than its capacity', () => {
  it.each([1.3, 2, 3, 10])(
    'accepts at least 90 % of its capacity, at %d times its capacity',
    (times) => {
      const seconds = run(constant(times * CAPACITY, 40));
      const canBegin =
        (1000 - (times - 1) * CAPACITY * NODE.refusalMs) / (NODE.beginMs + NODE.endMs);
      expect(meanOf(seconds.slice(5))).toBeGreaterThan(0.9 * canBegin);
      expect(meanOf(seconds.slice(5))).toBeLessThan(1.02 * CAPACITY);
      // At the start, until the state is known.
      for (const { waitMs } of seconds.slice(5))
        expect(waitMs).toBeLessThanOrEqual(LONGEST_WAIT_MS);
    },
  );

  it('does so too if its calls are long and cost most at their end', () => {
    const node = { ...NODE, beginMs: 1, endMs: 3, holdMs: 5000 };
    const seconds = run(constant(2 * CAPACITY, 90), node);
    expect(meanOf(seconds.slice(30))).toBeGreaterThan(0.75 * CAPACITY);
  });

  it('accepts all calls again soon after, and treats a returning storm as one', () => {
    const storm = constant(2 * CAPACITY, 15);
    const calm = constant(0.5 * CAPACITY, 15);
    const seconds = run([...storm, ...calm, ...storm, ...calm]);
    const inCalm = seconds.slice(18, 30);
    expect(meanOf(inCalm)).toBeCloseTo(0.5 * CAPACITY, 0);
    expect(inCalm.at(-1)?.limit).toBeUndefined();
    expect(seconds.slice(32, 45).every(({ limit }) => limit !== undefined)).toBe(true);
    expect(seconds.at(-1)?.limit).toBeUndefined();
  });
});

describe('a node that keeps up', () => {
  it('has no limit', () => {
    const seconds = run(constant(0.9 * CAPACITY, 30));
    expect(seconds.every(({ limit }) => limit === undefined)).toBe(true);
    expect(meanOf(seconds.slice(1))).toBeCloseTo(0.9 * CAPACITY, 0);
  });

  const look = (over: Partial<Look>): Look => ({
    pressure: 0,
    utilisation: 0.5,
    begun: 100,
    refused: 0,
    ...over,
  });
  const looks = (control: OverloadControl, many: number, over: Partial<Look>): boolean[] =>
    Array.from({ length: many }, () => control.look(look(over)));

  it('does not treat a single pause as overload', () => {
    const control = new OverloadControl();
    expect(looks(control, 1, { pressure: 9 })).toEqual([false]);
    looks(control, 1, {});
    looks(control, 1, { pressure: 9 });
    expect(control.limit).toBeUndefined();
    expect(looks(control, 1, { pressure: 1.1 })).toEqual([true]);
    expect(control.limit).toBeGreaterThan(5);
  });

  it('never refuses all calls, and reports the end once', () => {
    const control = new OverloadControl();
    looks(control, 200, { pressure: 5, begun: 0, refused: 500 });
    expect(control.limit).toBe(20);
    expect(looks(control, 40, { begun: 1 }).filter(Boolean)).toHaveLength(1);
    expect(control.limit).toBeUndefined();
  });

  it('does not raise a limit far beyond the offered rate', () => {
    const control = new OverloadControl();
    looks(control, 3, { pressure: 2, begun: 100 });
    looks(control, 400, { begun: 100, refused: 1 });
    expect(control.limit).toBeLessThanOrEqual(152);
  });
});
