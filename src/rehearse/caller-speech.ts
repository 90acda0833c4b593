/** Detects the scripted caller's speech from the level of its frames, for `speechEvents` and `bargeIn`. */
import type { SpeechDetection } from '../domain/call/needs.ts';

/** Mean square of a frame that counts as speech: about -40 dBFS. */
const LOUD = 330 ** 2;

export class CallerSpeech {
  readonly #options: Pick<SpeechDetection, 'minimumMs' | 'endMs'>;
  #isSpeaking = false;
  /** Duration of the state opposite to the current one, in ms. */
  #otherMs = 0;

  constructor(options: Pick<SpeechDetection, 'minimumMs' | 'endMs'>) {
    this.#options = options;
  }

  /** Processes the next frame. Returns whether speech has begun or ended with it. */
  hear(frame: Int16Array, frameMs: number): 'began' | 'ended' | undefined {
    const isLoud = meanSquare(frame) > LOUD;
    this.#otherMs = isLoud === this.#isSpeaking ? 0 : this.#otherMs + frameMs;
    const { minimumMs, endMs } = this.#options;
    if (this.#otherMs < (this.#isSpeaking ? endMs : minimumMs)) return undefined;
    this.#otherMs = 0;
    this.#isSpeaking = !this.#isSpeaking;
    return this.#isSpeaking ? 'began' : 'ended';
  }
}

export const meanSquare = (frame: Int16Array): number =>
  frame.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, frame.length);
