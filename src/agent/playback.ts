/** Tracks which audio of the model the caller has heard. */
import type { Clock } from '../base/clock.ts';
import type { ModelAudio } from './model/model.ts';

const BYTES_PER_SAMPLE = 2;
/** Items whose late audio is still refused. The oldest is forgotten beyond that. */
const MAX_DROPPED = 20;
/** Items kept while the service does not report their begin. */
const MAX_QUEUED = 100;

export interface PlayedItem {
  readonly item: string;
  readonly playedMs: number;
}

interface QueuedItem {
  readonly item: string;
  /** Estimated begin and end of its audio at the caller (monotonic ms). */
  readonly fromMs: number;
  endMs: number;
  /** Duration of its audio. */
  audioMs: number;
}

export class Playback {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Items in the order of playback. The first one is being played, or was played last. */
  #queue: QueuedItem[] = [];
  readonly #dropped: string[] = [];

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Whether audio is still being played, as far as known. */
  get isPlaying(): boolean {
    return this.leftMs > 0;
  }

  /** Estimated duration of the audio that has not been played, in ms. */
  get leftMs(): number {
    return Math.max(0, this.#endMs - this.#clock.monotonicMs());
  }

  /** Adds audio. Returns whether it begins a new item, or undefined if the caller has interrupted this item. */
  add({ item, payload, rate }: ModelAudio): { readonly isNew: boolean } | undefined {
    if (this.#dropped.includes(item)) return undefined;
    const fromMs = Math.max(this.#endMs, this.#clock.monotonicMs());
    const bytes = (payload.length / 4) * 3;
    const audioMs = (bytes * 1000) / (rate * BYTES_PER_SAMPLE);
    const endMs = fromMs + audioMs;
    const last = this.#queue.at(-1);
    if (last?.item === item) {
      last.endMs = endMs;
      last.audioMs += audioMs;
      return { isNew: false };
    }
    this.#queue.push({ item, fromMs, endMs, audioMs });
    if (this.#queue.length > MAX_QUEUED) this.#queue.shift();
    return { isNew: true };
  }

  /** Records that the service has begun to play an item. */
  reached(item: string): void {
    const at = this.#queue.findIndex((one) => one.item === item);
    if (at > 0) this.#queue.splice(0, at);
  }

  /**
   * Records that the queue was cleared. `playedMs` is the position in the item that is being played, or undefined for
   * the estimate. Returns the interrupted items in the order of playback; none if no audio was queued.
   */
  cleared(playedMs: number | undefined): readonly PlayedItem[] {
    const nowMs = this.#clock.monotonicMs();
    const queue = this.#queue;
    this.#queue = [];
    this.#dropped.push(...queue.map(({ item }) => item));
    this.#dropped.splice(0, Math.max(0, this.#dropped.length - MAX_DROPPED));
    return queue.map(({ item, fromMs, endMs, audioMs }, i) => {
      const estimateMs = Math.max(0, Math.min(nowMs, endMs) - fromMs);
      const exactMs = i === 0 ? playedMs : 0;
      // Vendors refuse a position after the end of the item.
      const heardMs = Math.min(playedMs === undefined ? estimateMs : (exactMs ?? 0), audioMs);
      return { item, playedMs: heardMs };
    });
  }

  get #endMs(): number {
    return this.#queue.at(-1)?.endMs ?? 0;
  }
}
