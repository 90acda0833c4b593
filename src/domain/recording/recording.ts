import { type Clock, wallUs } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import {
  type AccountId,
  newRecordingId,
  type Random,
  type RecordingId,
  uuid,
} from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { StoredNotification } from '../callback/types.ts';
import { type ExportRefusal, type ExportRequest, validateExport } from './export-request.ts';
import type { ExportStore, RecordingFiles, RecordingStore } from './needs.ts';
import type {
  ExportFilter,
  ExportJob,
  ExportPatch,
  PendingCharges,
  Recording,
  RecordingFilter,
  RecordingPatch,
} from './types.ts';

export type { ExportRefusal, ExportRequest } from './export-request.ts';
export { opensPath, signPath } from './link.ts';
export { agesWindow } from './storage-duration.ts';

/** Number of recordings fetched per query while walking a set. */
const WALK_BATCH = 500;
/** Number of recordings deleted per retention batch. */
const RETENTION_BATCH = 200;

/** Retention of export archives, in days. */
export const EXPORT_ARCHIVE_DAYS = 8;

export type RecordingRefusal = { readonly kind: 'unknownRecording' };

export type NewRecording = Pick<
  Recording,
  | 'accountId'
  | 'callUuid'
  | 'conferenceName'
  | 'conferenceUuid'
  | 'fromNumber'
  | 'toNumber'
  | 'format'
  | 'type'
> & {
  readonly subAccount?: AccountId | undefined;
  readonly pendingCharges?: Recording['pendingCharges'];
};

interface RecordingDeps {
  readonly recordings: RecordingStore;
  readonly exports: ExportStore;
  readonly files: RecordingFiles;
  readonly clock: Clock;
  readonly random: Random;
}

/** Manages recordings of calls and conferences, and their bulk export. */
export class Recordings {
  readonly #deps: RecordingDeps;

  constructor(deps: RecordingDeps) {
    this.#deps = deps;
  }

  /** Starts a recording: assigns its ID and the relative path of its file. */
  async begin(input: NewRecording): Promise<Recording> {
    const recordingId = newRecordingId(this.#deps.random);
    const now = this.#nowUs();
    const recording: Recording = {
      subAccount: undefined,
      pendingCharges: undefined,
      ...input,
      recordingId,
      status: 'recording',
      file: `${input.accountId}/${recordingId}.${input.format}`,
      bytes: 0,
      durationMs: 0,
      startUs: now,
      endUs: undefined,
      addedUs: now,
    };
    await this.#deps.recordings.insert(recording);
    return recording;
  }

  /** Stores how a recording has ended, for a process that finishes it later. */
  async ended(
    { recordingId, pendingCharges }: Recording,
    end: NonNullable<PendingCharges['end']>,
  ): Promise<void> {
    if (pendingCharges === undefined) return;
    await this.#deps.recordings.note(recordingId, { ...pendingCharges, end });
  }

  /**
   * Finishes a recording as `ready` (file complete) or `failed` (no file). `notification` is stored with it and
   * delivered by the caller.
   */
  finish(
    recordingId: RecordingId,
    end: RecordingPatch,
    notification?: StoredNotification,
  ): Promise<Recording | undefined> {
    return this.#deps.recordings.finish(recordingId, end, notification);
  }

  /** Returns recordings left unfinished by an earlier process. Must be called before the first new recording. */
  interrupted(): Promise<readonly Recording[]> {
    return this.#deps.recordings.unfinished();
  }

  /** Returns one recording. A sub-account sees only its own recordings. */
  async get(
    accountId: AccountId,
    recordingId: RecordingId,
    subAccount?: AccountId,
  ): Promise<Result<Recording, RecordingRefusal>> {
    const found = await this.#deps.recordings.get(recordingId);
    const visible =
      found?.accountId === accountId &&
      found.status === 'ready' &&
      (subAccount === undefined || found.subAccount === subAccount);
    return visible ? ok(found) : err({ kind: 'unknownRecording' });
  }

  list(filter: RecordingFilter, slice: Slice): Promise<Page<Recording>> {
    return this.#deps.recordings.page(filter, slice);
  }

  /** Yields every finished recording of the set, oldest first, in bounded memory. */
  async *walk(filter: RecordingFilter): AsyncGenerator<Recording> {
    let last: Recording | undefined;
    for (;;) {
      const batch = await this.#deps.recordings.walk(filter, last, WALK_BATCH);
      yield* batch;
      last = batch.at(-1);
      if (last === undefined || batch.length < WALK_BATCH) return;
    }
  }

  async remove(
    accountId: AccountId,
    recordingId: RecordingId,
    subAccount?: AccountId,
  ): Promise<Result<void, RecordingRefusal>> {
    const found = await this.get(accountId, recordingId, subAccount);
    if (!found.ok) return found;
    await this.#erase(found.value);
    return ok(undefined);
  }

  /** Deletes every finished recording of the set, in bounded memory. Returns the number deleted. */
  async removeAll(filter: RecordingFilter): Promise<number> {
    let removed = 0;
    for await (const recording of this.walk(filter)) {
      await this.#erase(recording);
      removed += 1;
    }
    return removed;
  }

  /**
   * Deletes recordings past their retention. Runs daily. Returns the number deleted. A recording that cannot be deleted
   * does not prevent the others; this then rejects with the first failure.
   */
  async expire(defaultMs: number): Promise<number> {
    let erased = 0;
    let failure: { readonly error: unknown } | undefined;
    let after: Recording | undefined;
    for (;;) {
      const query = { nowUs: this.#nowUs(), defaultMs, after };
      const batch = await this.#deps.recordings.expired(query, RETENTION_BATCH);
      for (const recording of batch) {
        try {
          await this.#erase(recording);
          erased += 1;
        } catch (error) {
          // Storage that is unavailable deletes no other recording either.
          if (error instanceof ServiceError) throw error;
          failure ??= { error };
        }
      }
      after = batch.at(-1);
      if (batch.length === RETENTION_BATCH) continue;
      if (failure !== undefined) throw failure.error;
      return erased;
    }
  }

  /** Validates and queues an export (spec: POST …/export/recording/). */
  async requestExport(request: ExportRequest): Promise<Result<ExportJob, ExportRefusal>> {
    const now = this.#nowUs();
    const filter = validateExport(request, now);
    if (!filter.ok) return filter;
    const job: ExportJob = {
      exportId: uuid(this.#deps.random),
      accountId: request.accountId,
      recipients: request.recipients,
      filter: filter.value,
      status: 'queued',
      attempts: 0,
      file: undefined,
      recordings: 0,
      error: undefined,
      createdUs: now,
      updatedUs: now,
    };
    const queued = await this.#deps.exports.enqueue(job);
    return queued.ok ? ok(job) : err({ kind: 'exportRunning' });
  }

  /** Returns the next job: a queued one, or one that a restart interrupted. */
  takeExport(): Promise<ExportJob | undefined> {
    return this.#deps.exports.take();
  }

  patchExport(exportId: string, patch: ExportPatch): Promise<ExportJob | undefined> {
    return this.#deps.exports.patch(exportId, patch);
  }

  /** Returns a page of jobs, newest first. */
  listExports(filter: ExportFilter, slice: Slice): Promise<Page<ExportJob>> {
    return this.#deps.exports.page(filter, slice);
  }

  getExport(exportId: string): Promise<ExportJob | undefined> {
    return this.#deps.exports.get(exportId);
  }

  /** Deletes the file first. A record without a file can be deleted again; a file without a record would remain forever. */
  async #erase(recording: Recording): Promise<void> {
    await this.#deps.files.remove(recording.file);
    await this.#deps.recordings.remove(recording.recordingId);
  }

  #nowUs(): number {
    return wallUs(this.#deps.clock);
  }
}
