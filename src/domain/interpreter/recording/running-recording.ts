import type { RecordingId } from '../../../base/ids.ts';
import type { MediaRecording, RecordEnd } from '../../call/needs.ts';
import type { CallbackParameters } from '../../callback/types.ts';
import type { UseMeter } from '../../ledger/ledger.ts';
import type { Recording, RecordingEndReason } from '../../recording/types.ts';
import { type RecordingEnd, recordingParameters } from './pending-charges.ts';
import type { LiveRecording } from './types.ts';

/** End of one recording run. */
export interface RecordingRunEnd extends RecordingEnd {
  readonly error: string | undefined;
}

interface TakeOptions {
  /** Stored record as created at the start. */
  readonly row: Recording;
  readonly media: MediaRecording;
  readonly startUs: number;
  readonly linkTo: (recording: Recording) => string;
  /** Reserves the recording's pulses; undefined: the recording is free. */
  readonly meter: UseMeter | undefined;
  /** Called when the balance does not cover the next pulse; the recording then stops. */
  readonly exhausted: () => void;
  /** Finalizes the recording and returns its record; undefined: there is no file. Never rejects. */
  readonly file: (take: RunningRecording, end: RecordingRunEnd) => Promise<Recording | undefined>;
}

const REASON: Readonly<Record<RecordEnd['reason'], RecordingEndReason>> = {
  stopped: 'HungUp',
  legEnded: 'HungUp',
  silence: 'RecordingTimeout',
  maxLength: 'maxLength',
  failed: 'Failed',
};

/** One recording, from the first sample to the finished file. */
export class RunningRecording implements LiveRecording {
  readonly url: string;
  readonly startUs: number;
  readonly ended: Promise<void>;
  readonly finalized: Promise<boolean>;
  readonly #media: MediaRecording;
  readonly #linkTo: TakeOptions['linkTo'];
  readonly #meter: UseMeter | undefined;
  #row: Recording;
  #requested: RecordingEndReason | undefined;
  #digits = '';
  #end: RecordingRunEnd | undefined;

  constructor(options: TakeOptions) {
    this.#row = options.row;
    this.#media = options.media;
    this.#linkTo = options.linkTo;
    this.startUs = options.startUs;
    this.url = options.linkTo(options.row);
    this.#meter = options.meter;
    this.#meter?.begin(() => {
      options.exhausted();
      this.stop('OutOfCredits');
    });
    const end = options.media.finished.then((how) => this.#ending(how));
    this.ended = end.then(() => undefined);
    this.finalized = end.then(async (how) => {
      const row = await options.file(this, how);
      this.#row = row ?? this.#row;
      return row !== undefined;
    });
  }

  get recordingId(): RecordingId {
    return this.#row.recordingId;
  }

  /** Current record; `ready` once the file is available. */
  get row(): Recording {
    return this.#row;
  }

  pause(isPaused: boolean): void {
    this.#media.pause(isPaused);
    this.#meter?.pause(isPaused);
  }

  /** Stops the recording. Only the first reason counts. */
  stop(reason: RecordingEndReason, digits = ''): void {
    if (this.#requested !== undefined || this.#end !== undefined) return;
    this.#requested = reason;
    this.#digits = digits;
    this.#media.stop();
  }

  parameters(): CallbackParameters {
    return recordingParameters(this.#row, this.#linkTo(this.#row), this.startUs, this.#end);
  }

  #ending({ reason, durationMs, error }: RecordEnd): RecordingRunEnd {
    this.#meter?.stop();
    const requested = reason === 'stopped' || reason === 'legEnded' ? this.#requested : undefined;
    this.#end = { reason: requested ?? REASON[reason], durationMs, error, digits: this.#digits };
    return this.#end;
  }
}
