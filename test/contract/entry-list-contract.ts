import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asAccountId } from '../../src/base/ids.ts';
import { micros } from '../../src/base/money.ts';
import type { EntryFilter, LedgerEntry, NewEntry } from '../../src/domain/ledger/types.ts';
import type { Store } from '../../src/edge/store/store.ts';
import { anAccount, anEntry, START_US } from '../edge/store/records.ts';
import type { Opened } from './store-contract.ts';

const ACCOUNT = anAccount().authId;
const HOUR_US = 3_600_000_000;

/** The spec's filters, implemented directly on the list as a reference. */
function matches(entry: LedgerEntry, filter: EntryFilter): boolean {
  const within = (part: string | undefined, whole: string | undefined): boolean =>
    part === undefined || (whole ?? '').toLowerCase().includes(part.toLowerCase());
  const typeMatches =
    filter.type === undefined ||
    (filter.type === 'debit' && entry.type !== 'credit') ||
    (filter.type === 'credit' && entry.type === 'credit') ||
    filter.type === entry.type;
  return (
    typeMatches &&
    (filter.fromUs === undefined || entry.createdUs >= filter.fromUs) &&
    (filter.toUs === undefined || entry.createdUs <= filter.toUs) &&
    (filter.status === undefined || entry.status === filter.status) &&
    (filter.currency === undefined || entry.currency === filter.currency) &&
    (filter.referenceType === undefined || entry.referenceType === filter.referenceType) &&
    within(filter.description, entry.description) &&
    within(filter.reference, entry.reference) &&
    (filter.id === undefined || entry.id === filter.id)
  );
}

/** An entry, its pending state and outcome, and the time without activity before it. */
interface Posting extends NewEntry {
  readonly pending: 'no' | 'stays' | 'completed' | 'failed';
  readonly waitHours: number;
}

const newEntry: fc.Arbitrary<Posting> = fc.record({
  accountId: fc.constant(ACCOUNT),
  currency: fc.constantFrom('USD', 'EUR'),
  type: fc.constantFrom('debit', 'credit', 'did_rental'),
  amount: fc.integer({ min: 0, max: 1_000_000 }).map(micros),
  description: fc.constantFrom('Call to 1', 'call TO 2', 'Rental 100%', 'a_b'),
  reference: fc.option(
    fc.uuid().map((id) => `cdr:${id}`),
    { nil: undefined },
  ),
  referenceType: fc.constantFrom('cdr', 'stream_cdr', 'payment'),
  pending: fc.constantFrom('no', 'no', 'stays', 'completed', 'failed'),
  waitHours: fc.integer({ min: 0, max: 20 }),
});

const hours = fc.option(fc.integer({ min: -5, max: 400 }), { nil: undefined });
const filter: fc.Arbitrary<EntryFilter> = fc.record({
  accountId: fc.constant(ACCOUNT),
  fromUs: hours.map((h) => (h === undefined ? undefined : START_US + h * HOUR_US)),
  toUs: hours.map((h) => (h === undefined ? undefined : START_US + h * HOUR_US - 1)),
  type: fc.constantFrom(undefined, undefined, 'debit', 'credit', 'did_rental', 'other'),
  status: fc.constantFrom(undefined, undefined, 'completed', 'pending', 'failed'),
  currency: fc.constantFrom(undefined, undefined, 'USD', 'EUR', 'GBP'),
  referenceType: fc.constantFrom(undefined, undefined, 'cdr', 'payment'),
  description: fc.constantFrom(undefined, undefined, undefined, 'CALL', '100%', '_'),
  reference: fc.constantFrom(undefined, undefined, undefined, 'CDR:'),
  id: fc.constant(undefined),
});

/** `numRuns`: number of runs of the property, each on an empty store. */
export function entryListContract(
  name: string,
  open: () => Promise<Opened>,
  numRuns: number,
): void {
  describe(`the ledger list of ${name}`, () => {
    it('returns the same entries and sums as a direct evaluation of every filter (Transactions)', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(newEntry, { maxLength: 60 }),
          fc.array(filter, { minLength: 12, maxLength: 12 }),
          fc.integer({ min: 1, max: 7 }),
          async (entries, filters, perPage) => {
            const { store, clock, dispose } = await open();
            const all = await fill(store, entries, (h) => clock.advance(h * 3_600_000));
            for (const one of filters) await compare(store, one, perPage, all);
            expect(await store.verify()).toEqual([]);
            await dispose();
          },
        ),
        { numRuns },
      );
    });

    it('finds a single entry by its ID (Transactions, transaction_id)', async () => {
      const { store, dispose } = await open();
      const all = await fill(store, fc.sample(newEntry, { numRuns: 5, seed: 3 }), async () => {});
      await compare(store, { accountId: ACCOUNT, id: all[2]?.id }, 50, all);
      await compare(store, { accountId: ACCOUNT, id: 'none' }, 50, all);
      await dispose();
    });

    it('sums a turnover beyond the exact integers of JavaScript', async () => {
      const { store, dispose } = await open();
      await store.accounts.create(anAccount(), 't');
      const amount = micros(8_000_000_000_000_001);
      for (const type of ['credit', 'debit', 'credit'] as const)
        expect(
          await store.ledger.post([anEntry({ type, amount })], { checked: false }),
        ).toMatchObject({
          ok: true,
        });
      const summary = await store.ledger.summary({ accountId: ACCOUNT, currency: 'USD' });
      expect(summary).toMatchObject({ totalDebit: amount, totalCredit: 2 * amount });
      await dispose();
    });

    it('hides the list from another account', async () => {
      const { store, dispose } = await open();
      await fill(store, fc.sample(newEntry, { numRuns: 5, seed: 3 }), async () => {});
      expect(await store.ledger.page({ accountId: asAccountId('MA_X') }, 1, 50)).toEqual({
        entries: [],
        total: 0,
      });
      await dispose();
    });
  });
}

/** Posts the entries and returns them newest first, as stored. */
async function fill(
  store: Store,
  entries: readonly Posting[],
  wait: (hours: number) => Promise<void>,
): Promise<readonly LedgerEntry[]> {
  await store.accounts.create(anAccount(), 't');
  await store.ledger.openBalance(ACCOUNT, 'EUR');
  const all: LedgerEntry[] = [];
  for (const { pending, waitHours, ...entry } of entries) {
    await wait(waitHours);
    const posted =
      pending === 'no'
        ? await store.ledger.post([entry], { checked: false })
        : await store.ledger.postPending(entry);
    if (!posted.ok) throw new Error(posted.error);
    const [first] = [posted.value].flat();
    if (first === undefined) throw new Error('no entry was posted');
    const ended =
      pending === 'completed' || pending === 'failed'
        ? await store.ledger.completePending(first.id, pending)
        : first;
    if (ended !== undefined) all.unshift(ended);
  }
  return all;
}

async function compare(
  store: Store,
  one: EntryFilter,
  perPage: number,
  all: readonly LedgerEntry[],
): Promise<void> {
  const expected = all.filter((entry) => matches(entry, one));
  const walked: LedgerEntry[] = [];
  for (let page = 1; page <= Math.ceil(expected.length / perPage) + 1; page += 1) {
    const cut = await store.ledger.page(one, page, perPage);
    expect(cut.total).toBe(expected.length);
    walked.push(...cut.entries);
  }
  expect(walked).toEqual(expected);
  const sum = (credit: boolean): number =>
    expected
      .filter((entry) => (entry.type === 'credit') === credit)
      .reduce((total, entry) => total + entry.amount, 0);
  const summary = await store.ledger.summary(one);
  expect(summary).toMatchObject({
    totalTransactions: expected.length,
    totalCredit: sum(true),
    totalDebit: sum(false),
  });
  expect(summary.byReferenceType.map((row) => row.referenceType)).toEqual(
    [...new Set(expected.map((entry) => entry.referenceType))].sort(),
  );
}
