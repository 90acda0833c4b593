/**
 * What goes to the bot, in order and bounded. Usually a message goes straight to the socket. When a bot reads too slowly,
 * messages wait here; then the oldest `media` are dropped (their sequence numbers stay missing, so the bot can tell), never
 * a control message.
 */
import type { StreamSocketLimits } from './limits.ts';

/** The part of a `ws` socket that is used. */
export interface FrameSink {
  readonly bufferedAmount: number;
  send(
    data: Buffer | string,
    options: { readonly binary: false },
    sent: (error?: Error | null) => void,
  ): void;
}

export interface SendQueueEvents {
  /** Waiting media crossed 30, 60 or 90 percent of the limit, upwards. */
  degraded(percent: 30 | 60 | 90): void;
  /** More control messages wait than the limit allows. */
  overrun(): void;
}

const HIGH_WATER_PERCENT = [90, 60, 30] as const;

interface Waiting {
  readonly media: boolean;
  readonly data: Buffer | string;
}

export class SendQueue {
  readonly #sink: FrameSink;
  readonly #events: SendQueueEvents;
  readonly #limits: StreamSocketLimits;
  readonly #maxMedia: number;
  readonly #onSent = (): void => this.#flush();
  #waiting: Waiting[] = [];
  #waitingMedia = 0;
  #waitingControlBytes = 0;
  #toldPercent = 0;
  #droppedMedia = 0;

  constructor(
    sink: FrameSink,
    tracks: number,
    limits: StreamSocketLimits,
    events: SendQueueEvents,
  ) {
    this.#sink = sink;
    this.#limits = limits;
    this.#events = events;
    this.#maxMedia = limits.waitingMediaPerTrack * tracks;
  }

  get droppedMedia(): number {
    return this.#droppedMedia;
  }

  /** `message` is valid only during the call. */
  sendMedia(message: Buffer): void {
    if (this.#mayPass()) {
      this.#write(message);
      return;
    }
    if (this.#waitingMedia === this.#maxMedia) this.#dropOldestMedia();
    this.#waiting.push({ media: true, data: Buffer.from(message) });
    this.#waitingMedia += 1;
    this.#tellDegraded();
  }

  sendControl(text: string): void {
    if (this.#mayPass()) {
      this.#write(text);
      return;
    }
    this.#waiting.push({ media: false, data: text });
    this.#waitingControlBytes += text.length;
    if (this.#waitingControlBytes > this.#limits.waitingControlBytes) this.#events.overrun();
  }

  /** Before a close: media that waits is given up, control messages go to the socket. */
  finish(): void {
    const rest = this.#waiting;
    this.#waiting = [];
    for (const { media, data } of rest) {
      if (media) this.#droppedMedia += 1;
      else this.#write(data);
    }
    this.#waitingMedia = 0;
    this.#waitingControlBytes = 0;
  }

  #mayPass(): boolean {
    return this.#waiting.length === 0 && this.#sink.bufferedAmount < this.#limits.socketBufferBytes;
  }

  /** `ws` copies a Buffer while masking, before it returns. */
  #write(data: Buffer | string): void {
    this.#sink.send(data, { binary: false }, this.#onSent);
  }

  #flush(): void {
    let count = 0;
    while (this.#sink.bufferedAmount < this.#limits.socketBufferBytes) {
      const next = this.#waiting[count];
      if (next === undefined) break;
      count += 1;
      if (next.media) this.#waitingMedia -= 1;
      else this.#waitingControlBytes -= next.data.length;
      this.#write(next.data);
    }
    if (count > 0) this.#waiting.splice(0, count);
    if (this.#waiting.length === 0) this.#toldPercent = 0;
  }

  #dropOldestMedia(): void {
    const oldest = this.#waiting.findIndex(({ media }) => media);
    this.#waiting.splice(oldest, 1);
    this.#waitingMedia -= 1;
    this.#droppedMedia += 1;
  }

  #tellDegraded(): void {
    const percent = HIGH_WATER_PERCENT.find(
      (mark) => this.#waitingMedia * 100 >= mark * this.#maxMedia,
    );
    if (percent === undefined || percent <= this.#toldPercent) return;
    this.#toldPercent = percent;
    this.#events.degraded(percent);
  }
}
