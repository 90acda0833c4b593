import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { Checkpoints } from '../../../src/edge/store/checkpoints.ts';
import { SimClock } from '../../sim/clock.ts';

describe('the write-ahead log', () => {
  it('is copied only after writes; a long one is finished while the writer waits', async () => {
    const clock = new SimClock();
    const requested: string[] = [];
    let written = 0;
    let logPages = 10;
    const note = (what: string) => () => {
      requested.push(what);
      return Promise.resolve(logPages);
    };
    const checkpoints = new Checkpoints({
      clock,
      logger: silentLogger,
      written: () => written,
      copy: note('copy'),
      finish: note('finish'),
    });
    await clock.advance(10_000);
    expect(requested).toEqual([]);
    written = 1;
    await clock.advance(10_000);
    expect(requested).toEqual(['copy']);
    written = 2;
    logPages = 20_000;
    await clock.advance(2000);
    expect(requested).toEqual(['copy', 'copy', 'finish']);
    await checkpoints.stop();
  });
});
