import { expect, it } from 'vitest';
import type { SignedIn } from '../../../src/domain/user/types.ts';
import { Users } from '../../../src/domain/user/user.ts';
import { openInMemory } from '../../edge/store/open.ts';

const EMAIL = 'grace@example.com';
const ORIGIN = { userAgent: 'a', address: '192.0.2.1' };
const OLD = { email: EMAIL, password: 'old', code: '' };

it('a change of the password also ends a sign-in that is being checked', async () => {
  const { store, clock, random } = await openInMemory();
  let checked = Promise.resolve();
  const hasher = {
    hash: async (password: string) => password,
    matches: async (password: string, hash: string | undefined) => {
      const isRight = password === hash;
      await checked;
      return isRight;
    },
  };
  const passwords = { problemOf: async () => undefined } as unknown as ConstructorParameters<
    typeof Users
  >[0]['passwords'];
  const users = new Users({ store: store.users, hasher, passwords, clock, random });
  const user = { id: 'u', email: EMAIL, role: 'owner', accountId: undefined } as const;
  const credentials = { passwordHash: 'old', totpSecret: undefined, totpStep: 0, createdUs: 0 };
  await store.users.insert({ ...user, ...credentials });
  const first = await users.signIn(OLD, ORIGIN);
  if (!first.ok) throw new Error(first.error.kind);
  const own: SignedIn = first.value.user;

  const slow = Promise.withResolvers<void>();
  checked = slow.promise;
  const late = users.signIn(OLD, ORIGIN);
  await store.users.byEmail(EMAIL); // the sign-in has read the user before
  checked = Promise.resolve();
  expect((await users.changePassword(own, { old: 'old', password: 'new' })).ok).toBe(true);
  slow.resolve();

  expect(await late).toMatchObject({ ok: false, error: { kind: 'wrongPassword' } });
  expect((await store.users.sessionsOf('u')).map(({ tokenHash }) => tokenHash)).toEqual([
    own.session,
  ]);
  await store.close();
});
