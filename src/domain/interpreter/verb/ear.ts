import type { Result } from '../../../base/result.ts';
import type { GatherInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type {
  InterimTranscript,
  Listening,
  RecognitionProblem,
  Transcript,
} from '../../call/needs.ts';
import { notify, parametersOf } from '../call-callbacks.ts';
import type { VerbContext } from '../needs.ts';

/** Of one utterance; what is said after it is not heard. */
const MAX_SPEECH_MS = 60_000;

/** Listens for the caller's speech from the start of an element's prompts on. */
export class Ear {
  readonly #instruction: GatherInstruction;
  readonly #context: VerbContext;
  readonly #listeners = new Set<() => void>();
  #listening: Listening;
  #isSpeaking = false;
  #told = 0;

  constructor(instruction: GatherInstruction, context: VerbContext) {
    this.#instruction = instruction;
    this.#context = context;
    this.#listening = this.#listen();
  }

  /** Calls `listener` when the caller begins to speak, and now when he has. Returns how to stop. */
  onSpeech(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#isSpeaking) listener();
    return () => this.#listeners.delete(listener);
  }

  /** What was said. Rejects never; settles at once when nobody can listen. */
  get heard(): Promise<Result<Transcript, RecognitionProblem>> {
    return this.#listening.heard;
  }

  /** After noise that was no words. */
  again(): void {
    this.#isSpeaking = false;
    this.#listening = this.#listen();
  }

  stop(): void {
    this.#listeners.clear();
    this.#listening.stop();
  }

  #listen(): Listening {
    const { language, speechModel, hints, profanityFilter, speechEndTimeoutMs } = this.#instruction;
    const { interimSpeechResultsCallback: url } = this.#instruction;
    const { call, needs } = this.#context;
    return needs.recognizer.listen(call.media, {
      ...{ language, model: speechModel, hints, profanityFilter },
      endSilenceMs: speechEndTimeoutMs,
      maxMs: MAX_SPEECH_MS,
      speaking: () => {
        this.#isSpeaking = true;
        for (const listener of [...this.#listeners]) listener();
      },
      interim: url === undefined ? undefined : (words) => this.#tell(url, words),
    });
  }

  /** Dialect §2.1 GetInput: StableSpeech, UnstableSpeech, Stability, SequenceNumber. */
  #tell(url: string, { stable, unstable, stability }: InterimTranscript): void {
    const { call } = this.#context;
    const { interimSpeechResultsCallbackMethod: method } = this.#instruction;
    const parameters = parametersOf(call, 'InterimSpeech', [
      ['StableSpeech', stable],
      ['UnstableSpeech', unstable],
      ['Stability', stability.toFixed(2)],
      ['SequenceNumber', String(this.#told)],
    ]);
    this.#told += 1;
    notify(this.#context, 'InterimSpeech', { url, method }, parameters);
  }
}
