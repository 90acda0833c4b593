import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { RedisWatch } from '../../src/service/redis-watch.ts';
import { SimClock } from '../sim/clock.ts';

function watched() {
  const clock = new SimClock();
  const redis = { answer: (): Promise<unknown> => Promise.resolve('PONG'), probes: 0 };
  const connected: (() => void)[] = [];
  const reported: (string | undefined)[] = [];
  const watch = new RedisWatch({
    redis: {
      send: () => {
        redis.probes += 1;
        return redis.answer();
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
    redis.answer = () => Promise.resolve('PONG');
    await clock.advance(400);
    expect(reported.slice(1)).toEqual([undefined]);
    await watch.stop();
    expect(clock.nextMs()).toBeUndefined();
  });

  it('tolerates an outage of less than a second', async () => {
    const { clock, redis, reported, connect } = watched();
    redis.answer = refused;
    await clock.advance(900);
    redis.answer = () => Promise.resolve('PONG');
    connect();
    await clock.advance(5000);
    expect(reported).toEqual([]);
  });

  it('detects a Redis that keeps the connection open without answering', async () => {
    const { clock, redis, reported, connect } = watched();
    redis.answer = () => clock.sleep(500).then(refused);
    await clock.advance(1100);
    expect(reported).toHaveLength(1);
    redis.answer = () => Promise.resolve('PONG');
    connect();
    await clock.advance(0);
    expect(reported.slice(1)).toEqual([undefined]);
  });
});
