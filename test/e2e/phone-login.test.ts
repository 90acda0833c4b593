/** The unmodified SIP.js registers and calls with a token, without the endpoint's password. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { SessionState } from 'sip.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { hasReached, WebPhone } from '../interop/web-phone.ts';
import {
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

let place: ServicePlace;
let service: Service;

beforeAll(async () => {
  place = await newPlace();
  service = await Service.start(place);
});
afterAll(async () => {
  await service.kill();
  removePlace(place);
});

/** Signs a token in the way that customers' servers do. */
function tokenOf(jti: string, voice: Json, lifeS = 3600): string {
  const { authId, authToken, username } = service.demo;
  const nbf = Math.floor(Date.now() / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = part({ alg: 'HS256', typ: 'JWT', cty: 'plivo;v=1' });
  const claims = { jti, iss: authId, sub: username, nbf, exp: nbf + lifeS, grants: { voice } };
  const text = `${header}.${part(claims)}`;
  return `${text}.${createHmac('sha256', authToken).update(text).digest('base64url')}`;
}

async function phoneOf(token: string): Promise<WebPhone> {
  const reply = await fetch(`${service.baseUrl}/phone/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  const login = (await reply.json()) as Readonly<Record<string, string>>;
  expect(reply.status, JSON.stringify(login)).toBe(200);
  return WebPhone.start(`${service.baseUrl.replace('http', 'ws')}${login['sip_path']}`, {
    username: login['username'] ?? '',
    password: login['password'] ?? '',
    authName: login['authorization_username'] ?? '',
  });
}

const registrations = async (): Promise<readonly Json[]> =>
  (await service.admin('GET', '/registrations')).body['registrations'] as Json[];

it('registers until its token expires, calls, and is disconnected when the token is revoked', async () => {
  const phone = await phoneOf(tokenOf('both', { incoming_allow: true, outgoing_allow: true }, 300));
  await phone.register();
  const [registration] = await registrations();
  expect(registration).toMatchObject({ username: service.demo.username, transport: 'ws' });
  expect(Date.parse(String(registration?.['expires_at'])) - Date.now()).toBeLessThanOrEqual(
    300_000,
  );
  const call = await phone.call('1000');
  const { status } = await service.api('DELETE', 'JWT/Token/both/');
  expect(status).toBe(204);
  await hasReached(call, SessionState.Terminated);
  await eventually('the end of the registration', async () =>
    (await registrations()).length === 0 ? true : undefined,
  );
  expect(await phone.refusal()).toBe('403 Token Revoked');
  expect(await phone.callRefusal('1000')).toBe('403 Token Revoked');
  await phone.stop();
});

it('may only use the permissions in the token', async () => {
  const called = await phoneOf(tokenOf('in', { incoming_allow: true }));
  await called.register();
  expect(await called.callRefusal('1000')).toBe('403 Outgoing Calls Not Granted');
  await called.stop();
  const calling = await phoneOf(tokenOf('out', { outgoing_allow: true }));
  expect(await calling.refusal()).toBe('403 Incoming Calls Not Granted');
  const call = await calling.call('1000');
  await call.bye();
  await calling.stop();
});

it('registers with the token as a bearer credential over connections (RFC 8898)', async () => {
  const { username } = service.demo;
  const token = tokenOf('bearer', { incoming_allow: true });
  const socket = new WebSocket(`${service.baseUrl.replace('http', 'ws')}/sip`, 'sip');
  await once(socket, 'open');
  const ask = async (authorization: string, branch: string): Promise<string> => {
    const answer = once(socket, 'message');
    socket.send(
      [
        `REGISTER sip:127.0.0.1 SIP/2.0`,
        `Via: SIP/2.0/WS abc.invalid;branch=z9hG4bK${branch}`,
        'Max-Forwards: 70',
        `From: <sip:${username}@127.0.0.1>;tag=1`,
        `To: <sip:${username}@127.0.0.1>`,
        `Call-ID: ${branch}`,
        'CSeq: 1 REGISTER',
        `Contact: <sip:x@abc.invalid;transport=ws>;expires=300`,
        `Authorization: ${authorization}`,
        'Content-Length: 0',
        '',
        '',
      ].join('\r\n'),
    );
    return String((await answer)[0]);
  };
  const wrong = await ask(`Bearer ${token}x`, 'wrong');
  expect(wrong).toMatch(/^SIP\/2\.0 401 /);
  expect(wrong).toContain('WWW-Authenticate: Bearer error="invalid_token"');
  const right = await ask(`Bearer ${token}`, 'right');
  expect(right).toMatch(/^SIP\/2\.0 200 /);
  expect((await registrations()).map((one) => one['username'])).toContain(username);
  const granted = await ask(`Bearer ${tokenOf('mute', { outgoing_allow: true })}`, 'mute');
  expect(granted).toMatch(/^SIP\/2\.0 403 Incoming Calls Not Granted/);
  socket.close();
});

it('ends when the auth token that signed it is replaced', async () => {
  const phone = await phoneOf(tokenOf('rotated', { incoming_allow: true, outgoing_allow: true }));
  await phone.register();
  const { status } = await service.api('POST', 'token', { overlap_seconds: 0 });
  expect(status).toBe(201);
  await eventually('the end of the registration', async () =>
    (await registrations()).length === 0 ? true : undefined,
  );
  expect(await phone.refusal()).toBe('403 Token Revoked');
  await phone.stop();
});
