/** Calls whose messages cross, repeat, fork or redirect (RFC 3261 §8.1.3.4, §9, §13, §15). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { headerIn, sdpOf, tagIn } from './wire-peer.ts';
import { WireCallee, WireStage } from './wire-stage.ts';

let stage: WireStage;
let dials: string;

beforeAll(async () => {
  stage = await WireStage.open({ CARILLON_CALLS_REFER_FROM: 'all' });
  dials = await stage.dialling();
});
afterAll(() => stage.close());
afterEach(() => stage.quiet());

const called = () => stage.called;

async function connected() {
  const call = stage.caller(dials);
  call.invite();
  const callee = await stage.callee();
  await callee.accept();
  const answer = await call.answered();
  return { call, callee, answer };
}

describe('CANCEL', () => {
  it('ends the call when it arrives together with its INVITE', async () => {
    const call = stage.caller(dials);
    call.invite();
    call.cancel();
    expect((await stage.calling.response('CANCEL', 'final')).status).toBe(200);
    expect((await call.invited('final')).status).toBe(487);
  });

  it('acknowledges a 200 that crosses the CANCEL, and hangs up with BYE', async () => {
    const call = stage.caller(dials);
    call.invite();
    const callee = await stage.callee();
    callee.answer('180 Ringing');
    await call.invited(180);
    call.cancel();
    expect((await call.invited('final')).status).toBe(487);
    const cancel = await called().request('CANCEL');
    await callee.accept();
    called().answer(cancel, '481 Call/Transaction Does Not Exist', { tag: callee.tag });
    await callee.hungUp();
  });

  it('has no effect after the 200', async () => {
    const { call, callee } = await connected();
    call.cancel();
    expect((await stage.calling.response('CANCEL', 'final')).status).toBe(200);
    expect((await call.requested('OPTIONS')).status).toBe(200);
    await call.hangUp();
    await callee.hungUp();
  });
});

describe('the caller', () => {
  it('ends the call with a BYE before the answer (RFC 3261 §15)', async () => {
    const call = stage.caller(dials);
    call.invite();
    const callee = await stage.callee();
    callee.answer('180 Ringing');
    await call.invited(180);
    expect((await call.hangUp()).status).toBe(200);
    expect((await call.invited('final')).status).toBe(487);
    await callee.withdrawn();
  });

  it('gets the same response to a repeated INVITE', async () => {
    const call = stage.caller(dials);
    const text = call.invite();
    const callee = await stage.callee();
    callee.answer('180 Ringing');
    const first = await call.invited(180);
    call.again(text);
    expect(tagIn(headerIn(await call.invited(180), 'To'))).toBe(tagIn(headerIn(first, 'To')));
    await callee.refuse('486 Busy Here');
    await call.invited('final');
  });
});

describe('the called party', () => {
  it('gets an ACK for each repeated 200', async () => {
    const { call, callee } = await connected();
    await callee.accept();
    await call.hangUp();
    await callee.hungUp();
  });

  it('gets a BYE for the second of two forked answers (RFC 3261 §13.2.2.4)', async () => {
    const call = stage.caller(dials);
    call.invite();
    const first = await stage.callee();
    const second = new WireCallee(called(), first.invite);
    first.answer('180 Ringing');
    second.answer('183 Session Progress', { body: sdpOf() });
    await first.accept();
    await second.accept();
    const bye = await called().request('BYE');
    expect(tagIn(headerIn(bye, 'To'))).toBe(second.tag);
    called().answer(bye, '200 OK');
    await call.answered();
    await call.hangUp();
    await first.hungUp();
  });

  it('may redirect a limited number of times, and to each target once (RFC 3261 §8.1.3.4)', async () => {
    const call = stage.caller(dials);
    call.invite();
    const here = `${called().address}:${called().port}`;
    let requested = 0;
    const over = call.invited('final');
    for (;;) {
      const callee = await Promise.race([stage.callee(), over]);
      if (!(callee instanceof WireCallee)) break;
      requested += 1;
      await callee.refuse('302 Moved Temporarily', [
        `Contact: <sip:1415555018${requested}@${here}>`,
      ]);
    }
    expect(requested).toBe(4);
    expect((await over).status).toBe(480);
  });

  it.each([
    ['433 Anonymity Disallowed', 433],
    ['415 Unsupported Media Type', 480],
  ])('with a refusal of %s causes a %i to the caller', async (status, reported) => {
    const call = stage.caller(dials);
    call.invite();
    await (await stage.callee()).refuse(status);
    expect((await call.invited('final')).status).toBe(reported);
  });

  it('gets the longer session interval it demands (RFC 4028 §7.3)', async () => {
    const call = stage.caller(dials);
    call.invite();
    await (await stage.callee()).refuse('422 Session Interval Too Small', ['Min-SE: 4000']);
    const again = await stage.callee();
    expect(headerIn(again.invite, 'Session-Expires')).toBe('4000');
    expect(headerIn(again.invite, 'Min-SE')).toBe('4000');
    await again.refuse('486 Busy Here');
    expect((await call.invited('final')).status).toBe(486);
  });

  it('behind a record-routing proxy gets the BYE along the route set', async () => {
    const call = stage.caller(dials);
    const route = (host: string) => `<sip:${host}:${called().port};lr>`;
    call.invite({ headers: [`Record-Route: ${route(stage.calling.address)}`] });
    const callee = await stage.callee();
    callee.answer('200 OK', {
      body: sdpOf(),
      headers: [`Record-Route: ${route(called().address)}`],
    });
    expect(headerIn(await called().request('ACK'), 'Route')).toBe(route(called().address));
    expect(headerIn(await call.answered(), 'Record-Route')).toBe(route(stage.calling.address));
    expect((await callee.requested('BYE')).status).toBe(200);
    const bye = await stage.calling.request('BYE');
    expect(headerIn(bye, 'Route')).toBe(route(stage.calling.address));
    stage.calling.answer(bye, '200 OK');
  });
});

describe('REFER', () => {
  const headers = [
    'Refer-To: <sip:14155550188@127.0.0.1>',
    'Referred-By: <sip:boss@x.test>;cid="a b"',
  ];
  const notified = async () => {
    const notify = await called().request('NOTIFY');
    called().answer(notify, '200 OK');
    return { notify, status: notify.body.trim() };
  };

  it('waits for the caller if it arrives during the answer, and forwards Referred-By unchanged', async () => {
    const call = stage.caller(dials);
    call.invite();
    const callee = await stage.callee();
    await callee.accept();
    const refer = callee.requested('REFER', { headers });
    await call.answered();
    expect((await refer).status).toBe(202);
    expect((await notified()).status).toBe('SIP/2.0 100 Trying');
    const third = await stage.callee();
    expect(headerIn(third.invite, 'Referred-By')).toBe('<sip:boss@x.test>;cid="a b"');
    await third.accept();
    expect((await notified()).status).toBe('SIP/2.0 200 OK');
    await callee.hungUp();
    await call.hangUp();
    await third.hungUp();
  });

  it('outside the dialog that it names is reported in its own dialog (RFC 7647 §4)', async () => {
    const { call, callee } = await connected();
    const { invite, tag } = callee;
    const callId = headerIn(invite, 'Call-ID');
    const target = `Target-Dialog: ${callId};local-tag=${tag};remote-tag=${tagIn(headerIn(invite, 'From'))}`;
    const alone = {
      callId: `${callId}-refer`,
      to: '<sip:127.0.0.1>',
      headers: [...headers, target],
    };
    const refused = await callee.requested('REFER', { ...alone, headers });
    expect(refused.status).toBe(403);
    expect((await callee.requested('REFER', { ...alone, cseq: 300 })).status).toBe(202);
    const { notify } = await notified();
    expect(headerIn(notify, 'Call-ID')).toBe(alone.callId);
    await (await stage.callee()).refuse('486 Busy Here');
    expect((await notified()).status).toBe('SIP/2.0 486 Busy Here');
    await call.hangUp();
    await callee.hungUp();
  });
});
