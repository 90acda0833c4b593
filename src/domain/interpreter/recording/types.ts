import type { Clock } from '../../../base/clock.ts';
import type { AccountId, RecordingId } from '../../../base/ids.ts';
import type { Logger } from '../../../base/logger.ts';
import type { Call } from '../../call/call.ts';
import type { RecordingEncoder } from '../../call/needs.ts';
import type { CallbackClient } from '../../callback/callback.ts';
import type {
  CallbackParameters,
  CallbackTarget,
  NotificationDraft,
} from '../../callback/types.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Recordings } from '../../recording/recording.ts';
import type { Recording, RecordingFormat } from '../../recording/types.ts';
import type { Transcriptions } from '../../transcription/transcription.ts';
import type { TranscriptionRequest } from '../../transcription/types.ts';

/** The folder of recordings. `file` is always relative to it, as in the records. */
export interface RecordingFolder {
  /** Absolute path of `file`; the folder that it is to be in exists then. */
  prepare(file: string): Promise<string>;
  /** Bytes; undefined: there is no such file. */
  size(file: string): Promise<number | undefined>;
  /** Length of a WAV recording by what was written of it, its header aside; undefined: there is nothing to hear. */
  wavDurationMs(file: string): Promise<number | undefined>;
  /** A file that is not there is removed already. */
  remove(file: string): Promise<void>;
}

export interface RecorderNeeds {
  readonly recordings: Recordings;
  readonly encoder: RecordingEncoder;
  readonly folder: RecordingFolder;
  readonly callbacks: Pick<CallbackClient, 'notifyStored'>;
  readonly ledger: Pick<Ledger, 'holdUse' | 'raiseUse' | 'chargeUse' | 'rateBook'>;
  readonly transcriptions: Pick<Transcriptions, 'begin' | 'filed'>;
  /** Signed link, good for a short while (spec Limits: recording playback links). */
  readonly linkTo: (recording: Pick<Recording, 'accountId' | 'recordingId' | 'format'>) => string;
  /** Resolves, never rejects, once the hangup of an ended call has been handed to the callbacks: `RecordStop` follows it. */
  readonly hangupTold: (call: Call) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Why a recording came to its end (dialect §2.1 Record, RecordingEndReason; the last four are ours). */
export type RecordingEndReason =
  | 'RecordingTimeout'
  | 'maxLength'
  | 'FinishedOnKey'
  | 'HungUp'
  | 'API request'
  /** The document was replaced. */
  | 'Interrupted'
  /** The balance did not cover the next pulse. */
  | 'OutOfCredits'
  /** Disk full and the like; what was written until then is kept. */
  | 'Failed';

export interface CallRecordRequest {
  readonly format: RecordingFormat;
  /** Stereo: left what the peer says, right what it hears. */
  readonly channels: 'mono' | 'stereo';
  /** What mono holds: both sides mixed (default), or the peer alone. */
  readonly sides?: 'both' | 'peer';
  readonly maxMs: number;
  /** Ends after so much silence from the peer; 0 (default) = never. */
  readonly silenceEndMs?: number;
  /** Told with `RecordStop` once the file can be fetched. */
  readonly callback: CallbackTarget | undefined;
  /** Its words are wanted too. */
  readonly transcription?: TranscriptionRequest | undefined;
}

export interface RoomRecordRequest {
  readonly accountId: AccountId;
  readonly currency: string;
  readonly conferenceName: string;
  readonly conferenceUuid: string;
  readonly format: RecordingFormat;
  /** 0: as long as the room. */
  readonly maxMs: number;
  /** Told once the file can be fetched, with the recording's own parameters added. */
  readonly notice: NotificationDraft | undefined;
  /** Its words are wanted too. */
  readonly transcription?: TranscriptionRequest | undefined;
}

/** As a `ControlRefusal`, so that the REST interface passes it on. */
export type RecordRefusal =
  | { readonly kind: 'wrongState'; readonly detail: string }
  | { readonly kind: 'tooMany'; readonly limit: number }
  /** The balance does not cover the first pulse. */
  | { readonly kind: 'insufficientFunds' | 'dailySpendLimit' }
  | { readonly kind: 'notAvailable'; readonly detail: string };

/** A recording from its first sample on. */
export interface LiveRecording {
  readonly recordingId: RecordingId;
  /** Signed link of the file that is to be; good for a short while only. */
  readonly url: string;
  /** Resolves when no more is recorded. */
  readonly ended: Promise<void>;
  /** Resolves when the file can be fetched (true), or when there is none (false). */
  readonly finalized: Promise<boolean>;
  /** What callbacks tell about it now: while it runs its length is -1 (dialect §2.1 Record). */
  parameters(): CallbackParameters;
  /** What is said during a pause is neither kept nor charged. */
  pause(isPaused: boolean): void;
  /** `digits`: the key that ended it. */
  stop(reason: RecordingEndReason, digits?: string): void;
}
