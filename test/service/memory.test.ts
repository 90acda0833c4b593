import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { type Heap, Memory, v8Heap } from '../../src/service/memory.ts';
import { SimClock } from '../sim/clock.ts';

const MIB = 1024 * 1024;

describe('memory of an idle service', () => {
  it('is returned by V8 after two idle checks, and not again without slack', async () => {
    const clock = new SimClock();
    let [slackMib, compacted, isIdle] = [40, 0, false];
    const heap: Heap = {
      slackBytes: () => slackMib * MIB,
      compact: () => {
        compacted += 1;
        slackMib = 3;
      },
    };
    const memory = new Memory({
      clock,
      logger: silentLogger,
      isIdle: () => isIdle,
      mayTrim: () => false,
      heap,
    });
    memory.start();
    await clock.advance(60_000);
    expect(compacted).toBe(0);
    isIdle = true;
    await clock.advance(20_000);
    expect(compacted).toBe(0);
    await clock.advance(20_000);
    expect(compacted).toBe(1);
    await clock.advance(200_000);
    expect(compacted).toBe(1);
    slackMib = 40;
    memory.stop();
    await clock.advance(60_000);
    expect(compacted).toBe(1);
  });

  it('is actually lower after V8 has compacted its heap', () => {
    const heap = v8Heap();
    const retained: unknown[] = [];
    for (let index = 0; index < 400_000; index += 1) retained.push({ index });
    const whileKept = process.memoryUsage().heapUsed;
    retained.length = 0;
    heap.compact();
    expect(process.memoryUsage().heapUsed).toBeLessThan(whileKept - 10 * MIB);
    expect(heap.slackBytes()).toBeLessThan(32 * MIB);
  });
});
