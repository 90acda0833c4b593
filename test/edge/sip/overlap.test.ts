/**
 * Several phones of one endpoint ring in parallel: one answers, the others are notified that it was answered elsewhere.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { OutboundLegEvents } from '../../../src/domain/call/needs.ts';
import { authenticated, headerOf, QUIET, type Rig, SDP, startRig, UdpPeer } from './rig.ts';

let rig: Rig;
let phones: UdpPeer[];
let happened: string[];

beforeEach(async () => {
  rig = await startRig();
  happened = [];
  phones = [];
  for (const callId of ['r1', 'r2', 'r3']) {
    const phone = await UdpPeer.open(rig.signalling.port());
    phones.push(phone);
    await authenticated(phone, {
      method: 'REGISTER',
      uri: 'sip:127.0.0.1',
      to: '<sip:alice@127.0.0.1>',
      callId,
    });
    await phone.read('200');
  }
});
afterEach(async () => {
  for (const phone of phones) phone.close();
  await rig.signalling.stop();
});

const events: OutboundLegEvents = {
  ...QUIET,
  progress: (status) => happened.push(String(status)),
  connected: () => {
    happened.push('connected');
    return undefined;
  },
};
const call = () =>
  rig.signalling.invite(
    { kind: 'endpoint', username: 'alice' },
    { from: { user: 'bob', displayName: '' }, sdp: SDP, headers: [] },
    events,
  );

function answer(phone: UdpPeer, request: string, status: string, body = ''): void {
  const tag = `;tag=${phone.port}`;
  const lines = request
    .split('\r\n')
    .filter((line) => /^(Via|From|To|Call-ID|CSeq):/.test(line))
    .map((line) => (line.startsWith('To:') && !line.includes('tag=') ? line + tag : line));
  const more = [
    `Contact: <sip:alice@127.0.0.1:${phone.port}>`,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${body.length}`,
  ];
  phone.write([`SIP/2.0 ${status}`, ...lines, ...more, '', body].join('\r\n'));
}

it('sends CANCEL with the reason to the others; one that answered at the same time is hung up', async () => {
  call();
  const [first, second, third] = phones as [UdpPeer, UdpPeer, UdpPeer];
  const invites = await Promise.all(phones.map((phone) => phone.read('INVITE')));
  for (const [index, phone] of phones.entries()) answer(phone, invites[index] ?? '', '180 Ringing');
  answer(first, invites[0] ?? '', '200 OK', SDP);
  await first.read('ACK');
  const [cancel] = await Promise.all([second.read('CANCEL'), third.read('CANCEL')]);
  expect(headerOf(cancel, 'Reason')).toBe('SIP;cause=200;text="Call completed elsewhere"');
  answer(second, cancel, '200 OK');
  answer(second, invites[1] ?? '', '487 Request Terminated');
  await second.read('ACK');
  // The 200 of the third has crossed the CANCEL (RFC 3261 §9.1, §15).
  answer(third, invites[2] ?? '', '200 OK', SDP);
  await third.read('ACK');
  await third.read('BYE');
  expect(happened.filter((what) => what === 'connected')).toHaveLength(1);
});

it('does not report a refusal of one phone while another rings', async () => {
  call();
  const [first, second, third] = phones as [UdpPeer, UdpPeer, UdpPeer];
  const invites = await Promise.all(phones.map((phone) => phone.read('INVITE')));
  answer(first, invites[0] ?? '', '486 Busy Here');
  await first.read('ACK');
  answer(second, invites[1] ?? '', '180 Ringing');
  answer(third, invites[2] ?? '', '200 OK', SDP);
  await third.read('ACK');
  await second.read('CANCEL');
  expect(happened).toContain('connected');
});
