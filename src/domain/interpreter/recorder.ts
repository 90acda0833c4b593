/** Recordings of calls and rooms, requested by `Record`, `Conference` or the REST API. */
import { wallUs } from '../../base/clock.ts';
import type { RecordingId } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Call } from '../call/call.ts';
import type { MediaRoom } from '../call/needs.ts';
import { mayKeepAudio } from '../call/types.ts';
import { partyParameter } from '../callback/callback.ts';
import type { NotificationDraft } from '../callback/types.ts';
import { UseMeter } from '../ledger/ledger.ts';
import type { UseRate } from '../ledger/types.ts';
import type { NewRecording } from '../recording/recording.ts';
import type { Recording } from '../recording/types.ts';
import type { TranscriptionRequest } from '../transcription/types.ts';
import type { Recorder } from './needs.ts';
import { CallRecordings } from './recording/call-recordings.ts';
import { Finalizer, wavFileOf } from './recording/finalizer.ts';
import {
  completeNotice,
  pendingChargesOf,
  recordStop,
  useOf,
} from './recording/pending-charges.ts';
import { type RecordingRunEnd, RunningRecording } from './recording/running-recording.ts';
import type {
  CallRecordRequest,
  LiveRecording,
  RecorderNeeds,
  RecordRefusal,
  RoomRecordRequest,
} from './recording/types.ts';

export type {
  CallRecordRequest,
  LiveRecording,
  RecorderNeeds,
  RecordingFolder,
  RecordRefusal,
  RoomRecordRequest,
} from './recording/types.ts';

/** Maximum number of concurrent recordings per call. Prevents a looping document from filling the disk. */
const MAX_PER_CALL = 4;
/** Maximum number of recordings that wait for the answer of a `Dial`. */
const MAX_ARMED = MAX_PER_CALL;

type Outcome = Promise<Result<LiveRecording, RecordRefusal>>;

/** Transcription requested along with a recording. */
interface Words {
  readonly request: TranscriptionRequest;
  readonly of: { readonly subject: string; readonly currency: string };
}

/** Stored record of a started recording, its audio path and its meter. */
interface Begun {
  readonly row: Recording;
  readonly wavPath: string;
  readonly meter: UseMeter | undefined;
}

export class CallRecorder implements Recorder {
  readonly #needs: RecorderNeeds;
  readonly #finalizer: Finalizer;
  readonly #calls = new WeakMap<Call, CallRecordings>();
  /** Recordings whose files are being finalized. */
  readonly #finalizing = new Set<Promise<unknown>>();

  constructor(needs: RecorderNeeds) {
    this.#needs = needs;
    this.#finalizer = new Finalizer(needs);
  }

  /** Records a call that is answered or has early media, until it is stopped or the call ends. Never rejects. */
  async start(call: Call, request: CallRecordRequest): Outcome {
    const takes = this.#recordingsOf(call);
    const refusal = notRecordable(call, takes);
    if (refusal !== undefined) return err(refusal);
    const settled = takes.begins();
    const { currency } = call.price;
    const words = request.transcription && {
      request: request.transcription,
      of: { subject: call.uuid, currency },
    };
    const begun = await this.#begin(words, {
      accountId: call.identity.accountId,
      subAccount: call.identity.subAccount,
      callUuid: call.uuid,
      conferenceName: undefined,
      conferenceUuid: undefined,
      fromNumber: partyParameter(call.facts.from),
      toNumber: partyParameter(call.facts.to),
      format: request.format,
      type: call.identity.trunkId === undefined ? 'call' : 'trunk',
      pendingCharges: pendingChargesOf(call, request, this.#rateOf(call.identity, currency)),
    });
    const isStopped = settled();
    if (!begun.ok || call.isEnded || isStopped) {
      takes.failed();
      if (!begun.ok) return begun;
      await this.#finalizer.abandon(begun.value.row);
      return err(call.isEnded ? ENDED : STOPPED);
    }
    const take = this.#record(call, request, begun.value);
    call.log.add('media', 'recording', { recordingId: take.recordingId, format: request.format });
    takes.add(take, request.sides !== 'peer');
    return ok(take);
  }

  /** Records the mixed audio of a room, until it is stopped or the room closes. Never rejects. */
  async startRoom(room: MediaRoom, request: RoomRecordRequest): Outcome {
    const { accountId, currency, conferenceName, conferenceUuid, format, maxMs, notice } = request;
    const words = request.transcription && {
      request: request.transcription,
      of: { subject: conferenceUuid, currency },
    };
    const begun = await this.#begin(words, {
      accountId,
      callUuid: undefined,
      conferenceName,
      conferenceUuid,
      fromNumber: '',
      toNumber: '',
      format,
      type: 'conference',
      pendingCharges: { currency, rate: this.#rateOf({ accountId }, currency), notice },
    });
    if (!begun.ok) return begun;
    const { logger } = this.#needs;
    const take = this.#take(begun.value, room.record(begun.value.wavPath), {
      onEnd: () => undefined,
      exhausted: () => logger.warn({ accountId, conferenceName }, EXHAUSTED),
      notice: () => Promise.resolve(notice),
    });
    this.#watch(take.finalized);
    if (maxMs > 0) {
      const { clock } = this.#needs;
      const cancel = clock.at(clock.monotonicMs() + maxMs, () => take.stop('maxLength'));
      void take.ended.then(cancel);
    }
    return ok(take);
  }

  /** Stops one recording of the call, or all of them. Returns false if none was running or starting. */
  stop(call: Call, recordingId?: RecordingId): boolean {
    return this.#recordingsOf(call).stop(recordingId);
  }

  pause(call: Call, isPaused: boolean, recordingId?: RecordingId): number {
    return this.#recordingsOf(call).pause(isPaused, recordingId);
  }

  /** Active recordings of the call. */
  recordingsOf(call: Call): readonly LiveRecording[] {
    return [...this.#recordingsOf(call).live];
  }

  /** Runs `start` when the next `Dial` of this call is answered (`Record startOnDialAnswer`). */
  whenDialAnswered(call: Call, start: () => void): void {
    const takes = this.#recordingsOf(call);
    if (takes.armed.length >= MAX_ARMED) {
      call.log.add('warning', 'not recorded', {
        limit: MAX_ARMED,
        reason: 'too many recordings wait for a Dial',
      });
      return;
    }
    takes.armed = [...takes.armed, start];
  }

  /** Starts the recordings that wait for a `Dial`. Called once both parties hear each other. */
  dialAnswered(call: Call): void {
    const takes = this.#recordingsOf(call);
    const { armed } = takes;
    takes.armed = [];
    for (const start of armed) start();
  }

  /**
   * Finalizes recordings that a previous process left unfinished: files, charges and notifications. `left` must be
   * queried before any new recording starts (`Recordings.interrupted`). Call it after the callbacks have adopted
   * pending hangup notifications, because `RecordStop` follows those.
   */
  recover(left: readonly Recording[]): void {
    this.#watch(this.#fileInterrupted(left));
  }

  /** Resolves when all ended recordings are finalized, or after `graceMs`. The next start finalizes the rest. */
  async idle(graceMs: number): Promise<void> {
    const { clock } = this.#needs;
    const { promise: late, resolve } = Promise.withResolvers<'late'>();
    const cancel = clock.at(clock.monotonicMs() + graceMs, () => resolve('late'));
    while (this.#finalizing.size > 0) {
      if ((await Promise.race([Promise.all(this.#finalizing), late])) === 'late') break;
    }
    cancel();
  }

  async #fileInterrupted(left: readonly Recording[]): Promise<void> {
    const { folder, linkTo, logger } = this.#needs;
    for (const row of left) {
      let durationMs: number | undefined;
      try {
        durationMs = await folder.repairWav(wavFileOf(row));
      } catch (error) {
        const { recordingId } = row;
        logger.error({ error, recordingId }, 'recording not finalized; retrying at the next start');
        continue;
      }
      const startUs = row.startUs ?? row.addedUs;
      if (durationMs === undefined) {
        await this.#finalizer.fail(row, 'the recording has no audio');
        continue;
      }
      // Without an end, the process ended during the recording.
      const end = { ...(row.pendingCharges?.end ?? INTERRUPTED), durationMs };
      await this.#finalizer.file(row, {
        startUs,
        durationMs,
        currency: row.pendingCharges?.currency,
        notice: async (ready) =>
          completeNotice(row.pendingCharges?.notice, ready, { link: linkTo(ready), startUs, end }),
      });
    }
  }

  /** Price of recordings; undefined: recordings are free. */
  #rateOf({ accountId }: Pick<Recording, 'accountId'>, currency: string): UseRate | undefined {
    const rate = this.#needs.ledger.rateBook.quote('recording', '', accountId, currency);
    return rate && { perMinute: rate.perMinute, pulseMs: rate.pulseMs };
  }

  #record(call: Call, request: CallRecordRequest, begun: Begun): RunningRecording {
    const { row, wavPath } = begun;
    const isStereo = request.channels === 'stereo';
    const media = call.media.record({
      path: wavPath,
      channels: isStereo || request.sides !== 'peer' ? 'both' : 'received',
      stereo: isStereo,
      silenceEndMs: request.silenceEndMs ?? 0,
      maxMs: request.maxMs,
      ringback: request.ringback ?? false,
    });
    const { recordingId } = row;
    const take = this.#take(begun, media, {
      exhausted: () => call.log.add('warning', EXHAUSTED, { recordingId }),
      onEnd: ({ reason, durationMs, error }) => {
        const facts = { recordingId, reason, durationMs };
        call.log.add(error === undefined ? 'media' : 'warning', 'recording ended', {
          ...facts,
          ...(error === undefined ? {} : { error }),
        });
      },
      // If the call has ended, RecordStop follows its hangup notification (dialect §2.1 Record).
      notice: async () => {
        if (request.callback !== undefined && call.isEnded) await this.#needs.hangupReported(call);
        return recordStop(call, request.callback);
      },
    });
    const finalized = take.finalized.then((isFinalized) => {
      if (!isFinalized) call.log.add('warning', 'the recording has no file', { recordingId });
    });
    this.#watch(finalized);
    return take;
  }

  #take(
    { row, meter }: Begun,
    media: ReturnType<MediaRoom['record']>,
    reported: {
      readonly exhausted: () => void;
      readonly onEnd: (end: RecordingRunEnd) => void;
      /** Notification without the parameters of the recording. */
      readonly notice: () => Promise<NotificationDraft | undefined>;
    },
  ): RunningRecording {
    const { linkTo } = this.#needs;
    return new RunningRecording({
      row,
      media,
      startUs: wallUs(this.#needs.clock),
      linkTo,
      meter,
      exhausted: reported.exhausted,
      file: async (take, end) => {
        reported.onEnd(end);
        const { startUs } = take;
        const { durationMs } = end;
        if (end.reason === 'Failed' && durationMs === 0)
          return this.#finalizer.fail(row, end.error);
        const noted = this.#noteEnd(row, end);
        const filed = await this.#finalizer.file(row, {
          startUs,
          durationMs,
          currency: row.pendingCharges?.currency,
          notice: async (ready) =>
            completeNotice(await reported.notice(), ready, { link: linkTo(ready), startUs, end }),
        });
        await noted;
        return filed;
      },
    });
  }

  /** Stores the end before the file is complete: encoding may take longer than this process runs. Never rejects. */
  async #noteEnd(row: Recording, { reason, digits }: RecordingRunEnd): Promise<void> {
    const { recordings, logger } = this.#needs;
    try {
      await recordings.ended(row, { reason, digits });
    } catch (error) {
      const { recordingId, callUuid } = row;
      logger.warn({ error, recordingId, callUuid }, 'end of a recording not stored');
    }
  }

  /** Creates the record before the reservation, so that a crash leaves no reservation without a record. */
  async #begin(
    words: Words | undefined,
    recording: NewRecording,
  ): Promise<Result<Begun, RecordRefusal>> {
    const { recordings, transcriptions, folder, logger } = this.#needs;
    let row: Recording | undefined;
    try {
      row = await recordings.begin(recording);
      const metered = await this.#meter(row);
      if (!metered.ok) {
        await this.#finalizer.abandon(row);
        return metered;
      }
      if (words !== undefined) await transcriptions.begin(row, words.request, words.of);
      return ok({ row, wavPath: await folder.prepare(wavFileOf(row)), meter: metered.value });
    } catch (error) {
      if (row !== undefined) await this.#finalizer.fail(row, error);
      else logger.error({ error, callUuid: recording.callUuid }, 'recording cannot begin');
      return err(NOT_KEPT);
    }
  }

  /** Reserves the first pulse. */
  async #meter(row: Recording): Promise<Result<UseMeter | undefined, RecordRefusal>> {
    const use = useOf(row, row.pendingCharges?.currency, row.pendingCharges?.rate);
    if (use === undefined) return ok(undefined);
    const opened = await UseMeter.open(this.#needs, use);
    if (opened.ok) return opened;
    const isLimited = opened.error === 'dailySpendLimit';
    return err({ kind: isLimited ? 'dailySpendLimit' : 'insufficientFunds' });
  }

  #watch(work: Promise<unknown>): void {
    const watched = work
      .catch((error: unknown) => {
        this.#needs.logger.error({ error }, 'recording notification failed');
      })
      .finally(() => this.#finalizing.delete(watched));
    this.#finalizing.add(watched);
  }

  #recordingsOf(call: Call): CallRecordings {
    const takes = this.#calls.get(call) ?? new CallRecordings(call);
    this.#calls.set(call, takes);
    return takes;
  }
}

const EXHAUSTED = 'recording stopped: the balance does not cover another pulse';
const INTERRUPTED = { reason: 'Failed', digits: '' } as const;
const ENDED: RecordRefusal = { kind: 'wrongState', detail: 'the call has ended' };
const STOPPED: RecordRefusal = {
  kind: 'wrongState',
  detail: 'the recordings of the call were stopped',
};
const NOT_KEPT: RecordRefusal = {
  kind: 'notAvailable',
  detail: 'the recording cannot be stored: see the service log',
};

function notRecordable(call: Call, takes: CallRecordings): RecordRefusal | undefined {
  if (call.isEnded) return ENDED;
  const agreed = mayKeepAudio(call);
  if (!agreed.ok) return agreed.error;
  if (!call.isAnswered && call.status !== 'early') {
    return { kind: 'wrongState', detail: 'the call is not answered yet' };
  }
  return takes.count < MAX_PER_CALL ? undefined : { kind: 'tooMany', limit: MAX_PER_CALL };
}
