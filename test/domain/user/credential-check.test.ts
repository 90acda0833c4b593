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

it('asks for a code without counting a failure; a wrong code counts', async () => {
  await addUser(secret);
  const ask = (code: string) => check.signIn({ email: EMAIL, password: 'right', code }, ORIGIN);
  const asked = await parallel(12, () => ask(''));
  expect(ofKind(asked, 'codeNeeded')).toBe(12);
  for (let guess = 0; guess < 10; guess += 1)
    expect(await ask('000000')).toMatchObject({ error: { kind: 'codeNeeded' } });
  const right = totpCode(secret, stepAt(opened.clock.wallMs()));
  expect(await ask(right)).toMatchObject({ error: { kind: 'tooManyAttempts' } });
});

it('begins at zero after a success, for an e-mail in any case', async () => {
  await addUser();
  const signIn = (password: string) =>
    check.signIn({ email: 'Grace@Example.com', password, code: '' }, ORIGIN);
  for (let round = 0; round < 2; round += 1) {
    for (let guess = 0; guess < 9; guess += 1)
      expect(await signIn('guess')).toMatchObject({ error: { kind: 'wrongPassword' } });
    expect(await signIn('right')).toMatchObject({ ok: true });
  }
});

it('answers an unknown e-mail like a wrong password', async () => {
  const given = { email: 'nobody@example.com', password: 'right', code: '' };
  expect(await check.signIn(given, ORIGIN)).toMatchObject({ error: { kind: 'wrongPassword' } });
});
