import type { AccountId, CallUuid, RecordingId } from '../../base/ids.ts';
import type { OwnerFilter, PartyFilter } from '../../base/page.ts';
import type { NotificationDraft } from '../callback/types.ts';
import type { UseRate } from '../ledger/types.ts';

export type RecordingFormat = 'mp3' | 'wav';

/** Reason why a recording ended (dialect §2.1 Record, RecordingEndReason; the last four are platform-specific). */
export type RecordingEndReason =
  | 'RecordingTimeout'
  | 'maxLength'
  | 'FinishedOnKey'
  | 'HungUp'
  | 'API request'
  /** Another document replaced the current one. */
  | 'Interrupted'
  /** The balance did not cover the next pulse. */
  | 'OutOfCredits'
  /** A failure such as a full disk. Audio written before the failure is kept. */
  | 'Failed';

/** Work due when the file of a recording is complete. Stored with its record, because the next process may have to do it. */
export interface PendingCharges {
  /** Currency of the charge. */
  readonly currency: string;
  /** Price at the start, at which pulses are reserved. Absent for free recordings and those of earlier versions. */
  readonly rate?: UseRate | undefined;
  /** Notification to send. The parameters of the finished recording are appended. */
  readonly notice: NotificationDraft | undefined;
  /** How the recording ended. Absent while it runs. */
  readonly end?: { readonly reason: RecordingEndReason; readonly digits: string } | undefined;
}

/** A recording from its start on. Its file is available once it is `ready`. */
export interface Recording {
  readonly recordingId: RecordingId;
  readonly accountId: AccountId;
  /** Sub-account that owns the call, or undefined for the main account. */
  readonly subAccount: AccountId | undefined;
  readonly callUuid: CallUuid | undefined;
  readonly conferenceName: string | undefined;
  readonly conferenceUuid: string | undefined;
  readonly fromNumber: string;
  readonly toNumber: string;
  readonly format: RecordingFormat;
  readonly type: 'call' | 'conference' | 'trunk';
  readonly status: 'recording' | 'ready' | 'failed';
  /** Path relative to the recordings folder. */
  readonly file: string;
  readonly bytes: number;
  readonly durationMs: number;
  /** Charged time in whole pulses, ms. Undefined for free recordings and those of earlier versions. */
  readonly billedMs?: number | undefined;
  readonly startUs: number | undefined;
  readonly endUs: number | undefined;
  readonly addedUs: number;
  /** Pending work. Undefined once the recording is finished. */
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

/** Filters, combined with AND. An absent filter matches everything. */
export interface RecordingFilter extends OwnerFilter, PartyFilter {
  readonly callUuid?: CallUuid | undefined;
  readonly conferenceName?: string | undefined;
  readonly conferenceUuid?: string | undefined;
  readonly format?: RecordingFormat | undefined;
  readonly recordingId?: RecordingId | undefined;
  /** Inclusive bounds of the time when it was added, microseconds UTC. */
  readonly addedFromUs?: number | undefined;
  readonly addedToUs?: number | undefined;
}

/** A bulk export. Stored until it is done, so that a restart resumes it. */
export interface ExportJob {
  readonly exportId: string;
  readonly accountId: AccountId;
  readonly recipients: readonly string[];
  readonly filter: RecordingFilter;
  readonly status: 'queued' | 'running' | 'done' | 'failed';
  readonly attempts: number;
  /** Archive path relative to the exports folder. Set when done. */
  readonly file: string | undefined;
  /** Number of recordings written to the archive so far. */
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
