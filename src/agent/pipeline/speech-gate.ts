/** Cuts a caller's audio into utterances by energy, for recognizers that take whole utterances. */
import { FRAME_MS, VoiceActivity } from '../../edge/speech/recognition/voice-activity.ts';
import { l16Samples } from '../../phone/audio/wav.ts';

const RATE_HZ = 16_000;
const FRAME_BYTES = (RATE_HZ / 1000) * FRAME_MS * 2;
/** Silence that ends an utterance, in ms. */
const END_MS = 600;
/** Audio kept before the detected begin, so that the first sound is complete, in frames. */
const LEAD_FRAMES = 20;
/** Maximum length of an utterance, in frames (30 s). */
const MAX_FRAMES = 1500;

export interface SpeechGateEvents {
  began(): void;
  /** An utterance has ended: signed 16-bit samples at 16 kHz. */
  ended(pcm: Buffer): void;
}

export class SpeechGate {
  readonly #events: SpeechGateEvents;
  #activity = new VoiceActivity();
  #frames: Buffer[] = [];
  #rest: Buffer = Buffer.alloc(0);
  #speaking = false;

  constructor(events: SpeechGateEvents) {
    this.#events = events;
  }

  hear(pcm: Buffer): void {
    let bytes = Buffer.concat([this.#rest, pcm]);
    while (bytes.length >= FRAME_BYTES) {
      this.#frame(bytes.subarray(0, FRAME_BYTES));
      bytes = bytes.subarray(FRAME_BYTES);
    }
    this.#rest = bytes;
  }

  #frame(frame: Buffer): void {
    this.#activity.hear(l16Samples(frame));
    this.#frames.push(frame);
    if (!this.#speaking) {
      if (this.#frames.length > LEAD_FRAMES) this.#frames.shift();
      if (!this.#activity.hasSpoken) return;
      this.#speaking = true;
      this.#events.began();
      return;
    }
    if (this.#activity.silentMs < END_MS && this.#frames.length < MAX_FRAMES) return;
    const utterance = Buffer.concat(this.#frames);
    this.#frames = [];
    this.#speaking = false;
    this.#activity = new VoiceActivity();
    this.#events.ended(utterance);
  }
}
