/** Plays the bot's audio of a scripted call in real time, with checkpoints and positions as in the media engine. */
import type { PlayPosition, StreamEncoding } from '../domain/call/needs.ts';
import { PCMU } from '../phone/audio/g711.ts';
import { convertRate, l16Samples } from '../phone/audio/wav.ts';

export const PLAY_RATE_HZ = 24_000;
const SAMPLES_PER_MS = PLAY_RATE_HZ / 1000;

interface QueuedMessage {
  readonly number: number;
  readonly samples: Int16Array;
  played: number;
}

interface Mark {
  readonly name: string;
  /** Number of queued samples before it. */
  readonly at: number;
}

/** A checkpoint that playback has reached. */
export interface ReachedMark {
  readonly name: string;
  readonly at: PlayPosition;
}

export class BotPlayback {
  readonly #capacityMs: number;
  #queue: QueuedMessage[] = [];
  #last: QueuedMessage | undefined;
  #messages = 0;
  /** Samples since the begin of the stream. */
  #queued = 0;
  #played = 0;
  /** Value of `#played` at the last checkpoint or clear. */
  #countedFrom = 0;
  #marks: Mark[] = [];
  #odd: Uint8Array = new Uint8Array(0);
  #isMuted = false;

  /** `capacityMs`: maximum duration of queued audio. */
  constructor(capacityMs: number) {
    this.#capacityMs = capacityMs;
  }

  get isPlaying(): boolean {
    return this.#queue.length > 0;
  }

  /** Queues audio. Returns false if the queue is full. Audio is dropped after an interruption by the service. */
  enqueue(encoding: StreamEncoding, rate: number, payload: Uint8Array): boolean {
    const samples = convertRate({ rate, samples: this.#decode(encoding, payload) }, PLAY_RATE_HZ);
    const waiting = this.#queued - this.#played + samples.length;
    const isFull = !this.#isMuted && waiting > this.#capacityMs * SAMPLES_PER_MS;
    if (isFull) return false;
    this.#messages += 1;
    if (this.#isMuted) return true;
    this.#queue.push({ number: this.#messages, samples, played: 0 });
    this.#queued += samples.length;
    return true;
  }

  checkpoint(name: string): void {
    this.#marks.push({ name, at: this.#queued });
  }

  clear(): PlayPosition {
    this.#isMuted = false;
    return this.#discard();
  }

  /** Clears the queue for the caller's speech. Returns undefined if nothing was being played. */
  interrupt(): { readonly names: readonly string[]; readonly at: PlayPosition } | undefined {
    if (!this.isPlaying) return undefined;
    this.#isMuted = true;
    const names = this.#marks.map(({ name }) => name);
    return { names, at: this.#discard() };
  }

  /** The caller is silent again: further audio is played. */
  unmute(): void {
    this.#isMuted = false;
  }

  /** Plays the next `length` samples. Returns them and the checkpoints in them. */
  play(length: number): { readonly frame: Int16Array; readonly reached: readonly ReachedMark[] } {
    const frame = new Int16Array(length);
    const reached: ReachedMark[] = [];
    let filled = 0;
    this.#reach(reached);
    while (filled < length && this.#queue[0] !== undefined) {
      const [next] = this.#queue;
      const toMark = (this.#marks[0]?.at ?? Number.POSITIVE_INFINITY) - this.#played;
      const count = Math.min(length - filled, next.samples.length - next.played, toMark);
      frame.set(next.samples.subarray(next.played, next.played + count), filled);
      next.played += count;
      filled += count;
      this.#played += count;
      this.#last = next;
      if (next.played === next.samples.length) this.#queue.shift();
      this.#reach(reached);
    }
    return { frame, reached };
  }

  #reach(reached: ReachedMark[]): void {
    while (this.#marks[0] !== undefined && this.#marks[0].at <= this.#played) {
      const [{ name }] = this.#marks as [Mark];
      this.#marks.shift();
      reached.push({ name, at: this.#position(0) });
      this.#countedFrom = this.#played;
    }
  }

  #discard(): PlayPosition {
    const at = this.#position(this.#queued - this.#played);
    this.#queue = [];
    this.#marks = [];
    this.#odd = new Uint8Array(0);
    this.#played = this.#queued;
    this.#countedFrom = this.#played;
    return at;
  }

  #position(discarded: number): PlayPosition {
    const ms = (samples: number): number => Math.round(samples / SAMPLES_PER_MS);
    return {
      playedMs: ms(this.#played - this.#countedFrom),
      message: this.#last?.number ?? 0,
      messagePlayedMs: ms(this.#last?.played ?? 0),
      messageMs: ms(this.#last?.samples.length ?? 0),
      discardedMs: ms(discarded),
    };
  }

  #decode(encoding: StreamEncoding, payload: Uint8Array): Int16Array {
    if (encoding === 'audio/x-mulaw') return PCMU.decode(payload);
    const bytes = Buffer.concat([this.#odd, payload]);
    this.#odd = bytes.subarray(bytes.length & ~1);
    return l16Samples(bytes);
  }
}
