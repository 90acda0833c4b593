/** Responses of the running service to requests it cannot serve (RFC 3261 §8.2, §16.3, §21). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fresh, headerIn, headersIn, type RequestText, sdpOf, WirePeer } from './wire-peer.ts';
import { WireStage } from './wire-stage.ts';

let stage: WireStage;
/** Number whose calls are answered and held. */
let talks: string;

beforeAll(async () => {
  stage = await WireStage.open();
  talks = await stage.number('<DTMF>1</DTMF><Wait length="60"/>');
});
afterAll(() => stage.close());

/** Sends a request outside a dialog and returns the final response. */
async function answerTo(method: string, more: Partial<RequestText> = {}, peer = stage.calling) {
  const uri = `sip:127.0.0.1:${stage.service.sipPort}`;
  const text = peer.textOf({
    method,
    uri,
    from: `<sip:x@${peer.address}>;tag=a`,
    to: `<${uri}>`,
    callId: fresh('alone'),
    cseq: 1,
    ...more,
  });
  peer.send(text, stage.service.sipPort);
  return peer.response(method, 'final');
}

describe('a new call', () => {
  it.each<[string, Partial<RequestText>, number, string, RegExp]>([
    ['no hops left', { hops: 0 }, 483, 'Via', /branch/],
    [
      'an unsupported option tag',
      { headers: ['Require: foo, bar'] },
      420,
      'Unsupported',
      /foo, bar/,
    ],
    [
      'an unsupported body type',
      { body: 'x', headers: ['Content-Type: a/b'] },
      415,
      'Accept',
      /sdp/,
    ],
    [
      'a content encoding',
      { headers: ['Content-Encoding: gzip'] },
      415,
      'Accept-Encoding',
      /identity/,
    ],
    ['a caller that accepts no SDP', { headers: ['Accept: a/b'] }, 406, 'Accept', /sdp/],
    ['invalid SDP', { body: 'v=0\r\nnonsense\r\n' }, 488, 'Warning', /^3\d\d /],
    ['no audio', { body: sdpOf({ media: 'm=video 4000 RTP/AVP 96' }) }, 488, 'Warning', /^30[45] /],
    [
      'no supported codec',
      { body: sdpOf({ media: 'm=audio 4000 RTP/AVP 18' }) },
      488,
      'Warning',
      /^305 /,
    ],
    ['an invalid address', { body: sdpOf({ address: '999.1.1.1' }) }, 488, 'Warning', /^3\d\d /],
    [
      'too brief a session interval',
      { headers: ['Supported: timer', 'Session-Expires: 30'] },
      422,
      'Min-SE',
      /^90$/,
    ],
  ])('with %s', async (_, more, status, name, value) => {
    const call = stage.caller(talks);
    call.invite(more);
    const refused = await call.invited('final');
    expect(refused.status).toBe(status);
    expect(headerIn(refused, name)).toMatch(value);
  });

  it('gets 404 for an unassigned number', async () => {
    const call = stage.caller('19995550000');
    call.invite();
    expect((await call.invited('final')).status).toBe(404);
  });

  it('gets 482 on the second path if it arrives twice, and continues on the first (RFC 3261 §8.2.2.2)', async () => {
    const call = stage.caller(await stage.dialling());
    call.invite();
    await call.invited(100);
    call.invite();
    expect((await call.invited('final')).status).toBe(482);
    await (await stage.callee()).refuse('486 Busy Here');
    expect((await call.invited('final')).status).toBe(486);
  });

  it('accepts compact and folded headers over TCP', async () => {
    const peer = await WirePeer.tcp(stage.calling.address, stage.service.sipPort);
    const call = stage.caller(talks, peer);
    const text = call
      .invite({ branch: 'unused' })
      .replace(/^From:/m, 'f:')
      .replace(/^To: /m, 't:\r\n\t')
      .replace(/^Call-ID:.*$/m, `i: ${call.callId}x`)
      .replace(/^CSeq: 1 INVITE/m, 'CSeq: 1  \r\n INVITE')
      .replace('branch=unused', 'branch=z9hG4bKfolded');
    await call.answered();
    call.again(text);
    const second = await peer.next('the second', (received) => received.status === 200);
    expect(headerIn(second, '(?:Call-ID|i)')).toBe(`${call.callId}x`);
    expect((await call.hangUp()).status).toBe(200);
    peer.close();
  });
});

describe('outside a dialog', () => {
  it.each([
    ['FOO', 405],
    ['PUBLISH', 405],
    ['BYE', 481],
    ['INFO', 481],
    ['NOTIFY', 481],
    ['UPDATE', 481],
    ['PRACK', 481],
    ['CANCEL', 481],
    ['REFER', 403],
  ])('%s gets %i', async (method, status) => {
    const to =
      method === 'FOO' || method === 'PUBLISH' || method === 'REFER'
        ? {}
        : { to: '<sip:a@b>;tag=none' };
    const { status: given } = await answerTo(method, method === 'CANCEL' ? {} : to);
    expect(given).toBe(status);
  });

  it.each([70, 0])('answers OPTIONS with the capabilities (%i hops left)', async (hops) => {
    const answer = await answerTo('OPTIONS', { hops });
    expect(answer.status).toBe(200);
    for (const name of [
      'Allow',
      'Accept',
      'Accept-Encoding',
      'Accept-Language',
      'Supported',
      'Allow-Events',
    ]) {
      expect(headersIn(answer, name), name).toHaveLength(1);
    }
  });
});

describe('inside a dialog', () => {
  it('survives unknown methods, old CSeqs and wrong tags', async () => {
    const call = stage.caller(talks);
    call.invite();
    await call.answered();
    expect((await call.requested('FOO')).status).toBe(405);
    expect((await call.requested('SUBSCRIBE', { headers: ['Event: foo'] })).status).toBe(405);
    expect((await call.requested('INFO', { cseq: 1 })).status).toBe(500);
    expect((await call.requested('BYE', { to: '<sip:a@b>;tag=other' })).status).toBe(481);
    expect(
      (await call.requested('INFO', { body: '<x/>', headers: ['Content-Type: a/b'] })).status,
    ).toBe(415);
    expect((await call.requested('OPTIONS')).status).toBe(200);
    expect((await call.hangUp()).status).toBe(200);
    expect((await call.requested('OPTIONS')).status).toBe(481);
  });
});
