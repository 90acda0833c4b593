import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { systemClock } from '../../src/edge/clock/system-clock.ts';
import { OverloadJudge, OverloadWatch } from '../../src/service/overload.ts';

const LIMITS = { loopDelayMs: 100, storeQueue: 1000 };
const late = (loopDelayMs: number) => ({ loopDelayMs, storeQueue: 0 });
const waiting = (storeQueue: number) => ({ loopDelayMs: 0, storeQueue });

const judged = (judge: OverloadJudge, looks: readonly ReturnType<typeof late>[]): boolean[] =>
  looks.map((signs) => {
    judge.look(signs);
    return judge.overloaded;
  });

describe('overload', () => {
  it('begins after a second of a late loop, not with one pause', () => {
    const judge = new OverloadJudge(LIMITS);
    expect(judged(judge, [late(900), late(0), late(200), late(200), late(200), late(0)])).toEqual(
      Array.from({ length: 6 }, () => false),
    );
    expect(
      judged(
        judge,
        Array.from({ length: 4 }, () => late(101)),
      ),
    ).toEqual([false, false, false, true]);
  });

  it('begins when too much waits for the store', () => {
    const judge = new OverloadJudge(LIMITS);
    expect(
      judged(
        judge,
        Array.from({ length: 4 }, () => waiting(1001)),
      ).at(-1),
    ).toBe(true);
  });

  it('is over after two seconds well below the limits, and does not flicker around them', () => {
    const judge = new OverloadJudge(LIMITS);
    judged(
      judge,
      Array.from({ length: 4 }, () => late(150)),
    );
    const around = Array.from({ length: 20 }, (_, i) => late(i % 2 === 0 ? 40 : 60));
    expect(judged(judge, around)).not.toContain(false);
    const good = judged(
      judge,
      Array.from({ length: 8 }, () => late(40)),
    );
    expect(good.indexOf(false)).toBe(7);
  });

  it('is told once each way', () => {
    const judge = new OverloadJudge(LIMITS);
    const changes = [...Array(10).fill(late(150)), ...Array(20).fill(late(0))].filter((signs) =>
      judge.look(signs),
    );
    expect(changes).toHaveLength(2);
  });

  it('is seen on a real loop that stands still', async () => {
    const changed = new Promise<boolean>((resolve) => {
      const watch = new OverloadWatch({
        clock: systemClock,
        logger: silentLogger,
        limits: { loopDelayMs: 20, storeQueue: 1000 },
        storeQueue: () => 0,
        onChange: (on) => {
          expect(watch.detail()).toContain('new calls are refused');
          watch.stop();
          clearInterval(busy);
          resolve(on);
        },
      });
      watch.start();
      const busy = setInterval(() => {
        const untilMs = performance.now() + 60;
        while (performance.now() < untilMs);
      }, 1);
    });
    expect(await changed).toBe(true);
  });
});
