import type { AccountId, CallUuid, RecordingId } from '../../base/ids.ts';
import type { NotificationDraft } from '../callback/types.ts';
import type { UseRate } from '../ledger/types.ts';

export type RecordingFormat = 'mp3' | 'wav';

/** What is due when the file of a recording stands. Kept with its record: the next process may have to do it. */
export interface PendingCharges {
  /** In which its length is charged. */
  readonly currency: string;
  /** Price when it began, in which its pulses are held. Absent for recordings that are free or were begun by an earlier version. */
  readonly rate?: UseRate | undefined;
  /** Who is told. Its parameters are followed by those of the recording, which are known only then. */
  readonly notice: NotificationDraft | undefined;
}

/** A recording, from its start on. Its file can be fetched once it is `ready`. */
export interface Recording {
  readonly recordingId: RecordingId;
  readonly accountId: AccountId;
  /** Whose call it is of, when not the main account's own. */
  readonly subAccount: AccountId | undefined;
  readonly callUuid: CallUuid | undefined;
  readonly conferenceName: string | undefined;
  readonly conferenceUuid: string | undefined;
  readonly fromNumber: string;
  readonly toNumber: string;
  readonly format: RecordingFormat;
  readonly type: 'call' | 'conference' | 'trunk';
  readonly status: 'recording' | 'ready' | 'failed';
  /** Relative to the recordings folder. */
  readonly file: string;
  readonly bytes: number;
  readonly durationMs: number;
  /** Time charged: whole pulses, ms. Undefined for free recordings and those of earlier versions. */
  readonly billedMs?: number | undefined;
  readonly startUs: number | undefined;
  readonly endUs: number | undefined;
  readonly addedUs: number;
  /** Undefined once it is finished. */
  readonly pendingCharges: PendingCharges | undefined;
}

export type RecordingPatch = {
  readonly [Key in
    | 'status'
    | 'file'
    | 'format'
    | 'bytes'
    | 'durationMs'
    | 'billedMs'
    | 'startUs'
    | 'endUs']?: Recording[Key];
};

/** Filters, AND-ed. Absent: no filter. */
export interface RecordingFilter {
  readonly accountId: AccountId;
  readonly subAccount?: AccountId | undefined;
  readonly callUuid?: CallUuid | undefined;
  readonly conferenceName?: string | undefined;
  readonly conferenceUuid?: string | undefined;
  readonly fromNumber?: string | undefined;
  readonly toNumber?: string | undefined;
  readonly format?: RecordingFormat | undefined;
  readonly recordingId?: RecordingId | undefined;
  /** Inclusive bounds of the time it was added, microseconds UTC. */
  readonly addedFromUs?: number | undefined;
  readonly addedToUs?: number | undefined;
}

/** A bulk export, kept until it is done so that a restart takes it up again. */
export interface ExportJob {
  readonly exportId: string;
  readonly accountId: AccountId;
  readonly recipients: readonly string[];
  readonly filter: RecordingFilter;
  readonly status: 'queued' | 'running' | 'done' | 'failed';
  readonly attempts: number;
  /** Archive relative to the exports folder, once done. */
  readonly file: string | undefined;
  /** In the archive; while it is being written, those that are in it so far. */
  readonly recordings: number;
  readonly error: string | undefined;
  readonly createdUs: number;
  readonly updatedUs: number;
}

export interface ExportFilter {
  readonly accountId: AccountId;
  readonly status?: ExportJob['status'] | undefined;
}

export type ExportPatch = {
  readonly [Key in 'status' | 'attempts' | 'file' | 'recordings' | 'error']?: ExportJob[Key];
};
