/** Writes past days into the data folder before the service starts, because the ledger accepts no backdated entries later. */

import { wallUs } from '../../src/base/clock.ts';
import { DAY_MS } from '../../src/base/duration.ts';
import { asAccountId } from '../../src/base/ids.ts';
import { micros } from '../../src/base/money.ts';
import type { NewEntry } from '../../src/domain/ledger/types.ts';
import { openAt } from '../edge/store/open.ts';
import { anAccount } from '../edge/store/records.ts';
import { SimClock } from '../sim/clock.ts';
import type { AccountKey } from './service.ts';

interface History {
  /** Setting values of the store, by name. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Number of past days. The account's calls cost 0.24 USD on each day. */
  readonly days: number;
}

/** Creates an account with 10 USD, dated to the first day of the history, in a data folder that no service has used. */
export async function accountWithHistory(dataDir: string, history: History): Promise<AccountKey> {
  const key = { authId: 'MA_AAAAAAAAAAAAAAAAA', authToken: 'a-token-of-days-before' };
  const accountId = asAccountId(key.authId);
  const clock = new SimClock(Date.now() - history.days * DAY_MS);
  const createdUs = wallUs(clock);
  const { store } = await openAt(dataDir, clock);
  await store.accounts.create(anAccount({ authId: accountId, createdUs }), key.authToken);
  const post = async (entry: Pick<NewEntry, 'type' | 'amount' | 'referenceType'>) => {
    const whole = { accountId, currency: 'USD', description: '', reference: undefined, ...entry };
    const posted = await store.ledger.post([whole], { checked: false });
    if (!posted.ok) throw new Error(posted.error);
  };
  await post({ type: 'credit', amount: micros(10_000_000), referenceType: 'payment' });
  for (let day = 0; day < history.days; day += 1) {
    await post({ type: 'debit', amount: micros(240_000), referenceType: 'cdr' });
    clock.stepWall(DAY_MS);
  }
  for (const [name, value] of Object.entries(history.settings ?? {}))
    await store.settings.set(name, value);
  await store.close();
  return key;
}
