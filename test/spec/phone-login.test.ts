/** Exchanges tokens of Plivo's libraries for SIP logins that expire. */
import { createHmac } from 'node:crypto';
import plivo from 'plivo';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Credentials, type Service, startService } from './service.ts';

interface AccessToken {
  addVoiceGrants(incoming: boolean, outgoing: boolean): void;
  toJwt(): string;
}
type AccessTokenClass = new (
  authId: string,
  authToken: string,
  username: string,
  validity?: object,
  uid?: string,
) => AccessToken;
const { AccessToken } = plivo as unknown as { readonly AccessToken: AccessTokenClass };

let service: Service;
let username: string;
let made = 0;

beforeAll(async () => {
  service = await startService();
  username = await endpointOf(service.account, 'alice');
});
afterAll(() => service.stop());

async function endpointOf(as: Credentials, name: string): Promise<string> {
  const body = { username: name, password: 'a-long-password', alias: name };
  const { body: created } = await service.send('POST', `/v1/Account/${as.authId}/Endpoint/`, {
    body,
    as,
  });
  return String(created.username);
}

const nowS = (): number => Math.floor(service.clock.wallMs() / 1000);

function sdkToken(
  sub: string,
  { authId, authToken }: Credentials = service.account,
  validity: object = { validFrom: nowS(), lifetime: 3600 },
): { readonly token: string; readonly jti: string } {
  const jti = `uid-${made}`;
  made += 1;
  const token = new AccessToken(authId, authToken, sub, validity, jti);
  token.addVoiceGrants(true, false);
  return { token: token.toJwt(), jti };
}

const login = (token: string) =>
  service.send('POST', '/phone/login', { body: { token }, as: null });

describe('POST /phone/login', () => {
  it("exchanges a token of Plivo's library for a separate login of the endpoint", async () => {
    const { token } = sdkToken(username);
    const { status, body } = await login(token);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      username,
      sip_uri: expect.stringContaining(`sip:${username}@registrar.test`),
      sip_path: '/sip',
      expires_in: 3600,
      incoming_allow: true,
      outgoing_allow: false,
    });
    expect(body.authorization_username).toMatch(new RegExp(`^${username}~[0-9a-f]{24}$`));
    expect(body.password).not.toBe('a-long-password');
    const again = (await login(token)).body;
    expect([again.authorization_username, again.password]).toEqual([
      body.authorization_username,
      body.password,
    ]);
    const other = (await login(sdkToken(username).token)).body;
    expect(other.password).not.toBe(body.password);
  });

  it('accepts tokens that the service creates', async () => {
    const path = `/v1/Account/${service.account.authId}/JWT/Token/`;
    const request = {
      iss: service.account.authId,
      sub: username,
      per: { voice: { outgoing_allow: true } },
    };
    const { body } = await service.send('POST', path, { body: request });
    expect((await login(body.token)).body).toMatchObject({
      incoming_allow: false,
      outgoing_allow: true,
    });
  });

  it('answers 401 without a Basic challenge if no token of the account signed it', async () => {
    const [head = '', claims = '', signature = ''] = sdkToken(username).token.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const altered = Buffer.from(
      Buffer.from(claims, 'base64url').toString().replace('false', 'true'),
    ).toString('base64url');
    const outsider = { authId: service.account.authId, authToken: 'guessed' };
    for (const wrong of [
      'nonsense',
      `${none}.${claims}.`,
      `${head}.${altered}.${signature}`,
      sdkToken(username, outsider).token,
      'x.y.z',
    ]) {
      const reply = await login(wrong);
      expect(reply.status, wrong).toBe(401);
      expect(String(reply.headers['www-authenticate'])).toContain('Bearer');
    }
  });

  it('answers 403 to an expired, early or long-lived token', async () => {
    const token = (from: number, lifetime: number) =>
      sdkToken(username, service.account, { validFrom: nowS() + from, lifetime: lifetime }).token;
    for (const untimely of [token(-100, 99), token(300, 600), token(0, 90_000)]) {
      expect((await login(untimely)).status).toBe(403);
    }
    expect((await login(token(30, 600))).status).toBe(200);
  });

  it('answers 403 if sub is not an endpoint; a sub-account can name only its own', async () => {
    const other = await service.addAccount({ name: 'Bob' });
    expect((await login(sdkToken(username, other).token)).status).toBe(403);
    expect((await login(sdkToken('nobody').token)).status).toBe(403);
    const sub = await service.addSubAccount();
    const own = await endpointOf(sub, 'carol');
    expect((await login(sdkToken(own, sub).token)).status).toBe(200);
    expect((await login(sdkToken(own).token)).status).toBe(200);
    expect((await login(sdkToken(username, sub).token)).status).toBe(403);
  });

  it('refuses a revoked token, used before or not', async () => {
    const [shown, unseen] = [sdkToken(username), sdkToken(username)];
    expect((await login(shown.token)).status).toBe(200);
    for (const { jti } of [shown, unseen]) {
      const path = `/v1/Account/${service.account.authId}/JWT/Token/${jti}/`;
      expect((await service.send('DELETE', path)).status).toBe(204);
    }
    for (const { token } of [shown, unseen]) {
      const { status, body } = await login(token);
      expect([status, JSON.stringify(body)]).toEqual([403, expect.stringContaining('revoked')]);
    }
  });

  it('refuses tokens and logins of a replaced auth token', async () => {
    const before = await service.addAccount({ name: 'Dora' });
    const dora = await endpointOf(before, 'dora');
    const { token } = sdkToken(dora, before);
    const { body } = await login(token);
    const name = body.authorization_username;
    expect((await service.phoneLogins.byUsername(name))?.login?.over).toBeUndefined();
    const ended: string[] = [];
    service.phoneLogins.onRevoked(async ({ username: whose }) => void ended.push(whose));
    await service.send('POST', `/api/v1/Account/${before.authId}/token`, {
      body: { overlap_seconds: 0 },
      as: before,
    });
    expect((await login(token)).status).toBe(401);
    expect((await service.phoneLogins.byUsername(name))?.login?.over).toBe('Token Revoked');
    expect(ended).toEqual([dora]);
  });

  it('can be requested by pages of any origin', async () => {
    const { token } = sdkToken(username);
    const requested = await service.server.app.inject({ method: 'OPTIONS', url: '/phone/login' });
    expect([requested.statusCode, requested.headers['access-control-allow-headers']]).toEqual([
      204,
      'content-type',
    ]);
    expect((await login(token)).headers['access-control-allow-origin']).toBe('*');
    expect((await login('nonsense')).headers['access-control-allow-origin']).toBe('*');
  });

  it('answers repeated guesses with 429', async () => {
    const strict = await startService({
      settings: { refusedPerSecond: 3 },
    });
    const body = { token: 'nonsense' };
    const statuses: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      statuses.push((await strict.send('POST', '/phone/login', { body, as: null })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    await strict.stop();
  });
});

describe('a login', () => {
  it('ends at exp; only a client with its password sees that reason', async () => {
    const body = { jti: 'j', iss: service.account.authId, sub: username, exp: nowS() + 60 };
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const text = `${part({ alg: 'HS256' })}.${part({ ...body, grants: {} })}`;
    const signature = createHmac('sha256', service.account.authToken).update(text);
    const reply = await login(`${text}.${signature.digest('base64url')}`);
    expect(reply.body).toMatchObject({ incoming_allow: false, outgoing_allow: false });
    const name = reply.body.authorization_username;
    await service.clock.advance(61_000);
    const found = await service.phoneLogins.byUsername(name);
    expect(found?.login?.over).toBe('Token Expired');
    expect(await service.phoneLogins.byUsername(`${username}~0000`)).toBeUndefined();
    await service.clock.advance(25 * 3_600_000);
    await service.phoneLogins.purge();
    expect(await service.phoneLogins.byUsername(name)).toBeUndefined();
  });
});
