/** Calls between a carrier with IPv4 and one with IPv6, behind a public address of each family. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasIpv6 } from '../has-ipv6.ts';
import { headerIn, type Received, sdpOf } from './wire-peer.ts';
import { WireStage } from './wire-stage.ts';

const FOUR = { peer: '127.0.0.2', public: '198.51.100.7', host: '198.51.100.7', family: 'IP4' };
const SIX = { peer: '::1', public: '2001:db8::7', host: '[2001:db8::7]', family: 'IP6' };
const SETTINGS = {
  CARILLON_SIP_HOST: '::',
  CARILLON_SIP_PUBLIC_HOST: FOUR.public,
  CARILLON_SIP_PUBLIC_HOST6: SIX.host,
  CARILLON_RTP_HOST: '::',
  CARILLON_RTP_PUBLIC_HOST: FOUR.public,
  CARILLON_RTP_PUBLIC_HOST6: SIX.public,
};

type Side = typeof FOUR;

/** Requires that a message with SDP has the public address of that side's family. */
function expectPublic(message: Received, side: Side): void {
  expect(headerIn(message, 'Contact')).toContain(`<sip:${side.host}:`);
  expect(message.body).toMatch(new RegExp(`^c=IN ${side.family} ${side.public}\\r$`, 'm'));
  expect(message.body).toMatch(new RegExp(`^o=.* IN ${side.family} ${side.public}\\r$`, 'm'));
}

describe.skipIf(!hasIpv6).each([
  ['IPv4 to IPv6', FOUR, SIX],
  ['IPv6 to IPv4', SIX, FOUR],
])('a call from %s', (_, from, to) => {
  let stage: WireStage;
  let dials: string;
  beforeAll(async () => {
    stage = await WireStage.open(SETTINGS, { calling: from.peer, called: to.peer });
    dials = await stage.dialling();
  });
  afterAll(() => stage.close());

  it('names the public address of each family, also at hold and resume', async () => {
    const offer = (direction: string, version: number) =>
      sdpOf({ address: from.peer, direction, version });
    const call = stage.caller(dials);
    call.invite({ body: offer('sendrecv', 1) });
    const callee = await stage.callee();
    expect(headerIn(callee.invite, 'Via')).toContain(`UDP ${to.host}:`);
    expectPublic(callee.invite, to);
    await callee.accept(sdpOf({ address: to.peer }));
    expectPublic(await call.answered(), from);
    call.reinvite({ body: offer('sendonly', 2) });
    const held = await call.answered();
    expectPublic(held, from);
    expect(held.body).toMatch(/^a=recvonly\r$/m);
    call.reinvite({ body: offer('sendrecv', 3) });
    const resumed = await call.answered();
    expectPublic(resumed, from);
    // The Request-URI of these requests is our Contact. The callee ends the call by its own.
    expect((await callee.requested('BYE')).status).toBe(200);
    await stage.calling.request('BYE').then((bye) => stage.calling.answer(bye, '200 OK'));
    await stage.quiet();
  });

  it('takes the media line’s connection before that of the session', async () => {
    const call = stage.caller(dials);
    const other = from === SIX ? FOUR : SIX;
    const mixed = sdpOf({
      address: other.peer,
      media: `m=audio 34000 RTP/AVP 0 101\r\nc=IN ${from.family} ${from.peer}`,
    });
    call.invite({ body: mixed });
    const callee = await stage.callee();
    await callee.accept(sdpOf({ address: to.peer }));
    expectPublic(await call.answered(), from);
    await call.hangUp();
    await callee.hungUp();
    await stage.quiet();
  });

  it('stamps the Via with the address of the sender', async () => {
    const call = stage.caller(dials);
    const text = call.invite({ body: sdpOf({ address: from.peer }) });
    const trying = await call.invited(100);
    expect(text).toContain(';rport\r\n');
    const via = headerIn(trying, 'Via').split(';');
    expect(via).toContain(`rport=${stage.calling.port}`);
    expect(via).toContain(`received=${from.peer}`);
    call.cancel();
    await call.invited('final');
    await stage.quiet();
  });
});
