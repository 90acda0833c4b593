import { expect, it } from 'vitest';
import { RedisClaims } from '../../../src/edge/cluster/redis-claims.ts';
import { SimClock } from '../../sim/clock.ts';

it('does not take the claim of a dead node after a release', async () => {
  let owner = 'dead';
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<number>();
  const claims = new RedisClaims({
    nodeId: 'own',
    clock: new SimClock(),
    redis: {
      onConnected: () => undefined,
      async send(command, ...rest) {
        if (command === 'EXISTS') {
          asked.resolve();
          return answer.promise;
        }
        const given = rest.slice(3);
        const isClaim = given.length > 1;
        if (isClaim && given[2] === owner) owner = given[0] ?? '';
        if (!isClaim && given[0] === owner) owner = '';
        return owner;
      },
    },
  });
  const claimed = claims.claim('room');
  await asked.promise;
  claims.release('room');
  answer.resolve(0);
  expect(await claimed).toBe('dead');
  expect(owner).toBe('dead');
  claims.stop();
});
