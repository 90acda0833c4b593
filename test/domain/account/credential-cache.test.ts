import { beforeEach, describe, expect, it } from 'vitest';
import { type AccountId, asAccountId } from '../../../src/base/ids.ts';
import { CredentialCache } from '../../../src/domain/account/credential-cache.ts';
import type { AccountCredentials, AccountStore } from '../../../src/domain/account/needs.ts';
import { anAccount } from '../../edge/store/records.ts';

const [A, B] = [asAccountId('MA_A'), asAccountId('MA_B')];

let token: string;
let reads: AccountId[];
let reported: AccountId[];
let answer: () => Promise<void>;
let cache: CredentialCache;
beforeEach(() => {
  token = 'first';
  reads = [];
  reported = [];
  answer = async () => undefined;
  const credentials = async (authId: AccountId): Promise<AccountCredentials> => {
    reads.push(authId);
    const tokens = [{ token, expiresUs: undefined }];
    await answer();
    return { account: anAccount({ authId }), tokens };
  };
  const store = { credentials } as unknown as AccountStore;
  cache = new CredentialCache(store, (authId) => reported.push(authId));
});

const tokenOf = async (authId: AccountId) => (await cache.get(authId))?.tokens[0]?.token;

describe('cached credentials', () => {
  it('are read once, and again after a change', async () => {
    expect([await tokenOf(A), await tokenOf(A)]).toEqual(['first', 'first']);
    token = 'second';
    cache.changed(A);
    expect(await tokenOf(A)).toBe('second');
    expect([reads, reported]).toEqual([[A, A], [A]]);
  });

  it('do not come from a read that a change overtook', async () => {
    const waiting = Promise.withResolvers<void>();
    answer = () => waiting.promise;
    const reading = tokenOf(A);
    token = 'second';
    cache.changed(A);
    waiting.resolve();
    expect(await reading).toBe('first');
    answer = async () => undefined;
    expect(await tokenOf(A)).toBe('second');
  });

  it('of one account, or of all, are forgotten after a change by another process', async () => {
    await tokenOf(A);
    await tokenOf(B);
    cache.forget(A);
    await tokenOf(A);
    await tokenOf(B);
    expect(reads).toEqual([A, B, A]);
    cache.forget(undefined);
    await tokenOf(A);
    await tokenOf(B);
    expect(reads).toEqual([A, B, A, A, B]);
    expect(reported).toEqual([]);
  });

  it('are those of at most 10,000 accounts, of which the oldest goes first', async () => {
    for (let n = 0; n <= 10_000; n += 1) await cache.get(asAccountId(`MA_${n}`));
    reads.length = 0;
    await cache.get(asAccountId('MA_1'));
    await cache.get(asAccountId('MA_0'));
    expect(reads).toEqual(['MA_0']);
  });
});
