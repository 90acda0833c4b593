/** Tracks which audio of the model the caller has heard. Positions are milliseconds of audio since the begin. */
import type { Clock } from '../base/clock.ts';
import type { ModelAudio } from './model/model.ts';
import type { Checkpoints } from './pacing.ts';

const BYTES_PER_SAMPLE = 2;
/** Items whose late audio is still refused. The oldest is forgotten beyond that. */
const MAX_DROPPED = 20;
/** Items kept while the service does not report their begin. */
const MAX_QUEUED = 100;
/** Audio between two checkpoints, in ms: precision of the position while the service does not play. */
const CHECKPOINT_MS = 1000;

export interface PlayedItem {
  readonly item: string;
  readonly playedMs: number;
}

interface QueuedItem {
  readonly item: string;
  readonly fromMs: number;
  endMs: number;
}

interface Mark {
  readonly name: string;
  readonly positionMs: number;
}

/** Audio that a clear discards. The service has not reported its position. */
interface Clearing {
  readonly queue: QueuedItem[];
  readonly marks: Mark[];
  /** Estimated position. */
  readonly positionMs: number;
  /** Position of the last checkpoint reported or of the clear before. */
  reportedMs: number;
}

export class Playback {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Items in the order of playback. The first one is being played, or was played last. */
  #queue: QueuedItem[] = [];
  readonly #dropped: string[] = [];
  /** End of all added audio. */
  #endMs = 0;
  /** Position of the last checkpoint reported or of the last clear. */
  #reportedMs = 0;
  /** A known position and its time (monotonic ms). */
  #known = { positionMs: 0, atMs: 0 };
  /** Checkpoints that the service has not reported, in the order of playback. */
  #marks: Mark[] = [];
  #lastMarkMs = 0;
  #marksCreated = 0;
  readonly #clearing: Clearing[] = [];

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Whether audio is still being played, as far as known. */
  get isPlaying(): boolean {
    return this.leftMs > 0 || this.#marks.length > 0;
  }

  /** Estimated duration of the audio that has not been played, in ms. */
  get leftMs(): number {
    return this.#endMs - this.#positionMs;
  }

  /** Adds audio. Returns its checkpoints, or undefined if the caller has interrupted this item. */
  add({ item, payload, rate }: ModelAudio): Checkpoints | undefined {
    if (this.#dropped.includes(item)) return undefined;
    this.#know(this.#positionMs);
    const fromMs = this.#endMs;
    const bytes = (payload.length / 4) * 3;
    this.#endMs += (bytes * 1000) / (rate * BYTES_PER_SAMPLE);
    const last = this.#queue.at(-1);
    const isNew = last?.item !== item;
    if (isNew) {
      this.#queue.push({ item, fromMs, endMs: this.#endMs });
      if (this.#queue.length > MAX_QUEUED) this.#queue.shift();
    } else last.endMs = this.#endMs;
    const before = isNew ? this.#mark(item, fromMs) : undefined;
    const isDue = this.#endMs - this.#lastMarkMs >= CHECKPOINT_MS;
    return { before, after: isDue ? this.#mark(this.#newName(), this.#endMs) : undefined };
  }

  /** Records that playback has reached a checkpoint, possibly before it was cleared. */
  reached(name: string): void {
    for (const clearing of this.#clearing) {
      const mark = clearing.marks.find((one) => one.name === name);
      if (mark === undefined) continue;
      clearing.reportedMs = mark.positionMs;
      clearing.queue.splice(0, begunBefore(clearing.queue, mark));
      return;
    }
    const at = this.#marks.findIndex((mark) => mark.name === name);
    const [mark] = this.#marks.splice(0, at + 1).slice(-1);
    if (mark === undefined) return;
    this.#reportedMs = mark.positionMs;
    this.#know(mark.positionMs);
    this.#queue.splice(0, begunBefore(this.#queue, mark));
  }

  /** Records that the queue is being cleared. Audio added from now on is played. */
  clear(): void {
    const positionMs = this.#positionMs;
    const reportedMs = this.#reportedMs;
    const queue = this.#queue.splice(0);
    this.#clearing.push({ queue, marks: this.#marks.splice(0), positionMs, reportedMs });
    this.#dropped.push(...queue.map(({ item }) => item));
    this.#dropped.splice(0, Math.max(0, this.#dropped.length - MAX_DROPPED));
    this.#reportedMs = this.#endMs;
    this.#lastMarkMs = this.#endMs;
    this.#know(this.#endMs);
  }

  /**
   * Records the position of the oldest clear. `playedMs` was played since the last checkpoint; if it is not a number, the
   * position is estimated. Returns the interrupted items in the order of playback; none if no audio was queued.
   */
  cleared(playedMs: unknown): readonly PlayedItem[] {
    const clearing = this.#clearing.shift();
    if (clearing === undefined) return [];
    const { queue, positionMs, reportedMs } = clearing;
    const isKnown = typeof playedMs === 'number' && playedMs >= 0;
    const heardMs = isKnown ? reportedMs + playedMs : positionMs;
    // Vendors refuse a position after the end of the item.
    return queue.map(({ item, fromMs, endMs }) => ({
      item,
      playedMs: Math.max(0, Math.min(heardMs, endMs) - fromMs),
    }));
  }

  /** Playback is not beyond the first checkpoint that the service has not reported. */
  get #positionMs(): number {
    const { positionMs, atMs } = this.#known;
    const elapsedMs = this.#clock.monotonicMs() - atMs;
    return Math.min(positionMs + elapsedMs, this.#marks[0]?.positionMs ?? this.#endMs, this.#endMs);
  }

  #know(positionMs: number): void {
    this.#known = { positionMs, atMs: this.#clock.monotonicMs() };
  }

  #newName(): string {
    this.#marksCreated += 1;
    return `heard-${this.#marksCreated}`;
  }

  #mark(name: string, positionMs: number): string {
    this.#marks.push({ name, positionMs });
    this.#lastMarkMs = positionMs;
    return name;
  }
}

/** Number of items that ended before the checkpoint. */
const begunBefore = (queue: readonly QueuedItem[], { positionMs }: Mark): number =>
  Math.max(
    0,
    queue.findLastIndex(({ fromMs }) => fromMs <= positionMs),
  );
