/** Load for the measurement of both databases. */
import type { Clock } from '../../src/base/clock.ts';
import type { AccountId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { micros } from '../../src/base/money.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { Accounts } from '../../src/domain/account/account.ts';
import type { NewEntry } from '../../src/domain/ledger/types.ts';
import { systemClock } from '../../src/edge/clock/system-clock.ts';
import type { Store } from '../../src/edge/store/store.ts';

export const CALLS_AT_ONCE = 200;
export const START_MS = Date.UTC(2025, 0, 1);

/** A wall clock that the bench sets: the entries are to lie over a year. */
export const wall = { ms: START_MS };
export const clock: Clock = { ...systemClock, wallMs: () => wall.ms };

export async function createAccount(store: Store): Promise<AccountId> {
  const accounts = new Accounts({
    store: store.accounts,
    partners: store.partners,
    idempotency: store.idempotency,
    clock,
    random: systemRandom,
    logger: silentLogger,
    defaults: { concurrentCallsLimit: 10, cpsLimit: 2, currency: 'USD', country: 'US' },
  });
  const made = await accounts.create({ name: 'bench' });
  if (!made.ok) throw new Error(made.error.kind);
  const { authId } = made.value.account;
  await store.ledger.post([entry(authId, 0, 'credit', 1_000_000_000_000)], { checked: false });
  return authId;
}

export const entry = (
  accountId: AccountId,
  index: number,
  type: NewEntry['type'],
  amount: number,
): NewEntry => ({
  accountId,
  currency: 'USD',
  type,
  amount: micros(amount),
  description: `Call ${index}`,
  reference: type === 'debit' ? `cdr:${index}` : undefined,
  referenceType: type === 'debit' ? (index % 5 === 0 ? 'stream_cdr' : 'cdr') : 'payment',
});

/** A call as the ledger sees it: two units of work. */
export async function reserveAndPost(
  store: Store,
  accountId: AccountId,
  index: number,
): Promise<void> {
  const reservationId = `r${index}`;
  await store.ledger.reserve({
    reservationId,
    accountId,
    currency: 'USD',
    amount: micros(6500),
    dailySpendLimit: undefined,
  });
  await store.ledger.release(reservationId, [entry(accountId, index, 'debit', 6500)]);
}

/** Units per second with `CALLS_AT_ONCE` in progress. */
export async function rate(
  count: number,
  work: (index: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const started = performance.now();
  const one = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, one));
  return Math.round(count / ((performance.now() - started) / 1000));
}
