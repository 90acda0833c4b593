import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Role } from '../../../src/domain/user/types.ts';
import { Users } from '../../../src/domain/user/user.ts';
import { type OpenedStore, openInMemory } from '../../edge/store/open.ts';

let opened: OpenedStore;
let users: Users;
beforeEach(async () => {
  opened = await openInMemory();
  const { store, clock, random } = opened;
  const hasher = { hash: async (text: string) => text, matches: async () => true };
  const passwords = {} as ConstructorParameters<typeof Users>[0]['passwords'];
  users = new Users({ store: store.users, hasher, passwords, clock, random });
  for (const id of ['a', 'b']) await add(id, 'owner');
});
afterEach(() => opened.store.close());

const add = (id: string, role: Role): Promise<boolean> =>
  opened.store.users.insert({
    id,
    email: `${id}@example.com`,
    role,
    accountId: undefined,
    passwordHash: '',
    totpSecret: undefined,
    totpStep: 0,
    createdUs: 0,
  });
const owners = async (): Promise<number> =>
  (await users.list(undefined)).filter(({ role }) => role === 'owner').length;

it.each([
  ['remove', (id: string) => users.remove(id, 'all')],
  ['demote', (id: string) => users.changeRole(id, 'viewer', 'all')],
] as const)('keeps one owner if two owners %s each other at the same time', async (_, act) => {
  const results = await Promise.all([act('a'), act('b')]);
  expect(results.filter(({ ok }) => ok)).toHaveLength(1);
  expect(results.find(({ ok }) => !ok)).toMatchObject({ error: { kind: 'lastOwner' } });
  expect(await owners()).toBe(1);
});
