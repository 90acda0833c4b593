import type { Clock } from '../../base/clock.ts';
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
  Recording,
  RecordingFilter,
  RecordingPatch,
} from './types.ts';

export type { ExportRefusal, ExportRequest } from './export-request.ts';
export { opensPath, signPath } from './link.ts';
export { agesWindow, type DurationFilters, durationWindow } from './storage-duration.ts';

/** Recordings fetched at a time while a set is walked. */
const WALK_BATCH = 500;
/** Recordings deleted in one turn of the retention. */
const RETENTION_BATCH = 200;

/** The archive of an export is kept so long. */
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

/** Recordings of calls and conferences, and their bulk export. */
export class Recordings {
  readonly #deps: RecordingDeps;

  constructor(deps: RecordingDeps) {
    this.#deps = deps;
  }

  /** A recording begins: its id, and the file (relative) that it is to be written to. */
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

  /** Its file is complete (`ready`), or there is none (`failed`). `notification`: stored with that, delivered by the caller. */
  finish(
    recordingId: RecordingId,
    end: RecordingPatch,
    notification?: StoredNotification,
  ): Promise<Recording | undefined> {
    return this.#deps.recordings.finish(recordingId, end, notification);
  }

  /** Begun by a process that did not live to finish them; to be asked at the start, before anything is recorded. */
  interrupted(): Promise<readonly Recording[]> {
    return this.#deps.recordings.unfinished();
  }

  /** To a sub-account, recordings of others do not exist. */
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

  /** Every finished recording of the set, oldest first, in bounded memory. */
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

  /** Deletes every finished recording of the set, in bounded memory. Returns how many. */
  async removeAll(filter: RecordingFilter): Promise<number> {
    let removed = 0;
    for await (const recording of this.walk(filter)) {
      await this.#erase(recording);
      removed += 1;
    }
    return removed;
  }

  /** Deletes what is kept too long; call it daily. Returns how many. */
  async expire(defaultMs: number): Promise<number> {
    let erased = 0;
    for (;;) {
      const batch = await this.#deps.recordings.expired(this.#nowUs(), defaultMs, RETENTION_BATCH);
      for (const recording of batch) await this.#erase(recording);
      erased += batch.length;
      if (batch.length < RETENTION_BATCH) return erased;
    }
  }

  /** Validates and queues (spec: POST …/export/recording/). */
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

  /** The next job to work on: queued, or one that a restart interrupted. */
  takeExport(): Promise<ExportJob | undefined> {
    return this.#deps.exports.take();
  }

  patchExport(exportId: string, patch: ExportPatch): Promise<ExportJob | undefined> {
    return this.#deps.exports.patch(exportId, patch);
  }

  /** Newest first. */
  listExports(filter: ExportFilter, slice: Slice): Promise<Page<ExportJob>> {
    return this.#deps.exports.page(filter, slice);
  }

  getExport(exportId: string): Promise<ExportJob | undefined> {
    return this.#deps.exports.get(exportId);
  }

  /** The file goes first: a record without file can be deleted again, a file without record would stay for ever. */
  async #erase(recording: Recording): Promise<void> {
    await this.#deps.files.remove(recording.file);
    await this.#deps.recordings.remove(recording.recordingId);
  }

  #nowUs(): number {
    return Math.round(this.#deps.clock.wallMs() * 1000);
  }
}
