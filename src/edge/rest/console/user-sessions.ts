/** Sessions of console users: users manage their own sessions, and owners those of their users. */
import { isoMicros } from '../../../base/time-format.ts';
import type { Session } from '../../../domain/user/types.ts';
import type { SignedIn } from '../../../domain/user/user.ts';
import { type Route, userRoute } from '../http/route.ts';
import { Type, timestamp } from '../http/schema.ts';
import { answered } from '../refusal.ts';
import { withinOf } from './users.ts';

const own = { tag: 'Console', errors: 'resource' } as const;
const others = { tag: 'Users', errors: 'resource' } as const;
const OWN = '/console/api/sessions';
const OTHERS = '/console/api/users/{user_id}/sessions';
const sessionId = Type.String({ maxLength: 128 });

const SessionsSchema = Type.Object({
  sessions: Type.Array(
    Type.Object({
      session_id: Type.String({
        description: 'digest of the cookie, not a credential',
      }),
      current: Type.Boolean(),
      address: Type.String(),
      user_agent: Type.String(),
      created_at: timestamp(),
      seen_at: timestamp(),
    }),
  ),
});

const shown = (sessions: readonly Session[], { session: current }: SignedIn) => ({
  sessions: sessions.map((one) => ({
    session_id: one.tokenHash,
    current: one.tokenHash === current,
    address: one.address,
    user_agent: one.userAgent,
    created_at: isoMicros(one.createdUs),
    seen_at: isoMicros(one.seenUs),
  })),
});

const listOwn = userRoute({
  ...own,
  method: 'GET',
  path: OWN,
  summary: 'List the own sessions, latest use first',
  reply: SessionsSchema,
  run: async ({ users }, { user }) =>
    answered(await users.sessionsOf(user.userId, 'all'), (found) => shown(found, user)),
});

const endOwn = userRoute({
  ...own,
  method: 'DELETE',
  path: `${OWN}/{session_id}`,
  summary: 'End one of the own sessions',
  status: 204,
  params: Type.Object({ session_id: sessionId }),
  run: async ({ users }, { user, params }) =>
    answered(await users.endSession(user.userId, params.session_id, 'all'), () => undefined),
});

const listOfUser = userRoute({
  ...others,
  method: 'GET',
  path: OTHERS,
  summary: 'List the sessions of a user, latest use first',
  params: Type.Object({ user_id: Type.String() }),
  reply: SessionsSchema,
  run: async ({ users }, { user, params }) =>
    answered(await users.sessionsOf(params.user_id, withinOf(user)), (found) => shown(found, user)),
});

const endOfUser = userRoute({
  ...others,
  method: 'DELETE',
  path: `${OTHERS}/{session_id}`,
  summary: 'End a session of a user',
  status: 204,
  params: Type.Object({ user_id: Type.String(), session_id: sessionId }),
  run: async ({ users }, { user, params: { user_id: id, session_id: session } }) =>
    answered(await users.endSession(id, session, withinOf(user)), () => undefined),
});

export const userSessionRoutes: readonly Route[] = [listOwn, endOwn, listOfUser, endOfUser];
