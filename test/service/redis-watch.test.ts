import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { RedisWatch } from '../../src/service/redis-watch.ts';
import { SimClock } from '../sim/clock.ts';

function watched() {
  const clock = new SimClock();
  const redis = {
    answer: (_command: readonly string[]): Promise<unknown> => Promise.resolve('OK'),
    probes: 0,
  };
  const connected: (() => void)[] = [];
  const reported: (string | undefined)[] = [];
  const watch = new RedisWatch({
    redis: {
      send: (...command) => {
        redis.probes += 1;
        return redis.answer(command);
      },
      onConnected: (act) => void connected.push(act),
    },
    clock,
    logger: silentLogger,
    onChange: (problem) => reported.push(problem),
  });
  watch.start();
  const connect = (): void => {
    for (const act of connected) act();
  };
  return { clock, redis, reported, watch, connect };
}

const refused = (): Promise<unknown> => Promise.reject(new Error('connection refused'));

describe('a node without Redis', () => {
  it('cannot serve calls after one second, and can again with the next answer', async () => {
    const { clock, redis, reported, watch } = watched();
    await clock.advance(5000);
    redis.answer = refused;
    await clock.advance(500);
    expect(reported).toEqual([]);
    await clock.advance(500);
    expect(reported).toEqual([expect.stringMatching(/^Redis does not answer/)]);
    await clock.advance(10_000);
    expect(reported).toHaveLength(1);
    redis.answer = () => Promise.resolve('OK');
    await clock.advance(400);
    expect(reported.slice(1)).toEqual([undefined]);
    await watch.stop();
    expect(clock.nextMs()).toBeUndefined();
  });

  it('reports a server that answers reads and refuses writes', async () => {
    const { clock, redis, reported, watch } = watched();
    const cause = new Error('OOM command not allowed when used memory > maxmemory');
    redis.answer = ([name = '']) =>
      ['PING', 'GET'].includes(name)
        ? Promise.resolve('OK')
        : Promise.reject(new Error('Redis failed', { cause }));
    await clock.advance(1500);
    expect(reported).toEqual([expect.stringMatching(/^Redis refuses writes \(OOM command/)]);
    redis.answer = refused;
    await clock.advance(1500);
    redis.answer = () => Promise.resolve('OK');
    await clock.advance(400);
    expect(reported.slice(1)).toEqual([undefined]);
    await watch.stop();
  });

  it('tolerates an outage of less than a second', async () => {
    const { clock, redis, reported, connect } = watched();
    redis.answer = refused;
    await clock.advance(900);
    redis.answer = () => Promise.resolve('OK');
    connect();
    await clock.advance(5000);
    expect(reported).toEqual([]);
  });

  it('detects a Redis that keeps the connection open without answering', async () => {
    const { clock, redis, reported, connect } = watched();
    redis.answer = () => clock.sleep(500).then(refused);
    await clock.advance(1100);
    expect(reported).toHaveLength(1);
    redis.answer = () => Promise.resolve('OK');
    connect();
    await clock.advance(0);
    expect(reported.slice(1)).toEqual([undefined]);
  });
});
