/** Registration of carriers, unreachable phones and blind transfers, over real sockets. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeUser, type SipUser } from './phone.ts';
import { fresh, headerIn, type Received, WirePeer } from './wire-peer.ts';
import { WireStage } from './wire-stage.ts';

let stage: WireStage;
beforeAll(async () => {
  stage = await WireStage.open({ CARILLON_CALLS_REFER_FROM: 'all' });
});
afterAll(() => stage.close());

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/** Registers a phone with digest authentication (RFC 3261 §22.4). */
async function register(phone: WirePeer, { username, password }: SipUser): Promise<Received> {
  const { sipPort } = stage.service;
  const uri = `sip:127.0.0.1:${sipPort}`;
  const party = `<sip:${username}@127.0.0.1>`;
  const request = { method: 'REGISTER', uri, to: party, callId: fresh('registration') };
  phone.send(phone.textOf({ ...request, from: `${party};tag=r`, cseq: 1 }), sipPort);
  const challenge = await phone.response('REGISTER', 401);
  // The service offers several algorithms. The phone chooses MD5.
  const offered = challenge.text
    .split('\r\n')
    .find((line) => /^WWW-Authenticate:/i.test(line) && /algorithm=MD5\b/i.test(line));
  const of = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(offered ?? '')?.[1] ?? '';
  const [realm, nonce] = [of('realm'), of('nonce')];
  const secret = md5(`${username}:${realm}:${password}`);
  const response = md5(`${secret}:${nonce}:00000001:c:auth:${md5(`REGISTER:${uri}`)}`);
  const authorization = `Authorization: Digest username="${username}", realm="${realm}", nonce="${nonce}", uri="${uri}", response="${response}", algorithm=MD5, qop=auth, nc=00000001, cnonce="c"`;
  const headers = [authorization, 'Expires: 300'];
  phone.send(phone.textOf({ ...request, from: `${party};tag=r`, cseq: 2, headers }), sipPort);
  return phone.response('REGISTER', 200);
}

it('a new carrier with registration is registered within 2 s', async () => {
  const registrar = await WirePeer.udp('127.0.0.4');
  const answer = await stage.service.admin('POST', '/carriers', {
    name: 'registering',
    host: registrar.address,
    port: registrar.port,
    transport: 'udp',
    source_addresses: [registrar.address],
    prefixes: ['888'],
    auth: { username: 'u', password: 'p', register: true },
  });
  expect(answer.status, answer.text).toBe(201);
  const createdMs = performance.now();
  const registered = await registrar.request('REGISTER');
  expect(registered.atMs - createdMs).toBeLessThan(2000);
  registrar.answer(registered, '200 OK', { headers: ['Expires: 300'] });
  registrar.close();
});

it('a call to a phone whose address does not answer gets 480', async () => {
  const user = await makeUser(stage.service, 'gone', { answer_url: 'http://127.0.0.1:9/none' });
  const phone = await WirePeer.udp('127.0.0.5');
  await register(phone, user);
  // The kernel answers the INVITE with ICMP port unreachable.
  phone.close();
  const number = await stage.number(
    `<Dial timeout="10" callerId="NUMBER" redirect="false" action="${stage.document('<Response/>')}"><User>sip:${user.username}@127.0.0.1</User></Dial>`,
  );
  const call = stage.caller(number);
  call.invite();
  const refused = await call.invited('final', 15_000);
  expect(refused.status).toBe(480);
});

it('a blind transfer without action connects the parties and requests the document once', async () => {
  const number = await stage.number('<Dial callerId="NUMBER"><Number>14155550177</Number></Dial>');
  const call = stage.caller(number);
  call.invite();
  const callee = await stage.callee();
  await callee.accept();
  await call.answered();
  const headers = ['Refer-To: <sip:14155550188@127.0.0.1>'];
  expect((await callee.requested('REFER', { headers })).status).toBe(202);
  const trying = await stage.called.request('NOTIFY');
  stage.called.answer(trying, '200 OK');
  const third = await stage.callee();
  expect(headerIn(third.invite, 'To')).toContain('14155550188');
  await third.accept();
  const notify = await stage.called.request('NOTIFY');
  stage.called.answer(notify, '200 OK');
  expect(notify.body.trim()).toBe('SIP/2.0 200 OK');
  await callee.hungUp();
  await third.requested('BYE');
  stage.calling.answer(await stage.calling.request('BYE'), '200 OK');
  await stage.quiet();
  expect(stage.documentRequests(number)).toBe(1);
});
