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
import type { Recording, RecordingEndReason, RecordingFormat } from '../../recording/types.ts';
import type { Transcriptions } from '../../transcription/transcription.ts';
import type { TranscriptionRequest } from '../../transcription/types.ts';

/** Folder of recordings. `file` is a path relative to it, as in the records. */
export interface RecordingFolder {
  /** Returns the absolute path of `file` and creates its parent folder. */
  prepare(file: string): Promise<string>;
  /** Returns the size in bytes when the content is on the disk; undefined if the file does not exist. */
  synced(file: string): Promise<number | undefined>;
  /**
   * Writes the header of a WAV recording for the samples in the file, because after a crash it states fewer. Returns
   * their length in ms; undefined if there are none or no file. Rejects if the file cannot be read or written.
   */
  repairWav(file: string): Promise<number | undefined>;
  /** Removes a file. Succeeds if the file does not exist. */
  remove(file: string): Promise<void>;
}

export interface RecorderNeeds {
  readonly recordings: Recordings;
  readonly encoder: RecordingEncoder;
  readonly folder: RecordingFolder;
  readonly callbacks: Pick<CallbackClient, 'notifyStored'>;
  readonly ledger: Pick<Ledger, 'holdUse' | 'raiseUse' | 'chargeUse' | 'rateBook'>;
  readonly transcriptions: Pick<Transcriptions, 'begin' | 'filed'>;
  /** Creates a signed, short-lived link (spec Limits: recording playback links). */
  readonly linkTo: (recording: Pick<Recording, 'accountId' | 'recordingId' | 'format'>) => string;
  /** Resolves once the hangup notification of an ended call is queued, so that `RecordStop` can follow it. Never rejects. */
  readonly hangupReported: (call: Call) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface CallRecordRequest {
  readonly format: RecordingFormat;
  /** Channels; stereo: left = audio from the peer, right = audio to the peer. */
  readonly channels: 'mono' | 'stereo';
  /** Content of mono: both sides mixed (default), or the peer only. */
  readonly sides?: 'both' | 'peer';
  readonly maxMs: number;
  /** Silence of the peer that ends the recording, in ms; 0 (default) = never. */
  readonly silenceEndMs?: number;
  /** True if the recording contains the ringback; otherwise it has silence in its place. Default: false. */
  readonly ringback?: boolean;
  /** Target of `RecordStop`, sent once the file is available. */
  readonly callback: CallbackTarget | undefined;
  /** Transcription request, if the recording is to be transcribed. */
  readonly transcription?: TranscriptionRequest | undefined;
}

export interface RoomRecordRequest {
  readonly accountId: AccountId;
  readonly currency: string;
  readonly conferenceName: string;
  readonly conferenceUuid: string;
  readonly format: RecordingFormat;
  /** Maximum length in ms; 0 = until the room closes. */
  readonly maxMs: number;
  /** Notification sent once the file is available, with the recording's parameters added. */
  readonly notice: NotificationDraft | undefined;
  /** Transcription request, if the recording is to be transcribed. */
  readonly transcription?: TranscriptionRequest | undefined;
}

/** Refusal to record, compatible with `ControlRefusal` for the REST API. */
export type RecordRefusal =
  | { readonly kind: 'wrongState'; readonly detail: string }
  | { readonly kind: 'tooMany'; readonly limit: number }
  /** The balance does not cover the first pulse. */
  | { readonly kind: 'insufficientFunds' | 'dailySpendLimit' }
  | { readonly kind: 'notAvailable'; readonly detail: string };

/** Recording in progress or ended. */
export interface LiveRecording {
  readonly recordingId: RecordingId;
  /** Signed, short-lived link of the future file. */
  readonly url: string;
  /** Resolves when recording has stopped. */
  readonly ended: Promise<void>;
  /** Resolves to true when the file is available, or to false if there is none. */
  readonly finalized: Promise<boolean>;
  /** Current callback parameters; the length is -1 while recording (dialect §2.1 Record). */
  parameters(): CallbackParameters;
  /** Pauses or resumes; paused audio is not recorded or charged. */
  pause(isPaused: boolean): void;
  /** Stops the recording. `digits`: key that ended it. */
  stop(reason: RecordingEndReason, digits?: string): void;
}
