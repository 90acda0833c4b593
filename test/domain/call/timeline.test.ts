import { expect, it } from 'vitest';
import { Scene } from '../interpreter/scene.ts';

it("records in the call's timeline that RTP comes from another address, with the reason", async () => {
  const scene = new Scene();
  const { call, media } = await scene.caller('<Conference>Weekly</Conference>');
  media.events.sourceChanged?.({ address: '198.51.100.9', port: 4000, reason: 'signalled' });
  expect(call.log.entries().at(-1)).toMatchObject({
    kind: 'media',
    text: 'RTP comes from another address',
    facts: { peer: '198.51.100.9:4000', reason: 'signalled' },
  });
});
