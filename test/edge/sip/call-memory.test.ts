/** Memory kept by an active call. This is a separate file, because objects of other calls would be counted too. */
import { queryObjects } from 'node:v8';
import { expect, it } from 'vitest';
import { SipRequest } from '../../../src/protocol/sip/message.ts';
import { startRig } from './rig.ts';
import { stageOf, talk } from './scenarios.ts';

const { rigOf, udp } = stageOf(startRig);

it('does not keep its INVITE', async () => {
  const rig = await rigOf();
  const { leg } = await talk(rig, await udp(rig));
  expect(queryObjects(SipRequest, { format: 'count' })).toBe(0);
  leg.hangup('normal');
});
