import { type Clock, wallUs } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import {
  type AccountId,
  type CallUuid,
  type Random,
  type RecordingId,
  uuid,
} from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { type Micros, unitsFromMicros, ZERO } from '../../base/money.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Recognizer, Transcript } from '../call/needs.ts';
import type { CallbackClient } from '../callback/callback.ts';
import type { CallbackParameters, StoredNotification } from '../callback/types.ts';
import { type Ledger, priceUse, speechHold, UseMeter } from '../ledger/ledger.ts';
import type { ReserveRefusal, Use } from '../ledger/types.ts';
import type { Recording } from '../recording/types.ts';
import type { RecordingReader, TranscriptionStore } from './needs.ts';
import type { Transcription, TranscriptionPatch, TranscriptionRequest } from './types.ts';

export interface TranscriptionNeeds {
  readonly store: TranscriptionStore;
  readonly recordings: { get(recordingId: RecordingId): Promise<Recording | undefined> };
  readonly files: RecordingReader;
  readonly recognizer: Pick<Recognizer, 'transcribe'>;
  readonly ledger: Pick<Ledger, 'holdUse' | 'raiseUse' | 'chargeUse' | 'rateBook'>;
  readonly callbacks: Pick<CallbackClient, 'notifyStored'>;
  /** Returns the URL at which the text can be fetched with credentials. */
  readonly linkTo: (of: Pick<Transcription, 'accountId' | 'transcriptionId'>) => string;
  readonly language: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Maximum number of concurrent transcriptions. Others wait. */
const MAX_AT_ONCE = 2;
/** Maximum size of a file: about an hour of stereo WAV. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** Pauses before a busy or failing recognizer is tried again. */
const PAUSES_MS = [5_000, 30_000];

/** Pauses before a store that refuses writes is tried again. */
const STORE_PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000];

const EVENT = 'Transcription';

export type TranscriptionRefusal = { readonly kind: 'unknownTranscription' };

/** Reserves the pulses of one utterance while it lasts. */
export interface SpeechMeter {
  /** Called when the caller starts to speak. `exhausted` is called if the balance does not cover the next pulse. */
  begin(exhausted: () => void): void;
  /** Charges `usedMs` and releases the rest of the reservation. Must be called once. 0 is free. */
  close(usedMs: number): Promise<SpeechCharge>;
}

/** Amount charged for speech recognition, and its rate. */
export interface SpeechCharge {
  readonly amount: Micros;
  readonly perMinute: Micros;
}

/** Transcribes recordings, and charges recognized speech (`transcription` in price list and ledger). */
export class Transcriptions {
  readonly #needs: TranscriptionNeeds;
  readonly #queue: string[] = [];
  /** IDs that are queued or in progress. */
  readonly #taken = new Set<string>();
  readonly #running = new Set<Promise<void>>();

  constructor(needs: TranscriptionNeeds) {
    this.#needs = needs;
  }

  /** Registers the transcription of a recording that starts. */
  async begin(
    recording: Recording,
    request: TranscriptionRequest,
    of: { readonly subject: string; readonly currency: string },
  ): Promise<void> {
    const { store, clock, random, language } = this.#needs;
    await store.insert({
      transcriptionId: uuid(random),
      recordingId: recording.recordingId,
      accountId: recording.accountId,
      subAccount: recording.subAccount,
      callUuid: recording.callUuid,
      subject: of.subject,
      currency: of.currency,
      language: request.language ?? language,
      target: request.callback,
      status: 'waiting',
      text: '',
      error: undefined,
      durationMs: 0,
      charge: ZERO,
      perMinute: ZERO,
      createdUs: wallUs(clock),
      endedUs: undefined,
    });
  }

  /** Starts the requested transcriptions once the recording is complete or has failed. Never rejects. */
  async filed(recordingId: RecordingId): Promise<void> {
    const { store, logger } = this.#needs;
    try {
      for (const one of await store.ofRecording(recordingId)) {
        if (one.status === 'waiting') this.#enqueue(one.transcriptionId);
      }
    } catch (error) {
      logger.error({ error, recordingId }, 'transcription deferred until the next start');
    }
  }

  /** Resumes unfinished work after a start. Recordings whose file is not complete yet follow through `filed`. */
  async recover(): Promise<void> {
    for (const one of await this.#needs.store.adopt()) {
      const recording = await this.#needs.recordings.get(one.recordingId);
      if (recording?.status !== 'recording') this.#enqueue(one.transcriptionId);
    }
  }

  async get(
    accountId: AccountId,
    transcriptionId: string,
    subAccount?: AccountId,
  ): Promise<Result<Transcription, TranscriptionRefusal>> {
    const found = await this.#needs.store.get(transcriptionId);
    const visible =
      found?.accountId === accountId &&
      (subAccount === undefined || found.subAccount === subAccount);
    return visible ? ok(found) : err({ kind: 'unknownTranscription' });
  }

  /** Returns the transcriptions of a recording, oldest first. A sub-account sees only its own. */
  async ofRecording(
    accountId: AccountId,
    recordingId: RecordingId,
    subAccount?: AccountId,
  ): Promise<readonly Transcription[]> {
    const found = await this.#needs.store.ofRecording(recordingId);
    return found
      .filter((one) => one.accountId === accountId)
      .filter((one) => subAccount === undefined || one.subAccount === subAccount)
      .toSorted((one, other) => one.createdUs - other.createdUs);
  }

  /**
   * Reserves the first pulse of an utterance of a call. Returns undefined if speech is free. Rejects if the store
   * refuses writes.
   */
  async meter(of: {
    readonly accountId: AccountId;
    readonly currency: string;
    readonly callUuid: CallUuid;
  }): Promise<Result<SpeechMeter | undefined, ReserveRefusal>> {
    const { accountId, currency, callUuid } = of;
    const id = uuid(this.#needs.random);
    const what = `Speech recognised in call ${callUuid}`;
    const use = this.#useOf({ accountId, currency, id, what });
    if (use === undefined) return ok(undefined);
    const held: Use = { ...use, reservationId: speechHold(callUuid, id) };
    const meter = await UseMeter.open(this.#needs, held);
    if (!meter.ok) return meter;
    return ok({
      begin: (exhausted) => meter.value.begin(exhausted),
      close: (usedMs) => {
        meter.value.stop();
        return this.#charge(held, usedMs);
      },
    });
  }

  #useOf(of: {
    readonly accountId: AccountId;
    readonly currency: string;
    readonly id: string;
    readonly what: string;
  }): Use | undefined {
    const { accountId, currency, id, what: description } = of;
    const rate = this.#needs.ledger.rateBook.quote('transcription', '', accountId, currency);
    if (rate === undefined) return undefined;
    const reference = `transcription:${id}`;
    const common = { accountId, currency, rate, description, reference };
    return { ...common, reservationId: reference, referenceType: 'transcription' };
  }

  /** Charges a use, at most what is reserved or covered. Retries while the store refuses writes. */
  async #charge(use: Use, usedMs: number): Promise<SpeechCharge> {
    const { ledger, logger } = this.#needs;
    const { reference: id, accountId, rate } = use;
    const charged = await this.#outlastingStore(() => ledger.chargeUse(use, usedMs));
    if (charged.ok) return { amount: charged.value.amount, perMinute: rate.perMinute };
    logger.error({ id, accountId, refusal: charged.error }, 'transcription not charged');
    return { amount: ZERO, perMinute: rate.perMinute };
  }

  /** Repeats `work`, which must be idempotent, while the store fails. */
  async #outlastingStore<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        const pause = STORE_PAUSES_MS[attempt];
        if (!(error instanceof ServiceError) || pause === undefined) throw error;
        await this.#needs.clock.sleep(pause);
      }
    }
  }

  /** Resolves when no transcription is in progress. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #enqueue(transcriptionId: string): void {
    if (this.#taken.has(transcriptionId)) return;
    this.#taken.add(transcriptionId);
    this.#queue.push(transcriptionId);
    this.#next();
  }

  #next(): void {
    while (this.#running.size < MAX_AT_ONCE) {
      const transcriptionId = this.#queue.shift();
      if (transcriptionId === undefined) return;
      const work: Promise<void> = this.#work(transcriptionId)
        .catch((error: unknown) =>
          this.#needs.logger.error(
            { error, transcriptionId },
            'transcription deferred until the next start',
          ),
        )
        .finally(() => {
          this.#running.delete(work);
          this.#taken.delete(transcriptionId);
          this.#next();
        });
      this.#running.add(work);
    }
  }

  async #work(transcriptionId: string): Promise<void> {
    const { store, recordings } = this.#needs;
    const requested = await this.#outlastingStore(() => store.get(transcriptionId));
    if (requested?.status !== 'waiting') return;
    const recording = await this.#outlastingStore(() => recordings.get(requested.recordingId));
    if (recording?.status !== 'ready') {
      await this.#end(requested, { status: 'failed', error: 'the recording has no file' });
      return;
    }
    const { accountId, currency, recordingId, callUuid } = requested;
    const ofCall = callUuid === undefined ? '' : ` of call ${callUuid}`;
    const what = `Transcription of recording ${recordingId}${ofCall}`;
    const use = this.#useOf({ accountId, currency, id: transcriptionId, what });
    const made = await this.#paid(use, recording, () => this.#transcribe(requested, recording));
    if (!made.ok) {
      if (use !== undefined) await this.#charge(use, 0);
      await this.#end(requested, { status: 'failed', error: made.error });
      return;
    }
    const { text, durationMs } = made.value;
    const cost = use && (await this.#charge(use, durationMs));
    const { amount: charge, perMinute } = cost ?? { amount: ZERO, perMinute: ZERO };
    await this.#end(requested, { status: 'ready', text, durationMs, charge, perMinute });
  }

  /** Reserves the price of the whole recording before `work` begins. */
  async #paid(
    use: Use | undefined,
    { durationMs }: Recording,
    work: () => Promise<Result<Transcript, string>>,
  ): Promise<Result<Transcript, string>> {
    if (use !== undefined && durationMs > 0) {
      const { amount } = priceUse(durationMs, use.rate);
      const held = await this.#outlastingStore(() => this.#needs.ledger.holdUse(use, amount));
      if (!held.ok) return err('the balance does not cover the transcription');
    }
    return work();
  }

  async #transcribe(
    requested: Transcription,
    recording: Recording,
  ): Promise<Result<Transcript, string>> {
    const { files, recognizer, clock, logger } = this.#needs;
    const request = {
      language: requested.language,
      model: 'default',
      hints: [],
      profanityFilter: false,
    } as const;
    for (let attempt = 0; ; attempt += 1) {
      const file = await files.read(recording.file, MAX_FILE_BYTES).catch((error: unknown) => {
        const { recordingId, callUuid } = recording;
        logger.warn({ error, recordingId, callUuid }, 'failed to read a recording');
        return undefined;
      });
      const made = file && (await recognizer.transcribe(file, request));
      if (made?.ok === true) return made;
      const pause = PAUSES_MS[attempt];
      if (pause === undefined || made?.error.kind === 'unavailable') {
        return err(made?.error.detail ?? 'the file of the recording cannot be read');
      }
      await clock.sleep(pause);
    }
  }

  /** Stores the notification together with the end, so that it is sent exactly once. */
  async #end(requested: Transcription, end: TranscriptionPatch): Promise<void> {
    const { store, callbacks, clock, logger } = this.#needs;
    const { transcriptionId, recordingId, callUuid, accountId, subAccount, target } = requested;
    const nowUs = wallUs(clock);
    if (end.error !== undefined) {
      logger.warn({ callUuid, recordingId, why: end.error }, 'recording not transcribed');
    }
    const ended: Transcription = { ...requested, ...end, endedUs: nowUs };
    const notification: StoredNotification | undefined = target && {
      id: transcriptionId,
      accountId: subAccount ?? accountId,
      subject: requested.subject,
      event: EVENT,
      target,
      parameters: this.#parameters(ended),
      createdUs: nowUs,
      attempts: 0,
    };
    const stored = await this.#outlastingStore(() =>
      store.finish(transcriptionId, { ...end, endedUs: nowUs }, notification),
    );
    if (stored !== undefined && notification !== undefined) callbacks.notifyStored(notification);
  }

  /** Returns the callback parameters (dialect §2.1 Record, transcription callback). */
  #parameters(ended: Transcription): CallbackParameters {
    return [
      ['Event', EVENT],
      ['transcription', ended.text],
      ['transcription_id', ended.transcriptionId],
      ['transcription_url', this.#needs.linkTo(ended)],
      ['transcription_charge', String(unitsFromMicros(ended.charge))],
      ['transcription_rate', String(unitsFromMicros(ended.perMinute))],
      ['duration', String(Math.round(ended.durationMs / 1000))],
      ['recording_id', ended.recordingId],
      ['call_uuid', ended.callUuid ?? ''],
      ['status', ended.status],
      ['error', ended.error ?? ''],
      ['ParentAuthID', ended.accountId],
    ];
  }
}
