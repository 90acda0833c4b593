/** Account routes for Plivo clients: the name, prices of a country, a token for an endpoint. */
import { getCountryCallingCode, isSupportedCountry } from 'libphonenumber-js/max';
import { hmacSha256 } from '../../../../base/hash.ts';
import { uuid } from '../../../../base/ids.ts';
import { err, ok } from '../../../../base/result.ts';
import { invalidField } from '../../http/failure.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { accountIdText, apiId, hinted, messageReply, Type } from '../../http/schema.ts';
import { wrongTimezone } from '../../http/values.ts';
import { answered } from '../../refusal.ts';
import { PricingSchema, pricesOf } from '../../wire/plivo-number.ts';

const ROOT = '/api/v1/Account/{auth_id}/';
const common = { tag: 'Account', errors: 'resource', mainAccountOnly: true } as const;
const params = Type.Object({ auth_id: accountIdText() });
const LIFE_SECONDS = 86_400;
const LIFE_SECONDS_MAX = 86_400;

const update = accountRoute({
  ...common,
  method: 'POST',
  path: ROOT,
  summary: 'Update the name or timezone of the account (Plivo form). Other details are not stored',
  status: 202,
  params,
  body: Type.Object({
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    timezone: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    // plivo-python sends null for parameters that are not set.
    city: Type.Optional(hinted(Type.Null(), 'is not stored')),
    address: Type.Optional(hinted(Type.Null(), 'is not stored')),
  }),
  reply: messageReply,
  async run({ accounts }, { accountId, body: { name, timezone }, apiId: id }) {
    const wrong = wrongTimezone(timezone);
    if (wrong !== undefined) return err(wrong);
    const patch = {
      ...(name !== undefined && { name }),
      ...(timezone !== undefined && { timezone }),
    };
    return answered(await accounts.patch(accountId, patch), () => ({
      api_id: id,
      message: 'changed',
    }));
  },
});

const names = new Intl.DisplayNames(['en'], { type: 'region' });

const pricing = accountRoute({
  ...common,
  method: 'GET',
  path: `${ROOT}Pricing/`,
  summary:
    "Get the prices of calls and numbers of a country, in the account's currency (Plivo form)",
  params,
  query: Type.Object({
    country_iso: hinted(
      Type.String({ pattern: '^[A-Za-z]{2}$' }),
      'must be a two-letter country code',
    ),
  }),
  reply: PricingSchema,
  run({ ledger }, { access, query, apiId: id }) {
    const country = query.country_iso.toUpperCase();
    if (!isSupportedCountry(country))
      return err(invalidField('country_iso', 'is not a country with telephone numbers'));
    const callingCode = String(getCountryCallingCode(country));
    const { currency } = access.owner;
    return ok({
      api_id: id,
      country: names.of(country) ?? country,
      country_code: callingCode,
      country_iso: country,
      currency,
      ...pricesOf(ledger, access.owner, callingCode),
    });
  },
});

const flag = () => Type.Optional(Type.Boolean());

const token = accountRoute({
  ...common,
  method: 'POST',
  path: `${ROOT}JWT/Token/`,
  summary:
    "Create a JSON Web Token (RFC 7519) for an endpoint, signed with the account's token. A web page uses it to log in its phone (POST /phone/login)",
  params,
  body: Type.Object({
    iss: accountIdText({ description: 'the account itself' }),
    sub: Type.Optional(Type.String({ maxLength: 200, description: 'username of an endpoint' })),
    nbf: Type.Optional(Type.Integer({ minimum: 0, description: 'seconds since the epoch' })),
    exp: Type.Optional(Type.Integer({ minimum: 0, description: 'seconds since the epoch' })),
    app: Type.Optional(Type.String({ maxLength: 64 })),
    per: Type.Optional(
      Type.Object({
        voice: Type.Optional(Type.Object({ incoming_allow: flag(), outgoing_allow: flag() })),
      }),
    ),
  }),
  reply: Type.Object({ api_id: apiId(), token: Type.String() }),
  async run({ signingTokens, clock, random }, { accountId, body, apiId: id }) {
    if (body.iss !== accountId) return err(invalidField('iss', 'must be the account of the path'));
    const nowS = Math.floor(clock.wallMs() / 1000);
    const { nbf = nowS, exp = nbf + LIFE_SECONDS, sub, app, per } = body;
    if (exp <= nbf || exp - nbf > LIFE_SECONDS_MAX)
      return err(invalidField('exp', `must be after nbf, by at most ${LIFE_SECONDS_MAX} seconds`));
    const tokens = await signingTokens.tokensOf(accountId);
    if (tokens === undefined) return err(invalidField('iss', 'has no token'));
    const { incoming_allow: incoming = false, outgoing_allow: outgoing = false } = per?.voice ?? {};
    const payload = {
      jti: uuid(random),
      iss: accountId,
      ...(sub !== undefined && { sub }),
      nbf,
      exp,
      ...(app !== undefined && { app }),
      grants: { voice: { incoming_allow: incoming, outgoing_allow: outgoing } },
    };
    return ok({ api_id: id, token: signed(payload, tokens.own) });
  },
});

/** Signs a JWT (RFC 7519, HS256) with the header that Plivo's libraries write. */
function signed(payload: object, key: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'HS256', typ: 'JWT', cty: 'plivo;v=1' })}.${part(payload)}`;
  return `${text}.${hmacSha256(key, text).toString('base64url')}`;
}

export const plivoAccountRoutes: readonly Route[] = [update, pricing, token];
