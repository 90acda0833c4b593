import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { type Heap, Memory, v8Heap } from '../../src/service/memory.ts';
import { SimClock } from '../sim/clock.ts';

const MIB = 1024 * 1024;

describe('memory of an idle service', () => {
  it('is given back by V8 once nothing was to do for two looks, and not again without slack', async () => {
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

  it('is really less after V8 has compacted its heap', () => {
    const heap = v8Heap();
    const kept: unknown[] = [];
    for (let index = 0; index < 400_000; index += 1) kept.push({ index });
    const whileKept = process.memoryUsage().heapUsed;
    kept.length = 0;
    heap.compact();
    expect(process.memoryUsage().heapUsed).toBeLessThan(whileKept - 10 * MIB);
    expect(heap.slackBytes()).toBeLessThan(32 * MIB);
  });

  it('takes less memory before V8 looks through all of its heap than V8 would by itself', () => {
    expect(collections('calm')).toBeGreaterThan(1.5 * collections('by itself'));
  });
});

/** How often V8 looks through a heap in which 60 MB live and each thing lives for a while: in a process of its own. */
function collections(growth: 'calm' | 'by itself'): number {
  const memory = new URL('../../src/service/memory.ts', import.meta.url);
  const script = `
    import { PerformanceObserver, constants } from 'node:perf_hooks';
    import { v8Heap } from ${JSON.stringify(memory.href)};
    if (${growth === 'calm'}) v8Heap();
    let majors = 0;
    new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries())
        if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) majors += 1;
    }).observe({ entryTypes: ['gc'] });
    const kept = [];
    for (let turn = 0, made = 0; turn < 300; turn += 1) {
      for (let one = 0; one < 10_000; one += 1, made += 1)
        kept[made % 600_000] = { made, list: [made] };
      await new Promise((resolve) => setImmediate(resolve));
    }
    process.stdout.write(String(majors));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
  return Number(stdout.toString());
}
