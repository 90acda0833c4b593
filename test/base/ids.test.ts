import { expect, it } from 'vitest';
import { type AccountId, asAccountId, newAccountId } from '../../src/base/ids.ts';
import { SimRandom } from '../sim/random.ts';

/** Never called: it is the compiler that checks these lines, and an expected error that is none fails. */
function swapped(account: AccountId): void {
  const ofAccount = (id: AccountId): AccountId => id;
  ofAccount(account);
  // @ts-expect-error text that nobody has taken for an account
  ofAccount('MA_ONE');
  // An identifier is still text.
  account.startsWith('MA_');
}

it('an identifier is the text it was made of', () => {
  expect(asAccountId('MA_ONE')).toBe('MA_ONE');
  expect(swapped).toBeTypeOf('function');
  expect(newAccountId(new SimRandom(1), 'SA')).toMatch(/^SA_[A-Z0-9]{17}$/);
});
