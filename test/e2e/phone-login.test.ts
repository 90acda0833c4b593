/** SIP.js, as it comes, registers and calls with a token: the endpoint's password is nowhere near it. */
import { createHmac } from 'node:crypto';
import { SessionState } from 'sip.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

/** As customers' servers make them. */
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

it('registers until the end of its token at the latest, calls, and is cut off when the token is revoked', async () => {
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

it('may do what the token grants, and nothing else', async () => {
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

it('is over with the auth token of the account that had signed it', async () => {
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
