import type { AccountId, CallUuid } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { CdrStore } from './needs.ts';
import type {
  CdrFilter,
  CdrRecord,
  CdrSearch,
  CdrSummary,
  DailyCalls,
  HourlyCalls,
  MosRange,
} from './types.ts';

export { chargeAt, chargesOf, closeCall, closeStream, connectedUs, dueAt } from './billing.ts';
export { INTERRUPTED, isInterrupted } from './interruption.ts';
export { OpenRecords } from './open-records.ts';
export { recoverOpenCalls } from './recovery.ts';
export { expireCalls } from './retention.ts';
export { Settler } from './settler.ts';

/** Number of records fetched per query while walking a set. */
const WALK_BATCH = 500;
/** Number of records that one search examines. */
const SEARCH_SCAN = 50_000;
/** Number of calls whose scores are averaged. */
const SCORED_CALLS = 2000;

export type CdrRefusal = { readonly kind: 'unknownCall' };

export interface CdrList extends Page<CdrRecord> {
  readonly summary: CdrSummary;
}

/** Queries finished calls. */
export class CallRecords {
  readonly #store: CdrStore;

  constructor(store: CdrStore) {
    this.#store = store;
  }

  /** Returns one record. A sub-account sees only its own calls. */
  async get(
    accountId: AccountId,
    callUuid: CallUuid,
    subAccount?: AccountId,
  ): Promise<Result<CdrRecord, CdrRefusal>> {
    const found = await this.#store.get(callUuid);
    const visible =
      found?.cdr.accountId === accountId &&
      (subAccount === undefined || found.cdr.subAccount === subAccount);
    return visible ? ok(found) : err({ kind: 'unknownCall' });
  }

  /** Returns the account of a finished call, or undefined if the call has no record. */
  async accountOf(callUuid: CallUuid): Promise<AccountId | undefined> {
    return (await this.#store.get(callUuid))?.cdr.accountId;
  }

  /** Returns one page, latest first, with the sums of the whole set. */
  async list(filter: CdrFilter, slice: Slice): Promise<CdrList> {
    const [page, summary] = await Promise.all([
      this.#store.page(filter, slice),
      this.#store.summary(filter),
    ]);
    return { ...page, summary };
  }

  async recent(
    accountId: AccountId,
    limit: number,
    subAccount?: AccountId,
  ): Promise<readonly CdrRecord[]> {
    return this.#store.walk({ accountId, subAccount }, undefined, limit);
  }

  /** Returns calls per start day and direction, oldest first. */
  daily(filter: CdrFilter): Promise<readonly DailyCalls[]> {
    return this.#store.daily(filter);
  }

  /** Returns the records before number `before` that match, latest first, with a bounded effort. */
  search(
    filter: CdrFilter,
    mos: MosRange,
    { before, limit }: { readonly before: number | undefined; readonly limit: number },
  ): Promise<CdrSearch> {
    return this.#store.search(filter, mos, { before, limit, scan: SEARCH_SCAN });
  }

  /** Returns calls per hour, oldest first, and the average score of the latest calls. */
  async hourly(
    filter: CdrFilter,
  ): Promise<{ readonly hours: readonly HourlyCalls[]; readonly mos: number | undefined }> {
    const [hours, mos] = await Promise.all([
      this.#store.hourly(filter),
      this.#store.averageMos(filter, SCORED_CALLS),
    ]);
    return { hours, mos };
  }

  /** Returns the number of records that `walk` yields. */
  async count(filter: CdrFilter): Promise<number> {
    return (await this.#store.page(filter, { limit: 1, offset: 0 })).total;
  }

  /** Yields every record of the set whose score is in the range, latest first, in bounded memory. */
  async *walk(filter: CdrFilter, mos?: MosRange): AsyncGenerator<CdrRecord> {
    let before: number | undefined;
    for (;;) {
      const batch = await this.#store.walk(filter, before, WALK_BATCH);
      yield* mos === undefined
        ? batch
        : batch.filter(({ cdr }) => isScoredIn(cdr.quality?.mos, mos));
      before = batch.at(-1)?.number;
      if (before === undefined || batch.length < WALK_BATCH) return;
    }
  }
}

/** Returns whether a score is within the range. Without bounds, calls without a score match too. */
const isScoredIn = (mos: number | undefined, { from, to }: MosRange): boolean =>
  (from === undefined && to === undefined) ||
  (mos !== undefined && mos >= (from ?? 0) && mos <= (to ?? Number.POSITIVE_INFINITY));
