import type { RecordingId } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import type { Result } from '../../base/result.ts';
import type { StoredNotification } from '../callback/types.ts';
import type {
  ExportFilter,
  ExportJob,
  ExportPatch,
  PendingCharges,
  Recording,
  RecordingFilter,
  RecordingPatch,
} from './types.ts';

export interface RecordingStore {
  insert(recording: Recording): Promise<void>;
  /** Replaces the pending work of a recording that is not finished. */
  note(recordingId: RecordingId, pendingCharges: PendingCharges): Promise<void>;
  /**
   * Stores the end of a recording and its notification once, in one transaction. Returns undefined if it was deleted
   * or is finished.
   */
  finish(
    recordingId: RecordingId,
    end: RecordingPatch,
    notification: StoredNotification | undefined,
  ): Promise<Recording | undefined>;
  get(recordingId: RecordingId): Promise<Recording | undefined>;
  /** Returns a page of finished recordings, latest first. */
  page(filter: RecordingFilter, slice: Slice): Promise<Page<Recording>>;
  /** Returns finished recordings added after `after`, oldest first. Walks any set in bounded memory. */
  walk(
    filter: RecordingFilter,
    after: { readonly addedUs: number; readonly recordingId: RecordingId } | undefined,
    limit: number,
  ): Promise<readonly Recording[]>;
  remove(recordingId: RecordingId): Promise<boolean>;
  /** Returns recordings that earlier epochs of this node left unfinished, oldest first. */
  unfinished(): Promise<readonly Recording[]>;
  /**
   * Returns finished recordings past their account's retention, or past `defaultMs` if it has none. Starts behind `after`.
   * Fewer than `limit` are the last ones.
   */
  expired(
    query: {
      readonly nowUs: number;
      readonly defaultMs: number;
      readonly after: Recording | undefined;
    },
    limit: number,
  ): Promise<readonly Recording[]>;
}

export interface ExportStore {
  /** Queues a job. Refuses if the account already has one. */
  enqueue(job: ExportJob): Promise<Result<void, 'exportRunning'>>;
  patch(exportId: string, patch: ExportPatch): Promise<ExportJob | undefined>;
  get(exportId: string): Promise<ExportJob | undefined>;
  /** Returns a page of jobs, newest first. */
  page(filter: ExportFilter, slice: Slice): Promise<Page<ExportJob>>;
  /** Takes the oldest job that is queued, or that this node or an ended epoch left running. It then runs on this node. */
  take(): Promise<ExportJob | undefined>;
}

/** Stores the files of recordings. Implemented by a folder. */
export interface RecordingFiles {
  remove(file: string): Promise<void>;
}
