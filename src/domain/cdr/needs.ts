import type { CallUuid, StreamId } from '../../base/ids.ts';
import type { Micros } from '../../base/money.ts';
import type { Page, Slice } from '../../base/page.ts';
import type { Result } from '../../base/result.ts';
import type { StoredNotification } from '../callback/types.ts';
import type { NewEntry, ReserveRefusal } from '../ledger/types.ts';
import type {
  CallTimeline,
  Cdr,
  CdrFilter,
  CdrRecord,
  CdrSearch,
  CdrSummary,
  DailyCalls,
  HourlyCalls,
  MosRange,
} from './types.ts';

/**
 * A stream of an open call, connected or waiting to reconnect. Contains what billing needs after a crash. Only
 * connected time is billed.
 */
export interface OpenStream {
  /** ID of the first connection. A reconnect has another ID but belongs to the same stream. */
  readonly streamId: StreamId;
  readonly serviceUrl: string;
  readonly audioTrack: string;
  readonly bidirectional: boolean;
  readonly contentType: string;
  readonly startUs: number;
  /** Total time of all connections before the last one, in microseconds. */
  readonly earlierUs: number;
  /** Start of the last connection. */
  readonly sinceUs: number;
  /** End of the last connection. Undefined while it is open. */
  readonly endUs: number | undefined;
  readonly perMinute: Micros;
  readonly pulseMs: number;
}

/** Known data of a running leg: the CDR as of now and its price per minute. */
export interface OpenCall {
  readonly cdr: Cdr;
  readonly pulseMs: number;
  readonly streamPulseMs: number;
  readonly reserved: Micros;
  readonly streams: readonly OpenStream[];
  /** Hangup notification to store if the process crashes now. Undefined if the call has no hangup URL. */
  readonly hangupNotification: StoredNotification | undefined;
  readonly heartbeatUs: number;
  /** True if the call was accepted and has not been dialed yet. */
  readonly waiting?: true;
}

/** One transaction at the end of a leg: the CDR, ledger entries, released reservation and notification. */
export interface Settlement {
  readonly cdr: Cdr;
  readonly entries: readonly NewEntry[];
  readonly notification: StoredNotification | undefined;
  /** True if the process that ran the call ended. Its reservations for speech services of the call are then released. */
  readonly isInterrupted?: boolean | undefined;
}

export interface CallStore {
  /**
   * Reserves `reserved` for the call (reservation ID = call UUID) and stores the open record in one transaction.
   * Includes the records of queued calls from the same request. A refusal stores none of them.
   */
  open(
    call: OpenCall,
    dailySpendLimit: Micros | undefined,
    waiting?: readonly OpenCall[],
  ): Promise<Result<void, ReserveRefusal>>;
  /**
   * Like `open`, for a call that may be answered before its record is durable. The record is committed shortly after,
   * and before any later `update` or settlement of the call. A crash in between leaves no trace of the call.
   */
  openAhead(
    call: OpenCall,
    dailySpendLimit: Micros | undefined,
  ): Promise<Result<void, ReserveRefusal>>;
  /** Raises the reserved amount to `reserved`. */
  extendReservation(callUuid: CallUuid, reserved: Micros): Promise<Result<void, ReserveRefusal>>;
  /**
   * Replaces the open record (answered, stream started or ended, bridged …) unless the call is settled. Durable when
   * it resolves; rejects if the store has no record of the call.
   */
  update(call: OpenCall): Promise<void>;
  /** Updates the heartbeat of open calls, each with its own time, in one statement. */
  heartbeat(
    beats: ReadonlyArray<{ readonly callUuid: CallUuid; readonly atUs: number }>,
  ): Promise<void>;
  /**
   * Settles a call; idempotent by call UUID. Returns false, and writes nothing, if the call was settled before.
   * Rejects if the write fails (disk full); the caller keeps the settlement and retries.
   */
  settle(settlement: Settlement): Promise<boolean>;
  /** Deletes an open call without a record and releases its reservation. Does nothing if the call is not open. */
  discard(call: { readonly cdr: Pick<Cdr, 'callUuid' | 'accountId'> }): Promise<void>;
  /**
   * Returns open and queued calls with the currently reserved amount. `orphaned` selects the calls of nodes whose epoch
   * has ended.
   */
  listOpen(which?: 'all' | 'orphaned'): Promise<readonly OpenCall[]>;
}

/** Reads finished calls. */
export interface CdrStore {
  get(callUuid: CallUuid): Promise<CdrRecord | undefined>;
  /** Returns one page, latest first. */
  page(filter: CdrFilter, slice: Slice): Promise<Page<CdrRecord>>;
  /** Returns the next records older than number `before`, latest first. Walks any set in bounded memory. */
  walk(filter: CdrFilter, before: number | undefined, limit: number): Promise<readonly CdrRecord[]>;
  summary(filter: CdrFilter): Promise<CdrSummary>;
  /** Returns calls per start day and direction, oldest first. */
  daily(filter: CdrFilter): Promise<readonly DailyCalls[]>;
  /**
   * Returns up to `limit` records older than number `before`, latest first. Examines at most `scan` records of the
   * account, so that its duration does not depend on the number of records.
   */
  search(
    filter: CdrFilter,
    mos: MosRange,
    range: { readonly before: number | undefined; readonly limit: number; readonly scan: number },
  ): Promise<CdrSearch>;
  /** Returns calls per start hour, oldest first, without hours that have none. */
  hourly(filter: CdrFilter): Promise<readonly HourlyCalls[]>;
  /** Returns the average of the latest `limit` scores. Undefined without scores. */
  averageMos(filter: CdrFilter, limit: number): Promise<number | undefined>;
}

/** Stores call timelines for troubleshooting. */
export interface CallLogStore {
  /** Stores the log of a settled call once. It is kept as long as the call record. */
  put(callUuid: CallUuid, lines: CallTimeline['lines']): Promise<void>;
  read(callUuid: CallUuid): Promise<CallTimeline | undefined>;
}

/** Deletes old data in bounded batches. */
export interface RetentionStore {
  /**
   * Deletes call records and logs that ended before each account's limit, or before `defaultMs` if it has none.
   * Returns the number deleted. A number below `limit` means that nothing is left.
   */
  purgeCalls(nowUs: number, defaultMs: number, limit: number): Promise<number>;
  /**
   * Replaces a number in these call records, and in the descriptions of their charges, by ERASED. Removes what
   * identifies its user. Times and amounts stay.
   * Deletes their timelines, and those of the `related` calls.
   */
  eraseCalls(
    number: string,
    calls: readonly CallUuid[],
    related: readonly CallUuid[],
  ): Promise<void>;
  purgeLogs(nowUs: number, retentionMs: number, limit: number): Promise<number>;
}
