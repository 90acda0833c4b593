/** Offer/answer at the sockets of the running service (RFC 3264, 3261 §14, 3262, 3311, 4028, 5621, 6141). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { headerIn, sdpOf, WirePeer } from './wire-peer.ts';
import { WireStage } from './wire-stage.ts';

let stage: WireStage;
let talks: string;
let dials: string;

beforeAll(async () => {
  stage = await WireStage.open();
  talks = await stage.number('<DTMF>1</DTMF><Wait length="60"/>');
  dials = await stage.dialling();
});
afterAll(() => stage.close());
afterEach(() => stage.quiet());

async function talking(more: Parameters<ReturnType<WireStage['caller']>['invite']>[0] = {}) {
  const call = stage.caller(talks);
  call.invite(more);
  return { call, answer: await call.answered() };
}
const directionIn = ({ body }: { readonly body: string }): string =>
  /^a=(sendrecv|sendonly|recvonly|inactive)\r$/m.exec(body)?.[1] ?? 'sendrecv';
const versionIn = ({ body }: { readonly body: string }): number =>
  Number(/^o=\S+ \d+ (\d+) /m.exec(body)?.[1]);

describe('re-INVITE', () => {
  it.each([
    ['sendonly', { direction: 'sendonly' }, 'recvonly'],
    ['inactive', { direction: 'inactive' }, 'inactive'],
    ['0.0.0.0', { address: '0.0.0.0' }, 'recvonly'],
  ])('holds by %s, and resumes', async (_, hold, mirrored) => {
    const { call, answer } = await talking();
    call.reinvite({ body: sdpOf({ ...hold, version: 2 }) });
    const held = await call.answered();
    expect(directionIn(held)).toBe(mirrored);
    expect(versionIn(held)).toBe(versionIn(answer) + 1);
    call.reinvite({ body: sdpOf({ version: 3 }) });
    expect(directionIn(await call.answered())).toBe('sendrecv');
    await call.hangUp();
  });

  it('without an offer gets an offer in the 200, and its ACK answers', async () => {
    const { call } = await talking();
    call.reinvite({ body: '' });
    expect((await call.invited(200)).body).toMatch(/^m=audio [1-9]/m);
    call.acknowledge({ body: sdpOf({ version: 2 }) });
    expect((await call.hangUp()).status).toBe(200);
  });

  it.each([
    ['fax', 'm=image 40000 udptl t38'],
    ['no supported codec', 'm=audio 34000 RTP/AVP 18'],
  ])('with %s gets 488, and the session stays unchanged (RFC 6141)', async (_, media) => {
    const { call } = await talking();
    call.reinvite({ body: sdpOf({ media, version: 2 }) });
    const refused = await call.invited('final');
    expect(refused.status).toBe(488);
    expect(headerIn(refused, 'Warning')).toMatch(/^304 /);
    call.reinvite({ body: sdpOf({ version: 3 }) });
    expect((await call.answered()).body).toMatch(/^m=audio [1-9]/m);
    await call.hangUp();
  });

  it('gets 491 before the ACK of the previous one', async () => {
    const { call } = await talking();
    call.reinvite({ body: sdpOf({ version: 2 }) });
    await call.invited(200);
    const first = call.cseq;
    call.reinvite({ body: sdpOf({ version: 3 }) });
    expect((await call.invited('final')).status).toBe(491);
    call.acknowledge({ cseq: first });
    expect((await call.hangUp()).status).toBe(200);
  });
});

describe('INVITE', () => {
  it('without an offer gets an offer in the 200, and its ACK answers', async () => {
    const call = stage.caller(dials);
    call.invite({ body: '' });
    const callee = await stage.callee();
    expect(callee.invite.body).toMatch(/^m=audio [1-9]/m);
    await callee.accept();
    expect((await call.invited(200)).body).toMatch(/^m=audio [1-9]/m);
    call.acknowledge({ body: sdpOf() });
    expect((await call.hangUp()).status).toBe(200);
    await callee.hungUp();
  });

  it('accepts SDP in a multipart body (RFC 5621)', async () => {
    const parts = [
      ['application/sdp', '', sdpOf()],
      ['a/b', 'Content-Disposition: x;handling=optional\r\n', 'z'],
    ].map(([type, more, text]) => `--b\r\nContent-Type: ${type}\r\n${more}\r\n${text}\r\n`);
    const { call } = await talking({
      body: `${parts.join('')}--b--\r\n`,
      headers: ['Content-Type: multipart/mixed;boundary=b'],
    });
    await call.hangUp();
  });

  it('accepts one of two audio lines, and declines the other and video in place', async () => {
    const more =
      'm=audio 34010 RTP/AVP 0\r\nm=video 34012 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n';
    const { call, answer } = await talking({ body: sdpOf() + more });
    const lines = answer.body.split('\r\n').filter((line) => line.startsWith('m='));
    expect(
      lines.map((line) =>
        line
          .split(' ', 2)
          .join(' ')
          .replace(/[1-9]\d+/, 'PORT'),
      ),
    ).toEqual(['m=audio PORT', 'm=audio 0', 'm=video 0']);
    await call.hangUp();
  });
});

describe('reliable provisional responses (RFC 3262)', () => {
  it.each(['UDP', 'TCP'] as const)(
    'demanded, over %s: 180 repeated until its PRACK',
    async (transport) => {
      const { address } = stage.calling;
      const { sipPort } = stage.service;
      const peer = transport === 'UDP' ? stage.calling : await WirePeer.tcp(address, sipPort);
      const call = stage.caller(dials, peer);
      call.invite({ headers: ['Require: 100rel'] });
      const callee = await stage.callee();
      callee.answer('180 Ringing');
      const ringing = await call.invited(180);
      expect(headerIn(ringing, 'Require')).toMatch(/100rel/);
      const sequence = headerIn(ringing, 'RSeq');
      expect(headerIn(await call.invited(180), 'RSeq')).toBe(sequence);
      const wrong = await call.requested('PRACK', { headers: [`RAck: 1 1 INVITE`] });
      expect(wrong.status).toBe(481);
      const right = await call.requested('PRACK', { headers: [`RAck: ${sequence} 1 INVITE`] });
      expect(right.status).toBe(200);
      await callee.accept();
      await call.invited(200);
      call.acknowledge({ cseq: 1 });
      await call.hangUp();
      await callee.hungUp();
      if (peer !== stage.calling) peer.close();
    },
  );

  it('allow offers in PRACK and UPDATE before the answer, and the 200 repeats no SDP', async () => {
    const call = stage.caller(dials);
    call.invite({ headers: ['Supported: 100rel'] });
    const callee = await stage.callee();
    callee.answer('183 Session Progress', { body: sdpOf() });
    const early = await call.invited(183);
    const rack = `RAck: ${headerIn(early, 'RSeq')} 1 INVITE`;
    const acknowledged = await call.requested('PRACK', {
      headers: [rack],
      body: sdpOf({ version: 2 }),
    });
    expect([acknowledged.status, acknowledged.body.length > 0]).toEqual([200, true]);
    const held = await call.requested('UPDATE', {
      body: sdpOf({ direction: 'sendonly', version: 3 }),
    });
    expect([held.status, directionIn(held)]).toEqual([200, 'recvonly']);
    await callee.accept();
    expect((await call.invited(200)).body).toBe('');
    call.acknowledge({ cseq: 1 });
    await call.hangUp();
    await callee.hungUp();
  });
});

describe('session timers (RFC 4028)', () => {
  const timer = (text: string): readonly string[] => [
    'Supported: timer',
    `Session-Expires: ${text}`,
  ];

  it.each([
    ['90;refresher=uas', '90;refresher=uas', ''],
    ['90;refresher=uac', '90;refresher=uac', 'timer'],
    ['7200', '1800;refresher=uac', 'timer'],
  ])('agrees %s as %s', async (requested, agreed, required) => {
    const { call, answer } = await talking({ headers: timer(requested) });
    expect(headerIn(answer, 'Session-Expires')).toBe(agreed);
    expect(headerIn(answer, 'Require')).toBe(required);
    await call.hangUp();
  });

  it('refreshes by UPDATE and re-INVITE, and refuses too brief an interval', async () => {
    const { call } = await talking({ headers: timer('120;refresher=uac') });
    const updated = await call.requested('UPDATE', { headers: timer('120;refresher=uac') });
    expect([updated.status, headerIn(updated, 'Session-Expires')]).toEqual([
      200,
      '120;refresher=uac',
    ]);
    const brief = await call.requested('UPDATE', { headers: timer('20;refresher=uac') });
    expect([brief.status, headerIn(brief, 'Min-SE')]).toEqual([422, '90']);
    call.reinvite({ headers: timer('120;refresher=uac') });
    expect(headerIn(await call.answered(), 'Session-Expires')).toBe('120;refresher=uac');
    await call.hangUp();
  });
});
