import type { RecordingId } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import type { Result } from '../../base/result.ts';
import type { StoredNotification } from '../callback/types.ts';
import type {
  ExportFilter,
  ExportJob,
  ExportPatch,
  Recording,
  RecordingFilter,
  RecordingPatch,
} from './types.ts';

export interface RecordingStore {
  insert(recording: Recording): Promise<void>;
  /** Once: the end of the record, and what there is to tell of it, in one unit of work. Undefined: it is gone, or finished. */
  finish(
    recordingId: RecordingId,
    end: RecordingPatch,
    notification: StoredNotification | undefined,
  ): Promise<Recording | undefined>;
  get(recordingId: RecordingId): Promise<Recording | undefined>;
  /** Finished ones, latest first. */
  page(filter: RecordingFilter, slice: Slice): Promise<Page<Recording>>;
  /** Finished ones added after `after`, oldest first: walks any set in bounded memory. */
  walk(
    filter: RecordingFilter,
    after: { readonly addedUs: number; readonly recordingId: RecordingId } | undefined,
    limit: number,
  ): Promise<readonly Recording[]>;
  remove(recordingId: RecordingId): Promise<boolean>;
  /** Left neither finished nor failed by earlier lives of this node, oldest first. */
  unfinished(): Promise<readonly Recording[]>;
  /** Finished ones beyond their account's retention, `defaultMs` where it has none. */
  expired(nowUs: number, defaultMs: number, limit: number): Promise<readonly Recording[]>;
}

export interface ExportStore {
  /** One at a time per account. */
  enqueue(job: ExportJob): Promise<Result<void, 'exportRunning'>>;
  patch(exportId: string, patch: ExportPatch): Promise<ExportJob | undefined>;
  get(exportId: string): Promise<ExportJob | undefined>;
  /** Newest first. */
  page(filter: ExportFilter, slice: Slice): Promise<Page<ExportJob>>;
  /** The oldest that is queued, or was left running by this node or one whose life is over: it runs from now on, here. */
  take(): Promise<ExportJob | undefined>;
}

/** Where recordings are kept. Implemented over a folder. */
export interface RecordingFiles {
  remove(file: string): Promise<void>;
}
