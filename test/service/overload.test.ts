/** Overload detection from given signs, in virtual time. */
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { NewCalls } from '../../src/domain/capacity/capacity.ts';
import { systemClock } from '../../src/edge/clock/system-clock.ts';
import { OverloadWatch } from '../../src/service/overload.ts';
import { until } from '../eventually.ts';
import { SimClock } from '../sim/clock.ts';

const LIMITS = { loopDelayMs: 100, storeQueue: 1000 };
const CALM = { storeQueue: 0, sipWaitMs: 0, mediaBusy: 0.1, utilisation: 0.5 };

function setup() {
  const clock = new SimClock();
  const newCalls = new NewCalls(clock);
  const reported: string[] = [];
  const signs = { ...CALM };
  const watch = new OverloadWatch({
    clock,
    newCalls,
    limits: LIMITS,
    logger: {
      ...silentLogger,
      info: (_fields, text) => reported.push(text),
      warn: (_fields, text) => reported.push(text),
    },
    storeQueue: () => signs.storeQueue,
    sipWaitMs: () => signs.sipWaitMs,
    mediaBusy: () => signs.mediaBusy,
    utilisation: () => signs.utilisation,
  });
  watch.start();
  return { clock, newCalls, reported, signs, watch };
}

describe('overload', () => {
  it.each([{ sipWaitMs: 101 }, { storeQueue: 1001 }, { mediaBusy: 0.8 }])(
    'starts within a second of %j, and ends two seconds after it',
    async (bad) => {
      const { clock, newCalls, reported, signs, watch } = setup();
      await clock.advance(10_000);
      Object.assign(signs, bad);
      await clock.advance(500);
      expect(watch.overloaded).toBe(false);
      await clock.advance(250);
      expect(watch.overloaded).toBe(true);
      expect(newCalls.perSecond).toBe(watch.limit);
      expect(watch.detail()).toContain('20 new calls per second are accepted');
      Object.assign(signs, CALM);
      await clock.advance(1750);
      expect(watch.overloaded).toBe(true);
      await clock.advance(250);
      expect(watch.overloaded).toBe(false);
      expect(newCalls.perSecond).toBeUndefined();
      expect(reported).toEqual(['overload: new calls are refused', 'overload has ended']);
      expect(watch.detail()).toContain('keeps up');
      watch.stop();
    },
  );

  it("measures the node's capacity by the calls that start", async () => {
    const { clock, newCalls, signs, watch } = setup();
    for (let second = 0; second < 8; second += 1) {
      for (let call = 0; call < 50; call += 1) newCalls.take();
      if (second === 5) signs.sipWaitMs = 300;
      await clock.advance(250);
    }
    expect(watch.limit).toBeGreaterThan(100);
    expect(watch.limit).toBeLessThan(200);
    watch.stop();
  });

  it('is not detected while the loop is late with little work, because other processes use the CPU', async () => {
    const { clock, signs, watch } = setup();
    Object.assign(signs, { sipWaitMs: 300, utilisation: 0.4 });
    await clock.advance(10_000);
    expect(watch.overloaded).toBe(false);
    signs.utilisation = 0.6;
    await clock.advance(1000);
    expect(watch.overloaded).toBe(true);
    watch.stop();
  });

  it('is also reported while calls are refused that would wait too long, until two seconds after the last', async () => {
    const { clock, newCalls, reported, watch } = setup();
    await clock.advance(1000);
    newCalls.mayBegin({ waitedMs: 0, isKnown: true, isTooMany: true });
    await clock.advance(250);
    expect([watch.overloaded, watch.limit]).toEqual([true, undefined]);
    expect(watch.detail()).toContain('would wait too long');
    await clock.advance(1750);
    expect(watch.overloaded).toBe(true);
    await clock.advance(250);
    expect(watch.overloaded).toBe(false);
    expect(reported).toEqual(['overload: new calls are refused', 'overload has ended']);
    watch.stop();
  });

  it('is logged again every ten seconds while it continues', async () => {
    const { clock, reported, signs, watch } = setup();
    signs.sipWaitMs = 300;
    await clock.advance(31_000);
    expect(reported).toHaveLength(4);
    watch.stop();
  });

  it('is detected on a real blocked loop and ends automatically', async () => {
    const newCalls = new NewCalls(systemClock);
    let share = 0.9;
    const watch = new OverloadWatch({
      clock: systemClock,
      logger: silentLogger,
      newCalls,
      limits: { loopDelayMs: 20, storeQueue: 1000 },
      storeQueue: () => 0,
      sipWaitMs: () => 0,
      mediaBusy: () => 0,
      utilisation: () => share,
    });
    watch.start();
    const busy = setInterval(() => {
      const untilMs = performance.now() + 60;
      while (performance.now() < untilMs);
    }, 1);
    await until(() => newCalls.perSecond !== undefined);
    clearInterval(busy);
    // A slow machine may be late with little work.
    share = 0.1;
    await until(() => newCalls.perSecond === undefined, 'the end', 10_000);
    watch.stop();
  });
});
