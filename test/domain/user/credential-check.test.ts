import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Result } from '../../../src/base/result.ts';
import { CredentialCheck } from '../../../src/domain/user/credential-check.ts';
import { newTotpSecret, stepAt, totpCode } from '../../../src/domain/user/totp.ts';
import type { SignedIn, User, UserRefusal } from '../../../src/domain/user/types.ts';
import { type OpenedStore, openInMemory } from '../../edge/store/open.ts';

const EMAIL = 'grace@example.com';
const ORIGIN = { userAgent: 'a', address: '192.0.2.1' };
const SIGNED_IN: SignedIn = {
  userId: 'u',
  email: EMAIL,
  role: 'owner',
  accountId: undefined,
  session: 's',
};

let opened: OpenedStore;
let check: CredentialCheck;
let secret: string;
beforeEach(async () => {
  opened = await openInMemory();
  const { store, clock } = opened;
  const hasher = {
    hash: async (password: string) => password,
    matches: async (password: string, hash: string | undefined) => password === hash,
  };
  check = new CredentialCheck({ store: store.users, hasher, clock }, () => undefined);
  secret = newTotpSecret(opened.random);
});
afterEach(() => opened.store.close());

const addUser = (totpSecret?: string): Promise<boolean> => {
  const user = {
    id: 'u',
    email: EMAIL,
    role: 'owner',
    accountId: undefined,
    passwordHash: 'right',
  };
  return opened.store.users.insert({ ...user, totpSecret, totpStep: 0, createdUs: 0 } as User);
};
const parallel = async (
  count: number,
  act: (index: number) => Promise<Result<unknown, UserRefusal>>,
): Promise<readonly string[]> => {
  const results = await Promise.all(Array.from({ length: count }, (_, index) => act(index)));
  return results.map((result) => (result.ok ? 'passed' : result.error.kind));
};
const ofKind = (kinds: readonly string[], kind: string): number =>
  kinds.filter((one) => one === kind).length;

it('limits guesses of a password that are sent at the same time', async () => {
  await addUser();
  const passwords = (index: number): string => (index === 29 ? 'right' : `guess ${index}`);
  const kinds = await parallel(30, (index) =>
    check.signIn({ email: EMAIL, password: passwords(index), code: '' }, ORIGIN),
  );
  expect(ofKind(kinds, 'wrongPassword')).toBe(10);
  expect(ofKind(kinds, 'tooManyAttempts')).toBe(20);
});

it('limits guesses of a session that are sent at the same time', async () => {
  await addUser(secret);
  const kinds = await parallel(30, (index) =>
    check.prove(SIGNED_IN, index % 2 === 0 ? { password: 'guess' } : { oldCode: '000000' }),
  );
  expect(ofKind(kinds, 'tooManyAttempts')).toBe(20);
});

it('accepts a code once, also if it is sent twice at the same time', async () => {
  await addUser(secret);
  const code = totpCode(secret, stepAt(opened.clock.wallMs()));
  const kinds = await parallel(2, () =>
    check.signIn({ email: EMAIL, password: 'right', code }, ORIGIN),
  );
  expect([...kinds].sort()).toEqual(['codeNeeded', 'passed']);
});
