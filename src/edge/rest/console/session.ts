/** Console sign-in, and the settings of the signed-in user. */

import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import {
  type NewSession,
  type Origin,
  type SignedIn,
  totpUri,
  type UserRefusal,
} from '../../../domain/user/user.ts';
import type { RouteNeeds } from '../deps.ts';
import type { Failure } from '../http/failure.ts';
import { guestRoute, type Input, type RawReply, type Route, userRoute } from '../http/route.ts';
import { hinted, nullableAccountId, nullableText, Type } from '../http/schema.ts';
import { cookieWith } from '../http/session-authentication.ts';
import { answered, failureOf } from '../refusal.ts';

const common = { tag: 'Console', errors: 'resource' } as const;
const email = () =>
  hinted(
    Type.String({ pattern: '^[^\\s@]+@[^\\s@]+$', maxLength: 254 }),
    'must be an e-mail address',
  );
const password = () => Type.String({ minLength: 1, maxLength: 1000 });
const linkToken = () => Type.String({ minLength: 1, maxLength: 100 });

const originOf = ({ headers, address }: Pick<Input, 'headers' | 'address'>): Origin => ({
  userAgent: String(headers['user-agent'] ?? ''),
  address,
});

const isEncrypted = ({ settings }: RouteNeeds): boolean =>
  settings.tls !== undefined || settings.publicUrl.startsWith('https:');

const json = (body: object, cookie: string): RawReply => ({
  contentType: 'application/json; charset=utf-8',
  headers: { 'set-cookie': cookie },
  body: JSON.stringify(body),
});

const showUser = ({ userId, email: mail, role, accountId }: SignedIn) => ({
  user_id: userId,
  email: mail,
  role,
  account_id: accountId ?? null,
});

const begun = (
  needs: RouteNeeds,
  session: Result<NewSession, UserRefusal>,
): Result<RawReply, Failure> => {
  if (!session.ok) return err(failureOf(session.error));
  const { cookie, user } = session.value;
  return ok(json(showUser(user), cookieWith(cookie, isEncrypted(needs))));
};

const signIn = guestRoute({
  ...common,
  method: 'POST',
  path: '/console/api/sign-in',
  summary: 'Sign in at the console. Sets the session cookie',
  body: Type.Object({
    email: email(),
    password: password(),
    code: Type.Optional(
      Type.String({
        maxLength: 10,
        description: 'code of the authenticator app, if the user has one',
      }),
    ),
  }),
  produces: 'application/json',
  run: async (needs, input) => {
    const { code = '', ...rest } = input.body;
    return begun(needs, await needs.users.signIn({ ...rest, code }, originOf(input)));
  },
});

const invitation = guestRoute({
  ...common,
  method: 'POST',
  path: '/console/api/invitation',
  summary: 'Get the user of a one-time link',
  body: Type.Object({ token: linkToken() }),
  reply: Type.Object({
    email: nullableText(),
    role: Type.String(),
    account_id: nullableAccountId(),
    password_min_length: Type.Integer(),
  }),
  alsoRefuses: [404],
  run: async ({ users }, { body }) =>
    answered(await users.invitation(body.token), ({ email: mail, role, accountId }) => ({
      email: mail ?? null,
      role,
      account_id: accountId ?? null,
      password_min_length: users.minPasswordLength,
    })),
});

const accept = guestRoute({
  ...common,
  method: 'POST',
  path: '/console/api/accept',
  summary: 'Create the user of a one-time link, and sign in',
  body: Type.Object({ token: linkToken(), email: email(), password: password() }),
  produces: 'application/json',
  alsoRefuses: [404, 409],
  run: async (needs, input) => {
    const { token: secret, ...rest } = input.body;
    return begun(needs, await needs.users.accept({ ...rest, secret }, originOf(input)));
  },
});

const me = userRoute({
  ...common,
  method: 'GET',
  path: '/console/api/me',
  summary: 'Get the signed-in user and the name of the service',
  reply: Type.Object({
    user_id: Type.String(),
    email: Type.String(),
    role: Type.String(),
    account_id: nullableAccountId(),
    has_totp: Type.Boolean(),
    platform: Type.String(),
    registrar: Type.String(),
    sip_port: Type.Integer(),
    password_min_length: Type.Integer(),
  }),
  async run({ users, settings, operations }, { user }) {
    const own = (await users.list(user.accountId)).find(({ id }) => id === user.userId);
    return ok({
      ...showUser(user),
      has_totp: own?.totpSecret !== undefined,
      platform: settings.platformName,
      registrar: settings.registrarHost,
      sip_port: operations.sipPort(),
      password_min_length: users.minPasswordLength,
    });
  },
});

const signOut = userRoute({
  ...common,
  method: 'POST',
  path: '/console/api/sign-out',
  summary: 'End this session',
  produces: 'application/json',
  async run(needs, { user }) {
    await needs.users.signOut(user.session);
    return ok(json({}, cookieWith('', isEncrypted(needs))));
  },
});

const changePassword = userRoute({
  ...common,
  method: 'POST',
  path: '/console/api/password',
  summary: 'Change the own password. Other sessions end',
  status: 204,
  body: Type.Object({ old: password(), password: password() }),
  run: async ({ users }, { user, body }) =>
    answered(await users.changePassword(user, body), () => undefined),
});

const newTotp = userRoute({
  ...common,
  method: 'POST',
  path: '/console/api/totp',
  summary: 'Create a secret for an authenticator app. It takes effect after a code is confirmed',
  reply: Type.Object({ secret: Type.String(), uri: Type.String() }),
  run({ users, settings }, { user }) {
    const secret = users.newTotpSecret();
    return ok({ secret, uri: totpUri(settings.platformName, user.email, secret) });
  },
});

const confirmTotp = userRoute({
  ...common,
  method: 'PUT',
  path: '/console/api/totp',
  summary: 'Set or replace the second factor. Needs the password or a code of the old one',
  status: 204,
  body: Type.Object({
    secret: Type.String({ pattern: '^[A-Z2-7]{32}$' }),
    code: Type.String({ maxLength: 10, description: 'of the new secret' }),
    password: Type.Optional(password()),
    old_code: Type.Optional(
      Type.String({
        maxLength: 10,
        description: 'of the secret that is set, instead of the password',
      }),
    ),
  }),
  run: async ({ users }, { user, body: { old_code: oldCode, ...body } }) =>
    answered(await users.confirmTotp(user, { ...body, oldCode }), () => undefined),
});

const removeTotp = userRoute({
  ...common,
  method: 'DELETE',
  path: '/console/api/totp',
  summary: 'Turn off sign-in codes',
  status: 204,
  body: Type.Object({ password: password() }),
  run: async ({ users }, { user, body }) =>
    answered(await users.removeTotp(user, body.password), () => undefined),
});

const signOutElsewhere = userRoute({
  ...common,
  method: 'DELETE',
  path: '/console/api/sessions',
  summary: 'End all other sessions of the own user',
  status: 204,
  async run({ users }, { user }) {
    await users.signOutElsewhere(user.userId, user.session);
    return ok(undefined);
  },
});

export const sessionRoutes: readonly Route[] = [
  signIn,
  invitation,
  accept,
  me,
  signOut,
  changePassword,
  newTotp,
  confirmTotp,
  removeTotp,
  signOutElsewhere,
];
