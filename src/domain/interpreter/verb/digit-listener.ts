import { ServiceError } from '../../../base/errors.ts';
import { type Micros, ZERO } from '../../../base/money.ts';
import { noOperation } from '../../../base/no-operation.ts';
import { err, type Result } from '../../../base/result.ts';
import type { GatherInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type {
  InterimTranscript,
  Listening,
  RecognitionProblem,
  Transcript,
} from '../../call/needs.ts';
import type { ReserveRefusal } from '../../ledger/types.ts';
import type { SpeechMeter } from '../../transcription/transcription.ts';
import { notify, parametersOf } from '../call-callbacks.ts';
import type { VerbContext } from '../needs.ts';
import { within } from './within.ts';

/** Maximum length of one utterance, in ms; later speech is ignored. */
const MAX_SPEECH_MS = 60_000;

/** Maximum time that the caller waits in silence for the amount of the charge, in ms. */
const CHARGE_WAIT_MS = 2000;

/** Reason why speech is not recognized. */
type Refused = ReserveRefusal | 'storeFailed';

/** Result if the first pulse cannot be reserved. */
const unheard = (refused: Refused): Listening => {
  const detail =
    refused === 'storeFailed'
      ? 'speech recognition cannot be charged: see the service log'
      : 'the balance does not cover speech recognition';
  return { received: Promise.resolve(err({ kind: 'unavailable', detail })), stop: noOperation };
};

/** Recognizes the caller's speech, starting with an element's prompts. */
export class KeyListener {
  readonly #instruction: GatherInstruction;
  readonly #context: VerbContext;
  readonly #meter: SpeechMeter | undefined;
  readonly #listeners = new Set<() => void>();
  #listening: Listening;
  #isCharged = false;
  #isSpeaking = false;
  #reported = 0;

  private constructor(
    instruction: GatherInstruction,
    context: VerbContext,
    meter: Result<SpeechMeter | undefined, Refused>,
  ) {
    this.#instruction = instruction;
    this.#context = context;
    this.#meter = meter.ok ? meter.value : undefined;
    this.#listening = meter.ok ? this.#listen() : unheard(meter.error);
  }

  /** Reserves the first pulse and starts recognition. Does not listen if it cannot be reserved. */
  static async open(instruction: GatherInstruction, context: VerbContext): Promise<KeyListener> {
    const { call, needs } = context;
    const { accountId } = call.identity;
    const { currency } = call.price;
    const of = { accountId, currency, callUuid: call.uuid };
    const meter = await needs.transcriptions.meter(of).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      needs.logger.error({ error, callUuid: call.uuid }, 'speech recognition not reserved');
      return err('storeFailed' as const);
    });
    return new KeyListener(instruction, context, meter);
  }

  /**
   * Calls `listener` when the caller begins to speak, or immediately if that has happened. Returns an unsubscribe
   * function.
   */
  onSpeech(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#isSpeaking) listener();
    return () => this.#listeners.delete(listener);
  }

  /** Result of the recognition. Never rejects; settles immediately if recognition is unavailable. */
  get received(): Promise<Result<Transcript, RecognitionProblem>> {
    return this.#listening.received;
  }

  /** Restarts recognition after noise without words. */
  again(): void {
    this.#isSpeaking = false;
    this.#listening = this.#listen();
  }

  /** Charges the recognized speech. Returns the amount; undefined if the store does not confirm it in time. */
  async charge({ durationMs }: Transcript): Promise<Micros | undefined> {
    this.#isCharged = true;
    if (this.#meter === undefined) return ZERO;
    const { call, needs } = this.#context;
    const charged = this.#meter.close(durationMs).catch((error: unknown) => {
      needs.logger.error({ error, callUuid: call.uuid }, 'recognized speech not charged');
      return undefined;
    });
    return (await within(CHARGE_WAIT_MS, this.#context, charged))?.amount;
  }

  /** Stops recognition and releases the reservation of unrecognized speech. */
  stop(): void {
    this.#listeners.clear();
    this.#listening.stop();
    if (this.#isCharged) return;
    this.#isCharged = true;
    const { call, needs } = this.#context;
    this.#meter?.close(0).catch((error: unknown) => {
      needs.logger.error({ error, callUuid: call.uuid }, 'speech reservation not released');
    });
  }

  #listen(): Listening {
    const { language, speechModel, hints, profanityFilter, speechEndTimeoutMs } = this.#instruction;
    const { interimSpeechResultsCallback: url } = this.#instruction;
    const { call, needs } = this.#context;
    return needs.recognizer.listen(call.media, {
      language,
      model: speechModel,
      hints,
      profanityFilter,
      endSilenceMs: speechEndTimeoutMs,
      maxMs: MAX_SPEECH_MS,
      speaking: () => {
        this.#isSpeaking = true;
        this.#meter?.begin(() => {
          call.log.add('warning', 'speech recognition stopped: the balance does not cover more');
          this.#listening.stop();
        });
        for (const listener of [...this.#listeners]) listener();
      },
      interim: url === undefined ? undefined : (words) => this.#notify(url, words),
    });
  }

  /** Sends an interim result (dialect §2.1 GetInput: StableSpeech, UnstableSpeech, Stability, SequenceNumber). */
  #notify(url: string, { stable, unstable, stability }: InterimTranscript): void {
    const { call } = this.#context;
    const { interimSpeechResultsCallbackMethod: method } = this.#instruction;
    const parameters = parametersOf(call, 'InterimSpeech', [
      ['StableSpeech', stable],
      ['UnstableSpeech', unstable],
      ['Stability', stability.toFixed(2)],
      ['SequenceNumber', String(this.#reported)],
    ]);
    this.#reported += 1;
    notify(this.#context, 'InterimSpeech', { url, method }, parameters);
  }
}
