/** What the watch makes of the signs that it sees; time is the test's own. */
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
  const told: string[] = [];
  const signs = { ...CALM };
  const watch = new OverloadWatch({
    clock,
    newCalls,
    limits: LIMITS,
    logger: {
      ...silentLogger,
      info: (_fields, text) => told.push(text),
      warn: (_fields, text) => told.push(text),
    },
    storeQueue: () => signs.storeQueue,
    sipWaitMs: () => signs.sipWaitMs,
    mediaBusy: () => signs.mediaBusy,
    utilisation: () => signs.utilisation,
  });
  watch.start();
  return { clock, newCalls, told, signs, watch };
}

describe('overload', () => {
  it.each([{ sipWaitMs: 101 }, { storeQueue: 1001 }, { mediaBusy: 0.8 }])(
    'begins after most of a second of %j, and ends two seconds after it',
    async (bad) => {
      const { clock, newCalls, told, signs, watch } = setup();
      await clock.advance(10_000);
      Object.assign(signs, bad);
      await clock.advance(500);
      expect(watch.overloaded).toBe(false);
      await clock.advance(250);
      expect(watch.overloaded).toBe(true);
      expect(newCalls.perSecond).toBe(watch.limit);
      expect(watch.detail()).toContain('20 new calls a second are taken');
      Object.assign(signs, CALM);
      await clock.advance(1750);
      expect(watch.overloaded).toBe(true);
      await clock.advance(250);
      expect(watch.overloaded).toBe(false);
      expect(newCalls.perSecond).toBeUndefined();
      expect(told).toEqual(['overload: new calls are refused', 'overload is over']);
      expect(watch.detail()).toContain('keeps up');
      watch.stop();
    },
  );

  it('takes the calls that begin for what the node can', async () => {
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

  it('is none while the loop has little to do and is late: others have the processor', async () => {
    const { clock, signs, watch } = setup();
    Object.assign(signs, { sipWaitMs: 300, utilisation: 0.4 });
    await clock.advance(10_000);
    expect(watch.overloaded).toBe(false);
    signs.utilisation = 0.6;
    await clock.advance(1000);
    expect(watch.overloaded).toBe(true);
    watch.stop();
  });

  it('is also one where calls are refused that would wait too long, for two seconds after the last', async () => {
    const { clock, newCalls, told, watch } = setup();
    await clock.advance(1000);
    newCalls.mayBegin({ waitedMs: 0, isKnown: true, isTooMany: true });
    await clock.advance(250);
    expect([watch.overloaded, watch.limit]).toEqual([true, undefined]);
    expect(watch.detail()).toContain('would wait too long');
    await clock.advance(1750);
    expect(watch.overloaded).toBe(true);
    await clock.advance(250);
    expect(watch.overloaded).toBe(false);
    expect(told).toEqual(['overload: new calls are refused', 'overload is over']);
    watch.stop();
  });

  it('that goes on is told again every ten seconds', async () => {
    const { clock, told, signs, watch } = setup();
    signs.sipWaitMs = 300;
    await clock.advance(31_000);
    expect(told).toHaveLength(4);
    watch.stop();
  });

  it('is seen on a real loop that stands still, and is over by itself', async () => {
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
    // A slow machine may be late with little to do.
    share = 0.1;
    await until(() => newCalls.perSecond === undefined, 'the end', 10_000);
    watch.stop();
  });
});
