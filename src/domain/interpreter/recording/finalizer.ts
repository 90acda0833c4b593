import { wallUs } from '../../../base/clock.ts';
import { ServiceError } from '../../../base/errors.ts';
import type { NotificationDraft, StoredNotification } from '../../callback/types.ts';
import type { Use } from '../../ledger/types.ts';
import type { Recording, RecordingPatch } from '../../recording/types.ts';
import { useOf } from './pending-charges.ts';
import type { RecorderNeeds } from './types.ts';

/** Attempts when the encoder is busy, with exponential backoff. */
const ENCODE_ATTEMPTS = 6;
const ENCODE_PAUSE_MS = 1000;
/** Attempts when the store rejects writes (disk full), with exponential backoff over about 8 minutes. */
const STORE_ATTEMPTS = 10;
const STORE_PAUSE_MS = 1000;

/** Path of the WAV file. Every recording is written as WAV first, regardless of its final format. */
export const wavFileOf = ({ accountId, recordingId }: Recording): string =>
  `${accountId}/${recordingId}.wav`;

type FilingNeeds = Pick<
  RecorderNeeds,
  | 'recordings'
  | 'encoder'
  | 'folder'
  | 'callbacks'
  | 'ledger'
  | 'transcriptions'
  | 'clock'
  | 'logger'
>;

/** Facts about an ended recording. */
export interface Recorded {
  readonly startUs: number;
  readonly durationMs: number;
  /** Currency of the charge; undefined: free. */
  readonly currency: string | undefined;
  /** Builds the notification about the record, once its file is available. */
  readonly notice: (ready: Recording) => Promise<NotificationDraft | undefined>;
}

/** Turns recorded audio into an available file, charges for it and notifies the application. */
export class Finalizer {
  readonly #needs: FilingNeeds;

  constructor(needs: FilingNeeds) {
    this.#needs = needs;
  }

  /**
   * Finalizes a recording and returns its record. Returns undefined on failure, temporary or final; the log has the
   * reason. Never rejects.
   */
  async file(row: Recording, recorded: Recorded): Promise<Recording | undefined> {
    const { folder, transcriptions, logger } = this.#needs;
    let made: Pick<Recording, 'file' | 'format' | 'bytes'>;
    try {
      const { file, format } = await this.#encode(row);
      // A power failure after the charge or after the end of the WAV must not lose the audio.
      const bytes = await folder.synced(file);
      if (bytes === undefined) return await this.fail(row, 'no file was written');
      made = { file, format, bytes };
    } catch (error) {
      return this.fail(row, error);
    }
    try {
      const ready = await this.#keep(row, recorded, made);
      // Remove the WAV only now: until the record names the MP3, recovery after a crash needs the WAV.
      if (made.format === 'mp3') await folder.remove(wavFileOf(row));
      await transcriptions.filed(row.recordingId);
      return ready;
    } catch (error) {
      const { recordingId, callUuid } = row;
      logger.error(
        { error, recordingId, callUuid },
        'recording not finalized; retrying at the next start',
      );
      return undefined;
    }
  }

  /** Marks a recording as failed because of an internal error. Never rejects. */
  async fail(row: Recording, error: unknown): Promise<undefined> {
    const { recordingId, callUuid } = row;
    this.#needs.logger.error({ error, recordingId, callUuid }, 'recording failed');
    return this.abandon(row);
  }

  /** Marks a recording as having no file. Never rejects. */
  async abandon(row: Recording): Promise<undefined> {
    const { recordings, transcriptions, ledger, logger } = this.#needs;
    const { recordingId, callUuid, pendingCharges } = row;
    try {
      const use = useOf(row, pendingCharges?.currency, pendingCharges?.rate);
      if (use !== undefined) await ledger.chargeUse(use, 0);
      await recordings.finish(recordingId, { status: 'failed' });
      await transcriptions.filed(recordingId);
    } catch (failure) {
      // The record stays `recording`; the next start retries.
      logger.error({ error: failure, recordingId, callUuid }, 'failed recording not stored');
    }
  }

  /** Charges and stores the record, retrying if the store rejects writes. The file remains available during the retries. */
  async #keep(
    row: Recording,
    recorded: Recorded,
    made: Pick<Recording, 'file' | 'format' | 'bytes'>,
  ): Promise<Recording | undefined> {
    const { clock, logger } = this.#needs;
    const { startUs, durationMs, notice } = recorded;
    const endUs = startUs + Math.round(durationMs * 1000);
    const end = { ...made, status: 'ready', durationMs, startUs, endUs } as const;
    const draft = await notice({ ...row, ...end });
    for (let attempt = 1; ; attempt += 1) {
      try {
        // Charge before the file is available. The charge is idempotent by its key.
        const billedMs = await this.#charge(row, recorded);
        return await this.#finish(row, { ...end, billedMs }, draft);
      } catch (error) {
        const mayPass = error instanceof ServiceError && error.code !== 'STORE_CLOSED';
        if (!mayPass || attempt === STORE_ATTEMPTS) throw error;
        const { recordingId, callUuid } = row;
        logger.warn(
          { recordingId, callUuid, code: error.code },
          'recording not stored yet; retrying',
        );
        await clock.sleep(STORE_PAUSE_MS * 2 ** (attempt - 1));
      }
    }
  }

  /** Stores the record and its notification together, so that the notification is not lost or duplicated. */
  async #finish(
    row: Recording,
    end: RecordingPatch,
    draft: NotificationDraft | undefined,
  ): Promise<Recording | undefined> {
    const { recordings, callbacks, clock } = this.#needs;
    const notification: StoredNotification | undefined = draft && {
      ...draft,
      id: row.recordingId,
      createdUs: wallUs(clock),
      attempts: 0,
    };
    const ready = await recordings.finish(row.recordingId, end, notification);
    if (ready !== undefined && notification !== undefined) callbacks.notifyStored(notification);
    return ready;
  }

  /** Encodes to MP3 if requested. Falls back to WAV if encoding fails. */
  async #encode(row: Recording): Promise<Pick<Recording, 'file' | 'format'>> {
    const wav = wavFileOf(row);
    if (row.format === 'wav') return { file: wav, format: 'wav' };
    const { encoder, folder, clock, logger } = this.#needs;
    const [wavPath, mp3Path] = [await folder.prepare(wav), await folder.prepare(row.file)];
    for (let attempt = 1; ; attempt += 1) {
      const encoded = await encoder.encodeMp3(wavPath, mp3Path);
      if (encoded.ok) return { file: row.file, format: 'mp3' };
      const { kind, detail } = encoded.error;
      if (kind !== 'busy' || attempt === ENCODE_ATTEMPTS) {
        const { recordingId, callUuid } = row;
        logger.warn({ recordingId, callUuid, kind, detail }, 'recording kept as WAV');
        return { file: wav, format: 'wav' };
      }
      await clock.sleep(ENCODE_PAUSE_MS * 2 ** (attempt - 1));
    }
  }

  /**
   * Charges the recording, at most the reserved or covered amount. Returns the charged time in ms; undefined: not
   * charged.
   */
  async #charge(row: Recording, { currency, durationMs }: Recorded): Promise<number | undefined> {
    const { ledger, logger } = this.#needs;
    const use = this.#useOf(row, currency);
    if (use === undefined) return undefined;
    const charged = await ledger.chargeUse(use, durationMs);
    if (charged.ok) return charged.value.billedMs;
    const { accountId, recordingId } = row;
    logger.error({ recordingId, accountId, refusal: charged.error }, 'recording not charged');
    return undefined;
  }

  /**
   * Uses the price at the start of the recording. A recording started by an earlier version has none and gets the
   * current price.
   */
  #useOf(row: Recording, currency: string | undefined): Use | undefined {
    const { rateBook } = this.#needs.ledger;
    const { rate } = row.pendingCharges ?? {};
    const quoted =
      rate ?? (currency && rateBook.quote('recording', '', row.accountId, currency)) ?? undefined;
    return useOf(row, currency, quoted || undefined);
  }
}
