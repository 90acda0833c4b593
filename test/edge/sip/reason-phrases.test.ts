/** Status lines of calls refused for their caller identity token (RFC 8224 §6.2.2), on the wire. */
import { expect, it, onTestFinished } from 'vitest';
import { authenticated, headerOf, SDP, startRig, UdpPeer } from './rig.ts';

it.each([
  [403, 'Stale Date', 'SIP/2.0 403 Stale Date'],
  [428, undefined, 'SIP/2.0 428 Use Identity Header'],
  [436, undefined, 'SIP/2.0 436 Bad Identity Info'],
  [437, undefined, 'SIP/2.0 437 Unsupported Credential'],
  [438, undefined, 'SIP/2.0 438 Invalid Identity Header'],
] as const)('%i %s', async (status, phrase, line) => {
  const rig = await startRig();
  onTestFinished(() => rig.signalling.stop());
  rig.onLeg = (leg) => leg.refuse(status, 'why', phrase);
  const peer = await UdpPeer.open(rig.signalling.ports().udp ?? 0);
  onTestFinished(() => peer.close());
  await authenticated(peer, {
    method: 'INVITE',
    uri: 'sip:bob@127.0.0.1',
    callId: `refused-${status}`,
    to: '<sip:bob@127.0.0.1>',
    body: SDP,
  });
  const refused = await peer.read(`SIP/2.0 ${status}`);
  expect(refused.split('\r\n')[0]).toBe(line);
  expect(headerOf(refused, 'Warning')).toContain('"why"');
});
