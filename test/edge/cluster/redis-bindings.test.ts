import { expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Bus } from '../../../src/domain/cluster/needs.ts';
import type { Binding } from '../../../src/domain/registration/types.ts';
import { RedisBindings } from '../../../src/edge/cluster/redis-bindings.ts';
import { SimClock } from '../../sim/clock.ts';

it('restores registrations although Redis does not answer the first request after the reconnect', async () => {
  const clock = new SimClock();
  const connected: (() => void)[] = [];
  const sent: string[] = [];
  let isSilent = false;
  const bindings = new RedisBindings({
    redis: {
      onConnected: (act) => void connected.push(act),
      onSubscribed: () => undefined,
      send: async (command = '') => {
        if (isSilent) throw new Error('no answer in time');
        sent.push(command);
        return command === 'HSCAN' ? ['0', []] : 1;
      },
    },
    bus: { hear: () => undefined } as unknown as Bus,
    clock,
    logger: silentLogger,
  });
  const bob = { username: 'bob', contactUri: 'sip:bob@192.0.2.1' } as Binding;
  bindings.listen({ registrations: () => [bob], bindingsElsewhere: () => undefined });
  await clock.advance(5000);
  expect(sent).toEqual(['HSCAN', 'HSETNX']);
  isSilent = true;
  for (const act of connected) act();
  await clock.advance(100);
  isSilent = false;
  await clock.advance(5000);
  expect(sent).toEqual(['HSCAN', 'HSETNX', 'HSCAN', 'HSETNX']);
  bindings.stop();
});
