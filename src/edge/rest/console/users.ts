/** Console users and their audit log. Owners manage the users of their account; the operator manages all. */
import type { AccountId } from '../../../base/ids.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { isoMicros } from '../../../base/time-format.ts';
import type { AuditEntry, AuditFilter, Role, User } from '../../../domain/user/types.ts';
import { type PendingInvitation, ROLES, type SignedIn } from '../../../domain/user/user.ts';
import type { RouteNeeds } from '../deps.ts';
import { type Failure, invalidField, notFound } from '../http/failure.ts';
import { adminRoute, type Route, userRoute } from '../http/route.ts';
import {
  accountIdText,
  hinted,
  nullableAccountId,
  nullableText,
  oneOf,
  type Static as Read,
  sliceQuery,
  Type,
  timestamp,
} from '../http/schema.ts';
import { windowOf } from '../http/values.ts';
import { answered } from '../refusal.ts';
import { sliceOf } from '../wire/list.ts';

const users = { tag: 'Users', errors: 'resource' } as const;
const operator = { tag: 'Operator: users', errors: 'admin' } as const;
const params = Type.Object({ user_id: Type.String() });

const UserSchema = Type.Object({
  user_id: Type.String(),
  email: Type.String(),
  role: Type.String(),
  account_id: nullableAccountId(),
  has_totp: Type.Boolean(),
  created_at: timestamp(),
});
const UsersSchema = Type.Object({ users: Type.Array(UserSchema) });

const InviteBody = Type.Object({
  email: Type.Optional(
    hinted(
      Type.String({ pattern: '^[^\\s@]+@[^\\s@]+$', maxLength: 254 }),
      'must be an e-mail address',
    ),
  ),
  role: oneOf(ROLES),
  account_id: Type.Optional(
    accountIdText({ description: 'account that the user can see; absent: operator staff' }),
  ),
});
const InvitedSchema = Type.Object({
  link: Type.String({ description: 'one-time link, shown only here' }),
  email: nullableText(),
  role: Type.String(),
  account_id: nullableAccountId(),
  expires_at: timestamp(),
});

const showUser = ({ id, email, role, accountId, totpSecret, createdUs }: User) => ({
  user_id: id,
  email,
  role,
  account_id: accountId ?? null,
  has_totp: totpSecret !== undefined,
  created_at: isoMicros(createdUs),
});

/** Returns the account that an owner is restricted to. */
export const withinOf = ({ accountId }: SignedIn): AccountId | 'all' => accountId ?? 'all';

export const invitationLink = (publicUrl: string, token: string): string =>
  `${publicUrl}/console#/welcome/${token}`;

async function invite(
  needs: RouteNeeds,
  who: { readonly email?: string; readonly role: Role; readonly account_id?: AccountId },
) {
  const { email, role, account_id: accountId } = who;
  const isKnown = accountId === undefined || (await needs.accounts.get(accountId)) !== undefined;
  if (!isKnown) return err(invalidField('account_id', 'is not an account'));
  return answered(await needs.users.invite({ email, role, accountId }), (made) => ({
    link: invitationLink(needs.settings.publicUrl, made.token),
    email: email ?? null,
    role,
    account_id: accountId ?? null,
    expires_at: isoMicros(made.expiresUs),
  }));
}

const list = userRoute({
  ...users,
  method: 'GET',
  path: '/console/api/users',
  summary: 'List the users that the own role may see',
  reply: UsersSchema,
  run: async (needs, { user }) =>
    ok({ users: (await needs.users.list(withinOf(user))).map(showUser) }),
});

const inviteByUser = userRoute({
  ...users,
  method: 'POST',
  path: '/console/api/users',
  summary: 'Invite a user. Returns a one-time link that creates the user',
  status: 201,
  body: InviteBody,
  reply: InvitedSchema,
  alsoRefuses: [409],
  run: (needs, { user, body }): Promise<Result<Static, Failure>> => {
    const accountId = user.accountId ?? body.account_id;
    return invite(needs, { ...body, ...(accountId !== undefined && { account_id: accountId }) });
  },
});

type Static = {
  link: string;
  email: string | null;
  role: string;
  account_id: AccountId | null;
  expires_at: string;
};

const changeRole = userRoute({
  ...users,
  method: 'PATCH',
  path: '/console/api/users/{user_id}',
  summary: 'Change the role of a user',
  params,
  body: Type.Object({ role: oneOf(ROLES) }),
  reply: UserSchema,
  alsoRefuses: [409],
  run: async (needs, { user, params: { user_id: id }, body }) =>
    answered(await needs.users.changeRole(id, body.role, withinOf(user)), showUser),
});

const remove = userRoute({
  ...users,
  method: 'DELETE',
  path: '/console/api/users/{user_id}',
  summary: "Delete a user. The user's sessions end",
  status: 204,
  params,
  alsoRefuses: [409],
  run: async (needs, { user, params: { user_id: id } }) =>
    answered(await needs.users.remove(id, withinOf(user)), () => undefined),
});

const InvitationSchema = Type.Object({
  invitation_id: Type.String({ description: 'not part of the link' }),
  email: nullableText(),
  role: Type.String(),
  account_id: nullableAccountId(),
  invited_at: timestamp(),
  expires_at: timestamp(),
});

const showInvitation = ({ tokenHash, madeUs, ...invitation }: PendingInvitation) => ({
  invitation_id: tokenHash,
  email: invitation.email ?? null,
  role: invitation.role,
  account_id: invitation.accountId ?? null,
  invited_at: isoMicros(madeUs),
  expires_at: isoMicros(invitation.expiresUs),
});

const listInvitations = userRoute({
  ...users,
  method: 'GET',
  path: '/console/api/invitations',
  summary: 'List pending invitations, oldest first, without their links',
  reply: Type.Object({ invitations: Type.Array(InvitationSchema) }),
  run: async (needs, { user }) =>
    ok({
      invitations: (await needs.users.pendingInvitations(withinOf(user))).map(showInvitation),
    }),
});

const revokeInvitation = userRoute({
  ...users,
  method: 'DELETE',
  path: '/console/api/invitations/{invitation_id}',
  summary: 'Revoke an invitation, so that its link no longer works',
  status: 204,
  params: Type.Object({ invitation_id: Type.String() }),
  run: async (needs, { user, params: { invitation_id: id } }) =>
    answered(await needs.users.revokeInvitation(id, withinOf(user)), () => undefined, {
      unknownInvitation: notFound('invitation'),
    }),
});

const AuditSchema = Type.Object({
  total: Type.Integer(),
  entries: Type.Array(
    Type.Object({
      at: timestamp(),
      who: Type.String(),
      account_id: nullableAccountId(),
      what: Type.String(),
      method: Type.String(),
      path: Type.String(),
      status: Type.Integer(),
      address: nullableText(),
      detail: nullableText(),
    }),
  ),
});

const showEntry = ({ atUs, accountId, address, detail, ...entry }: AuditEntry) => ({
  at: isoMicros(atUs),
  account_id: accountId ?? null,
  ...entry,
  address: address ?? null,
  detail: detail ?? null,
});

const AuditQuery = Type.Object({
  ...sliceQuery,
  who: Type.Optional(Type.String({ maxLength: 254, description: 'part of the user' })),
  what: Type.Optional(
    Type.String({ maxLength: 254, description: 'part of the change, its path or details' }),
  ),
  from: Type.Optional(Type.String({ description: 'inclusive; YYYY-MM-DD or ISO 8601' })),
  to: Type.Optional(Type.String({ description: 'inclusive; YYYY-MM-DD or ISO 8601' })),
});

function auditFilter(
  accountId: AuditFilter['accountId'],
  { who, what, from, to }: Read<typeof AuditQuery>,
): Result<AuditFilter, Failure> {
  const window = windowOf(['from', from], ['to', to]);
  if (!window.ok) return window;
  return ok({ accountId, who, what, ...window.value });
}

const audit = userRoute({
  ...users,
  tag: 'Console',
  method: 'GET',
  path: '/console/api/audit',
  summary: 'List the audit log, newest first',
  query: AuditQuery,
  reply: AuditSchema,
  async run(needs, { user, query }) {
    const filter = auditFilter(withinOf(user), query);
    if (!filter.ok) return filter;
    const { total, items } = await needs.users.audit(filter.value, sliceOf(query));
    return ok({ total, entries: items.map(showEntry) });
  },
});

const adminList = adminRoute({
  ...operator,
  method: 'GET',
  path: '/admin/v1/users',
  summary: 'List all console users',
  reply: UsersSchema,
  run: async (needs) => ok({ users: (await needs.users.list('all')).map(showUser) }),
});

const adminInvite = adminRoute({
  ...operator,
  method: 'POST',
  path: '/admin/v1/users',
  summary: 'Invite a console user. Returns a one-time link that creates the user',
  status: 201,
  body: InviteBody,
  reply: InvitedSchema,
  alsoRefuses: [409],
  run: (needs, { body }): Promise<Result<Static, Failure>> => invite(needs, body),
});

const adminRemove = adminRoute({
  ...operator,
  method: 'DELETE',
  path: '/admin/v1/users/{user_id}',
  summary: "Delete a console user. The user's sessions end",
  status: 204,
  params,
  alsoRefuses: [409],
  run: async (needs, { params: { user_id: id } }) =>
    answered(await needs.users.remove(id, 'all'), () => undefined),
});

const adminAudit = adminRoute({
  ...operator,
  method: 'GET',
  path: '/admin/v1/audit',
  summary: 'List the audit log, newest first',
  query: AuditQuery,
  reply: AuditSchema,
  async run(needs, { query }) {
    const filter = auditFilter('all', query);
    if (!filter.ok) return filter;
    const { total, items } = await needs.users.audit(filter.value, sliceOf(query));
    return ok({ total, entries: items.map(showEntry) });
  },
});

export const userRoutes: readonly Route[] = [
  list,
  inviteByUser,
  changeRole,
  remove,
  listInvitations,
  revokeInvitation,
  audit,
  adminList,
  adminInvite,
  adminRemove,
  adminAudit,
];
