import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError, UnknownOutcomeError } from '../../../src/base/errors.ts';
import { type AccountId, asAccountId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { micros } from '../../../src/base/money.ts';
import { err, ok, type Result } from '../../../src/base/result.ts';
import { Accounts, type NewAccount, type Principal } from '../../../src/domain/account/account.ts';
import { OncePerKey } from '../../../src/domain/account/once-per-key.ts';
import type { Account } from '../../../src/domain/account/types.ts';
import { type OpenedStore, openInMemory } from '../../edge/store/open.ts';

interface Made {
  readonly account: Account;
  readonly authToken: string;
}

let opened: OpenedStore;
let accounts: Accounts;
beforeEach(async () => {
  opened = await openInMemory();
  accounts = new Accounts({
    store: opened.store.accounts,
    partners: opened.store.partners,
    idempotency: opened.store.idempotency,
    clock: opened.clock,
    random: opened.random,
    logger: silentLogger,
    defaults: { concurrentCallsLimit: 10, cpsLimit: 2, currency: 'USD', country: 'US' },
  });
});
afterEach(() => opened.store.close());

async function create(input: NewAccount = { name: 'Ada' }): Promise<Made> {
  const made = await accounts.create(input);
  if (!made.ok) throw new Error(made.error.kind);
  return made.value;
}

async function createSub(parent: AccountId): Promise<Made> {
  const made = await accounts.createSubAccount(parent, { name: 'Sub' });
  if (!made.ok) throw new Error(made.error.kind);
  return made.value;
}

async function principalOf(made: Made): Promise<Principal> {
  const found = await accounts.authenticate(made.account.authId, made.authToken);
  if (!found.ok) throw new Error(found.error.kind);
  return found.value;
}

const CREDIT = {
  currency: 'USD',
  type: 'credit',
  description: 'A payment',
  reference: undefined,
  referenceType: 'manual_adjustment',
} as const;

describe('requests with an idempotency key', () => {
  const request = { owner: 'MA_ONE', key: 'k', requested: { amount: 5 } };

  it('do their work once if their response cannot be stored', async () => {
    const once = new OncePerKey({
      ...opened.store.idempotency,
      finish: async () => {
        throw new ServiceError('STORE_FULL', 'the disk is full');
      },
    });
    const work = vi.fn(async () => ok('done'));
    expect(await once.run(request, work)).toEqual(ok({ value: 'done', replayed: false }));
    expect(await once.run(request, work)).toEqual(err({ kind: 'idempotencyConflict' }));
    expect(work).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['once if it may have been done', new UnknownOutcomeError('STORE_BUSY', 'lost'), 1],
    ['again if it was not done', new ServiceError('STORE_BUSY', 'busy'), 2],
  ])('do failed work %s', async (_name, error, times) => {
    const once = new OncePerKey(opened.store.idempotency);
    const work = vi.fn(async () => Promise.reject<Result<string, never>>(error));
    await expect(once.run(request, work)).rejects.toBe(error);
    await once.run(request, work).catch(() => undefined);
    expect(work).toHaveBeenCalledTimes(times);
  });

  it('do not write twice if a later step fails', async () => {
    const { account } = await create();
    const once = new OncePerKey(opened.store.idempotency);
    const { authId: accountId } = account;
    const entry = { ...CREDIT, accountId, amount: micros(5) };
    const work = async () => {
      await opened.store.ledger.post([entry], { checked: false });
      throw new ServiceError('STORE_BUSY', 'the database is unavailable');
    };
    await expect(once.run(request, work)).rejects.toThrow('unavailable');
    expect(await once.run(request, work)).toEqual(err({ kind: 'idempotencyConflict' }));
    const [balance] = await opened.store.ledger.balances(accountId);
    expect(balance?.balance).toBe(5);
  });
});

describe('two requests with the same key at the same time', () => {
  const request = { owner: 'MA_ONE', key: 'k', requested: { amount: 5, to: 'a' } };
  const slow = () => {
    const done = Promise.withResolvers<Result<string, { kind: 'refused' }>>();
    const once = new OncePerKey(opened.store.idempotency);
    return { once, done, work: vi.fn(() => done.promise) };
  };

  it('do the work once; the second gets the response of the first', async () => {
    const { once, done, work } = slow();
    const first = once.run(request, work);
    const second = once.run({ ...request, requested: { to: 'a', amount: 5 } }, work);
    done.resolve(ok('done'));
    expect(await first).toEqual(ok({ value: 'done', replayed: false }));
    expect(await second).toEqual(ok({ value: 'done', replayed: true }));
    expect(await once.run(request, work)).toEqual(ok({ value: 'done', replayed: true }));
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('conflict if they differ', async () => {
    const { once, done, work } = slow();
    const first = once.run(request, work);
    const conflict = err({ kind: 'idempotencyConflict' });
    expect(await once.run({ ...request, requested: { amount: 6 } }, work)).toEqual(conflict);
    done.resolve(ok('done'));
    await first;
    expect(await once.run({ ...request, requested: { amount: 6 } }, work)).toEqual(conflict);
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('are independent for different owners', async () => {
    const { once, done, work } = slow();
    const both = ['MA_ONE', 'MA_TWO'].map((owner) => once.run({ ...request, owner }, work));
    done.resolve(ok('done'));
    await Promise.all(both);
    expect(work).toHaveBeenCalledTimes(2);
  });

  it('share a refusal, after which the key is free', async () => {
    const { once, done, work } = slow();
    const both = [once.run(request, work), once.run(request, work)];
    done.resolve(err({ kind: 'refused' }));
    const refused = err({ kind: 'refused' });
    expect(await Promise.all(both)).toEqual([refused, refused]);
    const again = async () => ok('done');
    expect(await once.run(request, again)).toEqual(ok({ value: 'done', replayed: false }));
  });
});

describe('accounts', () => {
  it('report what revokes rights: a status, a permission, a deletion', async () => {
    const main = await create();
    const sub = await createSub(main.account.authId);
    const [accountId, subAccount] = [main.account.authId, sub.account.authId];
    const revoked: unknown[] = [];
    accounts.onRevoked(async ({ removedUsernames: _, ...one }) => void revoked.push(one));
    await accounts.patch(subAccount, { name: 'Other' });
    await accounts.patch(subAccount, { permissions: { calls: false } });
    await accounts.patch(subAccount, { status: 'suspended' });
    await accounts.patch(accountId, { status: 'suspended' });
    await accounts.removeSubAccount(accountId, subAccount);
    const ofSub = { accountId, subAccount, callsOnly: false };
    expect(revoked).toEqual([
      { ...ofSub, callsOnly: true, why: 'calls are not permitted to the sub-account' },
      { ...ofSub, why: 'the sub-account is suspended' },
      { ...ofSub, subAccount: undefined, why: 'the account is suspended' },
      { ...ofSub, why: 'the sub-account was deleted' },
    ]);
  });

  it('are customers of an existing partner only, and not of themselves', async () => {
    const plain = await create();
    const partner = await create({ name: 'Partner', isPartner: true });
    const partnerAuthId = plain.account.authId;
    const refused = { error: { kind: 'unknownPartner' } };
    expect(await accounts.create({ name: 'x', partnerAuthId })).toMatchObject(refused);
    const { authId } = partner.account;
    expect(await accounts.patch(authId, { partnerAuthId: authId })).toMatchObject(refused);
    expect(await accounts.create({ name: 'x', partnerAuthId: authId })).toMatchObject({ ok: true });
    expect(await accounts.patch(authId, { isPartner: false })).toMatchObject({
      error: { kind: 'partnerInUse' },
    });
  });

  it('have IDs of MA_ and 17 characters of [A-Z0-9], sub-accounts of SA_ (dialect §0.2 rule 7)', async () => {
    const main = await create();
    const sub = await createSub(main.account.authId);
    expect(main.account.authId).toMatch(/^MA_[A-Z0-9]{17}$/);
    expect(sub.account.authId).toMatch(/^SA_[A-Z0-9]{17}$/);
    expect(sub.account.parentAuthId).toBe(main.account.authId);
  });

  it('draws a colliding ID again, for a limited number of attempts', async () => {
    let draws = 0;
    const taken = async () => {
      draws += 1;
      if (draws > 100) throw new Error('for ever');
      return err('authIdTaken' as const);
    };
    const create = vi.spyOn(opened.store.accounts, 'create').mockImplementationOnce(taken);
    expect(await accounts.create({ name: 'Ada' })).toMatchObject({ ok: true });
    create.mockImplementation(taken);
    await expect(accounts.create({ name: 'Ada' })).rejects.toThrow(
      /account ids in a row are in use/,
    );
  });

  it('opens a balance for a main account and none for a sub-account', async () => {
    const main = await create({ name: 'Ada', currency: 'eur' });
    const sub = await createSub(main.account.authId);
    const currencies = async (id: AccountId) =>
      (await opened.store.ledger.balances(id)).map((balance) => balance.currency);
    expect(await currencies(main.account.authId)).toEqual(['EUR']);
    expect(await currencies(sub.account.authId)).toEqual([]);
  });

  it('refuses a sub-account of a sub-account', async () => {
    const sub = await createSub((await create()).account.authId);
    const refused = await accounts.createSubAccount(sub.account.authId, { name: 'x' });
    expect(refused).toMatchObject({ error: { kind: 'unknownParent' } });
  });

  it('returns a patched value in the next read', async () => {
    const { account } = await create();
    expect((await accounts.get(account.authId))?.cpsLimit).toBe(2);
    await accounts.patch(account.authId, { cpsLimit: 9 });
    expect((await accounts.get(account.authId))?.cpsLimit).toBe(9);
  });

  it('rejects the credentials of a deleted sub-account', async () => {
    const main = await create();
    const sub = await createSub(main.account.authId);
    await principalOf(sub);
    await accounts.removeSubAccount(main.account.authId, sub.account.authId);
    const found = await accounts.authenticate(sub.account.authId, sub.authToken);
    expect(found).toMatchObject({ error: { kind: 'badCredentials' } });
  });
});

describe('authentication', () => {
  it('accepts only the correct token (Authentication 8)', async () => {
    const made = await create();
    expect((await principalOf(made)).account.authId).toBe(made.account.authId);
    for (const [id, token] of [
      [made.account.authId, `${made.authToken}x`],
      [made.account.authId, ''],
      [asAccountId('MA_NOBODY'), made.authToken],
      [asAccountId('MA_NOBODY'), ''],
    ] as const) {
      expect(await accounts.authenticate(id, token)).toEqual({
        ok: false,
        error: { kind: 'badCredentials' },
      });
    }
  });

  it('accepts a rotated token immediately and the previous one until its overlap ends', async () => {
    const made = await create();
    const rotated = await accounts.rotateToken(made.account.authId, 60_000);
    if (!rotated.ok) throw new Error(rotated.error.kind);
    const works = async (token: string) =>
      (await accounts.authenticate(made.account.authId, token)).ok;
    expect(await works(made.authToken)).toBe(true);
    expect(await works(rotated.value.authToken)).toBe(true);
    await opened.clock.advance(60_000);
    expect(await works(made.authToken)).toBe(false);
    expect(await works(rotated.value.authToken)).toBe(true);
  });

  it('rejects the old token immediately after a rotation without overlap', async () => {
    const made = await create();
    await accounts.rotateToken(made.account.authId, 0);
    expect((await accounts.authenticate(made.account.authId, made.authToken)).ok).toBe(false);
  });

  it('reports a suspended account, or one with a suspended parent, as inactive', async () => {
    const main = await create();
    const sub = await createSub(main.account.authId);
    await accounts.patch(main.account.authId, { status: 'suspended' });
    for (const made of [main, sub]) {
      expect(await accounts.authenticate(made.account.authId, made.authToken)).toMatchObject({
        error: { kind: 'inactive' },
      });
    }
  });

  it('accepts a bearer token until it expires (Authentication 3)', async () => {
    const { account } = await create();
    const { accessToken } = await accounts.createAccessToken(account.authId, 10_000);
    expect(await accounts.authenticateBearer(accessToken)).toMatchObject({
      value: { by: 'accessToken', account: { authId: account.authId } },
    });
    expect((await accounts.authenticateBearer('x')).ok).toBe(false);
    await opened.clock.advance(10_000);
    expect((await accounts.authenticateBearer(accessToken)).ok).toBe(false);
  });
});

describe('a change whose consequences fail', () => {
  const fails = () => Promise.reject(new Error('the store is unavailable'));

  it('returns the new token, because the old one may be invalid already', async () => {
    const { account } = await create();
    accounts.onTokensChanged(fails);
    const rotated = await accounts.rotateToken(account.authId, 0);
    if (!rotated.ok) throw new Error(rotated.error.kind);
    const { authToken } = rotated.value;
    expect((await accounts.authenticate(account.authId, authToken)).ok).toBe(true);
  });

  it('reports a deleted sub-account as deleted', async () => {
    const main = await create();
    const sub = await createSub(main.account.authId);
    accounts.onRevoked(fails);
    const removed = await accounts.removeSubAccount(main.account.authId, sub.account.authId);
    expect(removed.ok).toBe(true);
  });
});

describe('token rotation', () => {
  it('ends the access tokens of the old token at the end of the overlap', async () => {
    const { account } = await create();
    const { accessToken } = await accounts.createAccessToken(account.authId, 1_000_000);
    await accounts.rotateToken(account.authId, 5000);
    expect((await accounts.authenticateBearer(accessToken)).ok).toBe(true);
    await opened.clock.advance(5000);
    expect((await accounts.authenticateBearer(accessToken)).ok).toBe(false);
  });
});

describe('the account in the path', () => {
  it('must be the authenticated account (Authentication 4)', async () => {
    const [mine, other] = [await create(), await create()];
    const principal = await principalOf(mine);
    expect((await accounts.authorize(principal, mine.account.authId)).ok).toBe(true);
    expect(await accounts.authorize(principal, other.account.authId)).toEqual({
      ok: false,
      error: { kind: 'accountMismatch' },
    });
  });

  it('resolves SA_ to the parent ledger, only for itself and its parent (Transactions, rule 6)', async () => {
    const [main, outsider] = [await create(), await create()];
    const sub = await createSub(main.account.authId);
    const sibling = await createSub(main.account.authId);
    const owner = async (made: Made) => {
      const access = await accounts.authorize(await principalOf(made), sub.account.authId);
      return access.ok ? access.value.owner.authId : access.error.kind;
    };
    expect(await owner(sub)).toBe(main.account.authId);
    expect(await owner(main)).toBe(main.account.authId);
    expect(await owner(outsider)).toBe('accountMismatch');
    expect(await owner(sibling)).toBe('accountMismatch');
  });

  it('does not let a sub-account act on its parent', async () => {
    const main = await create();
    const sub = await principalOf(await createSub(main.account.authId));
    expect((await accounts.authorize(sub, main.account.authId)).ok).toBe(false);
  });
});
