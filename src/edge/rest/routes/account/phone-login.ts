/** Tokens for phones in web pages: exchanged for a SIP login, and revoked. */
import { ok } from '../../../../base/result.ts';
import { isoMicros } from '../../../../base/time-format.ts';
import type { PhoneCredentials } from '../../../../domain/phone-login/phone-login.ts';
import type { RouteNeeds } from '../../deps.ts';
import { accountRoute, guestRoute, type Route } from '../../http/route.ts';
import { accountIdText, apiId, hinted, Type } from '../../http/schema.ts';
import { answered } from '../../refusal.ts';
import { registrarOf } from '../provisioning/scope.ts';

const US_PER_S = 1_000_000;

const LoginSchema = Type.Object({
  api_id: apiId(),
  username: Type.String({ description: 'username of the endpoint, for From, To and Contact' }),
  sip_uri: Type.String({ description: 'address of record' }),
  authorization_username: Type.String({ description: 'username of the digest credentials' }),
  password: Type.String({ description: 'password of this login only' }),
  sip_path: Type.String({
    description: 'WebSocket URL for SIP, on the host and port of this response',
  }),
  expires_at: Type.String({ description: 'expiry, also of its registrations' }),
  expires_in: Type.Integer({ description: 'seconds' }),
  incoming_allow: Type.Boolean({ description: 'may register and receive calls' }),
  outgoing_allow: Type.Boolean({ description: 'may place calls' }),
});

const show = (needs: RouteNeeds, login: PhoneCredentials) => ({
  username: login.username,
  sip_uri: `sip:${login.username}@${registrarOf(needs)}`,
  authorization_username: login.authName,
  password: login.password,
  sip_path: '/sip',
  expires_at: isoMicros(login.expiresUs),
  expires_in: Math.max(0, Math.floor(login.expiresUs / US_PER_S - needs.clock.wallMs() / 1000)),
  incoming_allow: login.incoming,
  outgoing_allow: login.outgoing,
});

const login = guestRoute({
  method: 'POST',
  path: '/phone/login',
  tag: 'Phone',
  errors: 'resource',
  anyOrigin: true,
  summary:
    "Get a SIP login for the endpoint in a token, valid until the token's exp. The token comes from POST …/JWT/Token/, or a library signs it with the account's auth token (HS256)",
  alsoRefuses: [403, 409],
  body: Type.Object({
    token: hinted(Type.String({ minLength: 1, maxLength: 4096 }), 'must be a token'),
  }),
  reply: LoginSchema,
  run: async (needs, { body, apiId: id }) =>
    answered(await needs.phoneLogins.login(body.token), (found) => ({
      api_id: id,
      ...show(needs, found),
    })),
});

const revoke = accountRoute({
  method: 'DELETE',
  path: '/api/v1/Account/{auth_id}/JWT/Token/{jti}/',
  tag: 'Account',
  errors: 'resource',
  summary: 'Revoke a token by its jti. Its logins end, together with their registrations and calls',
  status: 204,
  params: Type.Object({
    auth_id: accountIdText(),
    jti: Type.String({ minLength: 1, maxLength: 200 }),
  }),
  async run({ phoneLogins }, { access, params }) {
    await phoneLogins.revoke(access.account.authId, params.jti);
    return ok(undefined);
  },
});

export const phoneLoginRoutes: readonly Route[] = [login, revoke];
