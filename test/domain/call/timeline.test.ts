import { expect, it } from 'vitest';
import { Scene } from '../interpreter/scene.ts';

it('a peer whose RTP comes from another address stands in the timeline of its call, with the reason', async () => {
  const scene = new Scene();
  const { call, media } = await scene.caller('<Conference>Weekly</Conference>');
  media.events.sourceChanged?.({ address: '198.51.100.9', port: 4000, reason: 'signalled' });
  expect(call.log.entries().at(-1)).toMatchObject({
    kind: 'media',
    text: 'RTP comes from another address',
    facts: { peer: '198.51.100.9:4000', reason: 'signalled' },
  });
});
