import { expect, it } from 'vitest';
import type { Clock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { RedisDirectory } from '../../../src/edge/cluster/redis-directory.ts';

it('does not report missing heartbeats within one heartbeat period after a reconnect', async () => {
  let nowMs = 10_000;
  let known = new Set<string>();
  let connected = (): void => undefined;
  const clock: Clock = {
    wallMs: () => nowMs,
    monotonicMs: () => nowMs,
    at: () => () => undefined,
    sleep: () => new Promise<void>(() => undefined),
  };
  const directory = new RedisDirectory({
    nodeId: 'n1',
    clock,
    logger: silentLogger,
    redis: {
      send: async (command, key = '') => {
        if (command === 'SET') known.add(key);
        return command === 'EXISTS' ? Number(known.has(key)) : 'OK';
      },
      onConnected: (act) => {
        connected = act;
      },
    },
  });
  nowMs += 3000;
  expect(await directory.isHeard('n2')).toBe(false);
  known = new Set();
  connected();
  expect(await directory.isHeard('n1')).toBe(true);
  expect(await directory.isHeard('n2')).toBeUndefined();
  nowMs += 3000;
  expect(await directory.isHeard('n2')).toBe(false);
  directory.stop();
});
