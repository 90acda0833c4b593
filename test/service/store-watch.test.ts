import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { StoreWatch } from '../../src/service/store-watch.ts';
import { SimClock } from '../sim/clock.ts';

function watched(isRemote = false) {
  const clock = new SimClock();
  const disk = {
    checks: 0,
    inUse: true,
    renewals: 0,
    check: (): Promise<void> => Promise.resolve(),
  };
  const reported: (string | undefined)[] = [];
  const watch = new StoreWatch({
    store: {
      check: () => {
        disk.checks += 1;
        return disk.check();
      },
      renew: async () => {
        disk.renewals += 1;
        disk.check = () => Promise.resolve();
      },
    },
    clock,
    logger: silentLogger,
    isRemote,
    inUse: () => disk.inUse,
    onChange: (problem) => reported.push(problem),
  });
  return { clock, disk, reported, watch };
}

const full = (): Promise<void> => Promise.reject(new ServiceError('STORE_FULL', 'full'));

describe('readiness of the store', () => {
  it('reports a store that refuses writes once, and its recovery automatically', async () => {
    const { clock, disk, reported, watch } = watched();
    watch.start();
    await clock.advance(4000);
    expect(reported).toEqual([]);
    disk.check = full;
    await clock.advance(6000);
    expect(reported).toEqual(['full']);
    expect(await watch.state()).toEqual({ part: 'store', ready: false, detail: 'full' });
    disk.check = () => Promise.resolve();
    await clock.advance(200);
    expect(reported).toEqual(['full', undefined]);
    await watch.stop();
    expect(clock.nextMs()).toBeUndefined();
  });

  it('reports a database server that stops answering within 1.5 s, also without a call', async () => {
    const { clock, disk, reported, watch } = watched(true);
    disk.inUse = false;
    watch.start();
    await clock.advance(5000);
    disk.check = () => new Promise(() => undefined);
    await clock.advance(1500);
    expect(reported).toEqual(['the store does not answer']);
    void watch.stop();
  });

  it('checks the disk every ten seconds without a call, and faster during a problem', async () => {
    const { clock, disk, reported, watch } = watched();
    disk.inUse = false;
    watch.start();
    await clock.advance(60_000);
    expect(disk.checks).toBe(7);
    disk.check = full;
    await clock.advance(10_000);
    expect(reported).toEqual(['full']);
    disk.check = () => Promise.resolve();
    await clock.advance(2000);
    expect(reported).toEqual(['full', undefined]);
    disk.inUse = true;
    const before = disk.checks;
    await clock.advance(10_000);
    expect(disk.checks - before).toBe(5);
    await watch.stop();
  });

  it('writes at most twice per second however often the state is queried', async () => {
    const { clock, disk, watch } = watched();
    for (let i = 0; i < 100; i += 1) {
      await Promise.all([watch.state(), watch.state()]);
      await clock.advance(10);
    }
    expect(disk.checks).toBe(2);
  });

  it('does not wait for a disk that does not answer', async () => {
    const { clock, disk, reported, watch } = watched();
    disk.check = () => new Promise(() => undefined);
    const state = watch.state();
    await clock.advance(3000);
    expect(await state).toMatchObject({ ready: false, detail: 'the store does not answer' });
    const again = watch.state();
    await clock.advance(3000);
    await again;
    expect([disk.checks, reported.length]).toEqual([1, 1]);
  });

  it('creates a deleted database again', async () => {
    const { disk, reported, watch } = watched();
    disk.check = () => Promise.reject(new ServiceError('STORE_GONE', 'gone'));
    expect((await watch.state()).ready).toBe(true);
    expect(disk.renewals).toBe(1);
    expect(reported).toEqual(['gone', undefined]);
  });
});
