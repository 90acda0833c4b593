import type { InterimTranscript } from '../../../domain/call/needs.ts';
import { lengthMs, problem, type Recognised, type RecognitionSession } from './engine.ts';

/** Recognizes a complete utterance. Never rejects. */
export type RecogniseWhole = (pcm: Uint8Array, signal: AbortSignal) => Promise<Recognised>;

/** Interval of audio after which the utterance so far is recognized for interim results, ms. */
const INTERIM_MS = 1000;

/** Buffers an utterance for recognizers that need all of it. Interim results recognize the buffered part. */
export class Utterance implements RecognitionSession {
  readonly #recognise: RecogniseWhole;
  readonly #interim: ((words: InterimTranscript) => void) | undefined;
  readonly #over = new AbortController();
  #parts: Uint8Array[] = [];
  #length = 0;
  #requested = 0;
  #asking = false;

  constructor(
    recognise: RecogniseWhole,
    interim: ((words: InterimTranscript) => void) | undefined,
  ) {
    this.#recognise = recognise;
    this.#interim = interim;
  }

  audio(pcm: Uint8Array): void {
    this.#parts.push(pcm);
    this.#length += pcm.length;
    if (this.#interim === undefined || this.#asking) return;
    if (lengthMs({ length: this.#length - this.#requested }) >= INTERIM_MS) void this.#tellSoFar();
  }

  async recorded(pcm: Uint8Array): Promise<void> {
    this.audio(pcm);
  }

  finish(): Promise<Recognised> {
    const whole = this.#whole();
    this.#parts = [];
    const { signal } = this.#over;
    if (signal.aborted) return Promise.resolve(problem('aborted', 'no longer wanted'));
    return this.#recognise(whole, signal);
  }

  abort(): void {
    this.#parts = [];
    this.#over.abort();
  }

  async #tellSoFar(): Promise<void> {
    this.#asking = true;
    this.#requested = this.#length;
    const soFar = await this.#recognise(this.#whole(), this.#over.signal);
    this.#asking = false;
    // Ignores interim results that arrive after the final recognition has started.
    if (this.#parts.length === 0 || !soFar.ok || soFar.value.text === '') return;
    this.#interim?.({ stable: '', unstable: soFar.value.text, stability: 0.5 });
  }

  #whole(): Uint8Array {
    return Buffer.concat(this.#parts, this.#length);
  }
}
