import type { AccountId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { type Micros, micros, ZERO } from '../../base/money.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { type Invoice, invoiceOf, type Month } from './invoice.ts';
import type { LedgerStore, OpenBalanceRefusal, PostRefusal, RateStore } from './needs.ts';
import { type Price, RateBook } from './rating.ts';
import type {
  Balance,
  BalancePatch,
  DailyTotal,
  EntryFilter,
  EntrySummary,
  LedgerEntry,
  LedgerFault,
  NewEntry,
  Rate,
  RateKey,
  ReserveRefusal,
  Use,
} from './types.ts';

export { availableOf, canSpend, isLow, promotionAfterDebit } from './funds.ts';
export { type Invoice, type InvoiceLine, type Month, monthOf } from './invoice.ts';
export { LowBalanceAlerts } from './low-balance.ts';
export { type Metered, MeteredCharge } from './metered-charge.ts';
export {
  affordable,
  PRICE_TOO_SMALL,
  type Price,
  parseRates,
  priceUse,
  RateBook,
  roundsToZero,
} from './rating.ts';
export { speechHold, UseMeter } from './use-meter.ts';
export { parseWindowBound } from './window.ts';

/** Page sizes of the ledger (spec: `per_page`). A value above the maximum selects the default; it is not clamped. */
export const DEFAULT_PER_PAGE = 50;
export const MAX_PER_PAGE = 1000;
/** Number of entries fetched per query while walking a set. */
const WALK_BATCH = 500;

export type LedgerRefusal =
  | { readonly kind: 'unknownBalance' }
  | { readonly kind: 'insufficientFunds' }
  /** The balance would be larger than the largest exact integer. */
  | { readonly kind: 'balanceLimit' }
  /** The idempotency key belongs to an entry with different fields. */
  | { readonly kind: 'keyReused' }
  | { readonly kind: OpenBalanceRefusal };

export type RateRefusal =
  | { readonly kind: 'unknownRate' }
  /** The rate comes from the price list file and cannot be removed. */
  | { readonly kind: 'listedRate' };

export interface EntryPage {
  readonly entries: readonly LedgerEntry[];
  readonly summary: EntrySummary;
  readonly total: number;
  readonly page: number;
  readonly perPage: number;
  readonly totalPages: number;
}

export interface Adjustment {
  readonly accountId: AccountId;
  readonly currency: string;
  /** Amount: positive is a credit, negative a debit. Not zero. */
  readonly amount: Micros;
  readonly description: string;
  /** Reference type. Default `manual_adjustment`. */
  readonly referenceType?: string | undefined;
  readonly promotional?: boolean | undefined;
  /** Reference `<source>:<uuid>` of the cause. A repeated reference posts nothing. */
  readonly reference?: string | undefined;
  /** Idempotency key supplied by the caller. */
  readonly key?: string | undefined;
}

/** Lists, credits and verifies balances and entries of accounts. Calls settle through `domain/cdr`. */
export class Ledger {
  readonly #store: LedgerStore;
  readonly #rates: RateStore;
  readonly #log: Logger;
  /** Rates for calls: those of the price list file and the stored ones. */
  readonly rateBook: RateBook;

  constructor(deps: {
    readonly store: LedgerStore;
    readonly rates: RateStore;
    readonly rateBook?: RateBook;
    readonly log: Logger;
  }) {
    this.#store = deps.store;
    this.#rates = deps.rates;
    this.#log = deps.log;
    this.rateBook = deps.rateBook ?? new RateBook();
  }

  /** Loads the stored rates, which override those of the file. Called at the start and after another node changed rates. */
  async loadRates(): Promise<void> {
    this.rateBook.replaceStored(await this.#rates.listAll());
  }

  /** Applies another price list file. Stored rates still override it. */
  replaceListedRates(rates: readonly Rate[]): void {
    this.rateBook.relist(rates);
  }

  async putRate(rate: Rate): Promise<void> {
    await this.#rates.put(rate);
    this.rateBook.put(rate);
  }

  /** Removes a stored rate. `listedRate` means that it comes only from the price list file, which the operator edits. */
  async removeRate(key: RateKey): Promise<Result<void, RateRefusal>> {
    if (!(await this.#rates.remove(key))) {
      return err({ kind: this.rateBook.has(key) ? 'listedRate' : 'unknownRate' });
    }
    this.rateBook.remove(key);
    return ok(undefined);
  }

  listRates(): readonly Rate[] {
    return this.rateBook.list();
  }

  async openBalance(
    accountId: AccountId,
    currency: string,
  ): Promise<Result<Balance, LedgerRefusal>> {
    const opened = await this.#store.openBalance(accountId, currency.toUpperCase());
    return opened.ok ? opened : err({ kind: opened.error });
  }

  async balance(accountId: AccountId, currency: string): Promise<Result<Balance, LedgerRefusal>> {
    const found = await this.#store.balance(accountId, currency.toUpperCase());
    return found === undefined ? err({ kind: 'unknownBalance' }) : ok(found);
  }

  balances(accountId: AccountId): Promise<readonly Balance[]> {
    return this.#store.balances(accountId);
  }

  async patchBalance(
    accountId: AccountId,
    currency: string,
    patch: BalancePatch,
  ): Promise<Result<Balance, LedgerRefusal>> {
    const changed = await this.#store.patchBalance(accountId, currency.toUpperCase(), patch);
    return changed === undefined ? err({ kind: 'unknownBalance' }) : ok(changed);
  }

  /**
   * Posts a credit or debit by the operator. A repeated key with the same fields returns the first entry; with other
   * fields it is refused (`keyReused`).
   */
  async adjust(adjustment: Adjustment): Promise<Result<LedgerEntry, LedgerRefusal>> {
    const entry: NewEntry = {
      accountId: adjustment.accountId,
      currency: adjustment.currency.toUpperCase(),
      type: adjustment.amount < 0 ? 'debit' : 'credit',
      amount: micros(Math.abs(adjustment.amount)),
      description: adjustment.description,
      reference: adjustment.reference,
      referenceType: adjustment.referenceType ?? 'manual_adjustment',
      promotional: adjustment.promotional ?? false,
      ...(adjustment.key === undefined ? {} : { key: adjustment.key }),
    };
    return this.#one(await this.#store.post([entry], { checked: false, strict: true }));
  }

  /** Reserves `amount` for a use that begins. Idempotent. */
  holdUse(use: Use, amount: Micros): Promise<Result<void, ReserveRefusal>> {
    const { reservationId, accountId, currency } = use;
    const dailySpendLimit = 'ofAccount';
    return amount === 0
      ? Promise.resolve(ok(undefined))
      : this.#store.reserve({ reservationId, accountId, currency, amount, dailySpendLimit });
  }

  /** Raises the reservation of a use to `amount`. */
  raiseUse({ reservationId }: Use, amount: Micros): Promise<Result<void, ReserveRefusal>> {
    return this.#store.extend(reservationId, amount);
  }

  /** Ends a use: charges `usedMs`, limited to what is reserved or covered, and releases the rest. 0 charges nothing. */
  chargeUse(use: Use, usedMs: number): Promise<Result<Price, 'unknownBalance'>> {
    return this.#store.chargeUse(use, usedMs);
  }

  /** Posts a debit that must be covered: purchases, fees (spec: `hard` blocks new purchases). */
  async charge(entry: NewEntry): Promise<Result<LedgerEntry, LedgerRefusal>> {
    return this.#one(await this.#store.post([entry], { checked: true }));
  }

  /**
   * Returns one page, newest first, with the summary of the whole filtered set. If the summary fails, it is zeroed
   * and the request succeeds (spec: Transactions, rule 7).
   */
  async list(filter: EntryFilter, page: number, perPage: number): Promise<EntryPage> {
    const size = perPage > MAX_PER_PAGE || perPage < 1 ? DEFAULT_PER_PAGE : perPage;
    const wanted = Math.max(1, page);
    const [cut, summary] = await Promise.all([
      this.#store.page(filter, wanted, size),
      this.#store.summary(filter).catch((error: unknown) => {
        this.#log.error({ error, accountId: filter.accountId }, 'ledger summary failed');
        return EMPTY_SUMMARY;
      }),
    ]);
    return {
      entries: cut.entries,
      summary,
      total: cut.total,
      page: wanted,
      perPage: size,
      totalPages: Math.ceil(cut.total / size),
    };
  }

  /** Yields every entry of the set, newest first, in bounded memory. */
  async *walk(filter: EntryFilter): AsyncGenerator<LedgerEntry> {
    let before: number | undefined;
    for (;;) {
      const batch = await this.#store.walk(filter, before, WALK_BATCH);
      for (const { entry } of batch) yield entry;
      before = batch.at(-1)?.seq;
      if (before === undefined || batch.length < WALK_BATCH) return;
    }
  }

  /** Returns the number of entries that `walk` yields. */
  async count(filter: EntryFilter): Promise<number> {
    return (await this.#store.page(filter, 1, 1)).total;
  }

  /** Returns completed entries by day, currency and source. Days count since the epoch; both bounds are inclusive. */
  daily(accountId: AccountId, fromDay: number, toDay: number): Promise<readonly DailyTotal[]> {
    return this.#store.daily(accountId, fromDay, toDay);
  }

  async invoice(
    account: { readonly authId: AccountId; readonly name: string },
    currency: string,
    month: Month,
    nowUs: number,
  ): Promise<Result<Invoice, LedgerRefusal>> {
    const { authId: accountId, name: accountName } = account;
    const found = await this.balance(accountId, currency);
    if (!found.ok) return found;
    const filter = { accountId, currency: found.value.currency, status: 'completed' };
    const [before, within] = await Promise.all([
      this.#store.summary({ ...filter, toUs: month.fromUs - 1 }),
      this.#store.summary({ ...filter, fromUs: month.fromUs, toUs: month.toUs }),
    ]);
    const { currency: code } = found.value;
    return ok(invoiceOf({ accountId, accountName, currency: code, month, nowUs, before, within }));
  }

  referenceTypes(accountId: AccountId): Promise<readonly string[]> {
    return this.#store.referenceTypes(accountId);
  }

  verify(): Promise<readonly LedgerFault[]> {
    return this.#store.verify();
  }

  #one(posted: Result<readonly LedgerEntry[], PostRefusal>): Result<LedgerEntry, LedgerRefusal> {
    if (!posted.ok) return err({ kind: posted.error });
    const [entry] = posted.value;
    return entry === undefined ? err({ kind: 'unknownBalance' }) : ok(entry);
  }
}

const EMPTY_SUMMARY: EntrySummary = {
  totalTransactions: 0,
  totalDebit: ZERO,
  totalCredit: ZERO,
  byReferenceType: [],
};
