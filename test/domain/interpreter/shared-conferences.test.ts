import { expect, it } from 'vitest';
import { SharedConferences } from '../../../src/domain/interpreter/conference/shared-conferences.ts';
import { SimClock } from '../../sim/clock.ts';

it('releases the claim of a conference that cannot be entered', async () => {
  const released: string[] = [];
  const claims = {
    claim: async () => 'own',
    release: (key: string) => released.push(key),
    onLost: () => undefined,
  };
  const own = {
    enterHere: () => {
      throw new Error('no room');
    },
  };
  const conferences = new SharedConferences({
    own,
    claims,
    nodeId: 'own',
    living: () => ['own'],
    bus: { answer: () => undefined },
    clock: new SimClock(),
  } as never);
  const call = { uuid: 'a', identity: { accountId: 'MA_ONE' } };
  const { signal } = new AbortController();
  const entering = conferences.enter({ room: 'Weekly' } as never, { call, signal } as never);
  await expect(entering).rejects.toThrow('no room');
  expect(released).toHaveLength(1);
});
