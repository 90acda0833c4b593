import type { CallUuid, StreamId } from '../../base/ids.ts';
import type { Micros } from '../../base/money.ts';
import type { Page, Slice } from '../../base/page.ts';
import type { Result } from '../../base/result.ts';
import type { StoredNotification } from '../callback/types.ts';
import type { NewEntry, ReserveRefusal } from '../ledger/types.ts';
import type { CallTimeline, Cdr, CdrFilter, CdrRecord, CdrSummary, DailyCalls } from './types.ts';

/**
 * A stream of a call that is still open, connected or waiting for its next connection. Enough to bill it after a crash:
 * what counts is the time in which it was connected.
 */
export interface OpenStream {
  /** Of its first connection; a reconnect has another, and is the same stream. */
  readonly streamId: StreamId;
  readonly serviceUrl: string;
  readonly audioTrack: string;
  readonly bidirectional: boolean;
  readonly contentType: string;
  readonly startUs: number;
  /** All connections before the last, microseconds. */
  readonly earlierUs: number;
  /** The last connection began … */
  readonly sinceUs: number;
  /** … and broke; undefined while it is open. */
  readonly endUs: number | undefined;
  readonly perMinute: Micros;
  readonly pulseMs: number;
}

/** What is known of a leg while it lives: the CDR as it would be written now, and what it costs per minute. */
export interface OpenCall {
  readonly cdr: Cdr;
  readonly pulseMs: number;
  readonly streamPulseMs: number;
  readonly reserved: Micros;
  readonly streams: readonly OpenStream[];
  /** The hangup notification to store should the process die now; undefined when the call has no hangup URL. */
  readonly hangupNotification: StoredNotification | undefined;
  readonly heartbeatUs: number;
  /** Accepted, and not dialled yet. */
  readonly waiting?: true;
}

/** One unit of work at the end of a leg: CDR, entries, released reservation and notification, all or nothing. */
export interface Settlement {
  readonly cdr: Cdr;
  readonly entries: readonly NewEntry[];
  readonly notification: StoredNotification | undefined;
  /** The process that ran the call is gone: what it held for speech of the call is given back. */
  readonly isInterrupted?: boolean | undefined;
}

export interface CallStore {
  /**
   * Holds `reserved` for the call (reservation id = call uuid) and keeps the open record, in one unit of work; with it the
   * records of those that were accepted in the same request and wait for their turn. A refusal keeps none of them.
   */
  open(
    call: OpenCall,
    dailySpendLimit: Micros | undefined,
    waiting?: readonly OpenCall[],
  ): Promise<Result<void, ReserveRefusal>>;
  /**
   * As `open`, of a call that nobody was promised anything about yet: it may be answered before the record is durable, which it is
   * a moment later, and before any later `update` or settlement of the call. A crash in between leaves nothing of it.
   */
  openAhead(
    call: OpenCall,
    dailySpendLimit: Micros | undefined,
  ): Promise<Result<void, ReserveRefusal>>;
  /** Raises the held amount to `reserved`. */
  extendReservation(callUuid: CallUuid, reserved: Micros): Promise<Result<void, ReserveRefusal>>;
  /**
   * Replaces the open record (answered, stream started or ended, bridged …), unless the call is settled. Durable when it resolves;
   * rejects when the store has nothing of the call.
   */
  update(call: OpenCall): Promise<void>;
  /** Marks open calls as alive, each at a moment of its own time: one statement for all. */
  heartbeat(
    beats: ReadonlyArray<{ readonly callUuid: CallUuid; readonly atUs: number }>,
  ): Promise<void>;
  /**
   * Idempotent by call uuid; false: it was settled before, and nothing of this is written. Refused writes (disk full) reject;
   * the caller keeps the settlement and retries.
   */
  settle(settlement: Settlement): Promise<boolean>;
  /** Removes an open call without a record and releases its reservation; does nothing for one that is not open. */
  discard(call: { readonly cdr: Pick<Cdr, 'callUuid' | 'accountId'> }): Promise<void>;
  /**
   * Calls that are open, or wait for their turn; `reserved` is what is held now. Nobody's: those whose node's life is over.
   */
  listOpen(whose?: 'everybody' | 'nobody'): Promise<readonly OpenCall[]>;
}

/** Finished calls, as they are looked up. */
export interface CdrStore {
  get(callUuid: CallUuid): Promise<CdrRecord | undefined>;
  /** Latest first. */
  page(filter: CdrFilter, slice: Slice): Promise<Page<CdrRecord>>;
  /** The next records older than number `before`, latest first: walks any set in bounded memory. */
  walk(filter: CdrFilter, before: number | undefined, limit: number): Promise<readonly CdrRecord[]>;
  summary(filter: CdrFilter): Promise<CdrSummary>;
  /** By day of their start and by direction, oldest first. */
  daily(filter: CdrFilter): Promise<readonly DailyCalls[]>;
}

/** Timelines of calls, for whoever looks for a fault. */
export interface CallLogStore {
  /** Of a call that is settled; kept with its record, and once. */
  put(callUuid: CallUuid, lines: CallTimeline['lines']): Promise<void>;
  read(callUuid: CallUuid): Promise<CallTimeline | undefined>;
}

/** What is deleted in one turn; more is left for the next. */
export interface RetentionStore {
  /**
   * Deletes call records (and call logs) that ended before each account's limit, `defaultMs` where it has none.
   * Returns how many; fewer than `limit`: nothing is left.
   */
  purgeCalls(nowUs: number, defaultMs: number, limit: number): Promise<number>;
  purgeLogs(nowUs: number, keptMs: number, limit: number): Promise<number>;
}
