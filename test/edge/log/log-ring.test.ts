import { describe, expect, it } from 'vitest';
import { LogRing } from '../../../src/edge/log/log-ring.ts';
import { createLogger } from '../../../src/edge/log/pino-logger.ts';

const line = (at: number, more: object = {}): string =>
  JSON.stringify({ level: 'info', time: `t${at}`, msg: `line ${at}`, ...more });

describe('the recent log lines', () => {
  it('are those that the logger wrote, with secrets masked', () => {
    const logger = createLogger('info', { write: () => undefined });
    logger.debug({}, 'below the level');
    logger.child({ callUuid: 'c1' }).warn({ url: 'https://ada:key@x.test/' }, 'request failed');
    const [found, ...more] = logger.recent.find({ limit: 10 });
    expect(more).toEqual([]);
    expect(found).toMatchObject({
      number: 1,
      level: 'warn',
      message: 'request failed',
      callUuid: 'c1',
    });
    expect(found?.fields).toBe('{"url":"https://***@x.test/"}');
  });

  it('are filtered by level, call and text, latest lines first in the limit', () => {
    const ring = new LogRing();
    ring.add(line(1, { callUuid: 'call-a' }));
    ring.add(line(2, { callUuid: 'call-b', level: 'error' }));
    ring.add(line(3, { callUuid: 'call-a', level: 'warn', reason: 'Busy' }));
    const numbers = (query: object) =>
      ring.find({ limit: 10, ...query }).map(({ number }) => number);
    expect(numbers({})).toEqual([1, 2, 3]);
    expect(numbers({ level: 'warn' })).toEqual([2, 3]);
    expect(numbers({ callUuid: 'call-a' })).toEqual([1, 3]);
    expect(numbers({ search: 'bUSY' })).toEqual([3]);
    expect(numbers({ after: 2 })).toEqual([3]);
    expect(numbers({ limit: 2 })).toEqual([2, 3]);
  });

  it('are bounded in number and size, and keep their numbers', () => {
    const ring = new LogRing();
    for (let at = 1; at <= 12_000; at += 1) ring.add(line(at));
    const found = ring.find({ limit: 100_000 });
    expect(found.length).toBeLessThanOrEqual(5000);
    expect(found.length).toBeGreaterThan(3000);
    expect(found.at(-1)).toMatchObject({ number: 12_000, message: 'line 12000' });
    for (let at = 0; at < 2000; at += 1) ring.add(line(at, { text: 'x'.repeat(10_000) }));
    const large = ring.find({ limit: 100_000 });
    expect(large.length).toBeLessThanOrEqual(1000);
    // A cut line is not valid JSON, but its level and time are known.
    expect(large.at(-1)).toMatchObject({ level: 'info', time: 't1999' });
  });
});
