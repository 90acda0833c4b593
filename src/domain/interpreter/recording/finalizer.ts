import { ServiceError } from '../../../base/errors.ts';
import type { NotificationDraft, StoredNotification } from '../../callback/types.ts';
import type { Use } from '../../ledger/types.ts';
import type { Recording, RecordingPatch } from '../../recording/types.ts';
import { useOf } from './pending-charges.ts';
import type { RecorderNeeds } from './types.ts';

/** An encoder that has too much to do is asked again, after pauses that double. */
const ENCODE_ATTEMPTS = 6;
const ENCODE_PAUSE_MS = 1000;
/** A store that takes no writes (disk full) is asked again for about eight minutes, after pauses that double. */
const STORE_ATTEMPTS = 10;
const STORE_PAUSE_MS = 1000;

/** A recording is always written as WAV, whatever is to become of it. */
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

/** What was recorded, once it is over. */
export interface Recorded {
  readonly startUs: number;
  readonly durationMs: number;
  /** Undefined: it is not charged. */
  readonly currency: string | undefined;
  /** What there is to tell of the record, as it is when its file can be fetched. */
  readonly notice: (ready: Recording) => Promise<NotificationDraft | undefined>;
}

/** Turns what was recorded into a file that can be fetched, charges for it, and tells of it. */
export class Finalizer {
  readonly #needs: FilingNeeds;

  constructor(needs: FilingNeeds) {
    this.#needs = needs;
  }

  /** The finished record; undefined: there is none, now or for good, and the log says why. Never rejects. */
  async file(row: Recording, recorded: Recorded): Promise<Recording | undefined> {
    const { folder, transcriptions, logger } = this.#needs;
    let made: Pick<Recording, 'file' | 'format' | 'bytes'>;
    try {
      const { file, format } = await this.#encode(row);
      const bytes = await folder.size(file);
      if (bytes === undefined) return await this.fail(row, 'no file was written');
      made = { file, format, bytes };
    } catch (error) {
      return this.fail(row, error);
    }
    try {
      const ready = await this.#keep(row, recorded, made);
      // Only now: until the record names the MP3, a crash leaves the WAV to begin again from.
      if (made.format === 'mp3') await folder.remove(wavFileOf(row));
      await transcriptions.filed(row.recordingId);
      return ready;
    } catch (error) {
      const { recordingId, callUuid } = row;
      logger.error({ error, recordingId, callUuid }, 'recording left to the next start');
      return undefined;
    }
  }

  /** There is no file and there will be none, which is a fault of ours. Never rejects. */
  async fail(row: Recording, error: unknown): Promise<undefined> {
    const { recordingId, callUuid } = row;
    this.#needs.logger.error({ error, recordingId, callUuid }, 'recording failed');
    return this.abandon(row);
  }

  /** There is no file and there will be none. Never rejects. */
  async abandon(row: Recording): Promise<undefined> {
    const { recordings, transcriptions, ledger, logger } = this.#needs;
    const { recordingId, callUuid, pendingCharges } = row;
    try {
      const use = useOf(row, pendingCharges?.currency, pendingCharges?.rate);
      if (use !== undefined) await ledger.chargeUse(use, 0);
      await recordings.finish(recordingId, { status: 'failed' });
      await transcriptions.filed(recordingId);
    } catch (failure) {
      // The record stays `recording`: the next start takes it up again.
      logger.error({ error: failure, recordingId, callUuid }, 'recording not recorded as failed');
    }
  }

  /** Charges and records; a store that takes no writes is asked again. The file is there all the while. */
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
        // Charged before it can be fetched: what is charged already is not charged again, by its key.
        const billedMs = await this.#charge(row, recorded);
        return await this.#finish(row, { ...end, billedMs }, draft);
      } catch (error) {
        const mayPass = error instanceof ServiceError && error.code !== 'STORE_CLOSED';
        if (!mayPass || attempt === STORE_ATTEMPTS) throw error;
        const { recordingId, callUuid } = row;
        logger.warn({ recordingId, callUuid, code: error.code }, 'recording not kept yet');
        await clock.sleep(STORE_PAUSE_MS * 2 ** (attempt - 1));
      }
    }
  }

  /** The notification is stored with the record, so that it is neither lost nor sent twice. */
  async #finish(
    row: Recording,
    end: RecordingPatch,
    draft: NotificationDraft | undefined,
  ): Promise<Recording | undefined> {
    const { recordings, callbacks, clock } = this.#needs;
    const notification: StoredNotification | undefined = draft && {
      ...draft,
      id: row.recordingId,
      createdUs: Math.round(clock.wallMs() * 1000),
      attempts: 0,
    };
    const ready = await recordings.finish(row.recordingId, end, notification);
    if (ready !== undefined && notification !== undefined) callbacks.notifyStored(notification);
    return ready;
  }

  /** An MP3 that cannot be made leaves the WAV: another format is better than no recording. */
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
        logger.warn({ recordingId, callUuid, kind, detail }, 'recording stays WAV');
        return { file: wav, format: 'wav' };
      }
      await clock.sleep(ENCODE_PAUSE_MS * 2 ** (attempt - 1));
    }
  }

  /** Charges the recording, at most what is held for it or covered. Returns the time charged, ms; undefined: not charged. */
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

  /** At the price of its beginning; a recording that an earlier version began is priced now. */
  #useOf(row: Recording, currency: string | undefined): Use | undefined {
    const { rateBook } = this.#needs.ledger;
    const { rate } = row.pendingCharges ?? {};
    const quoted =
      rate ?? (currency && rateBook.quote('recording', '', row.accountId, currency)) ?? undefined;
    return useOf(row, currency, quoted || undefined);
  }
}
