/** Passes the audio of one call to the service shortly before its playback: the service queues only about a minute. */
import type { Clock } from '../base/clock.ts';
import type { Json } from './model/json-socket.ts';
import type { ModelAudio } from './model/model.ts';

/** Audio that the service may queue, in ms: far less than its limit, and enough to survive a busy moment. */
const AHEAD_MS = 10_000;
/** Maximum base64 characters of the audio that all calls of the process hold. */
const MAX_HELD_CHARS = 256 * 1024 * 1024;
/** Base64 characters of 3 s of 16-bit audio, per Hz: whole samples and whole base64 groups. */
const PIECE_PER_HZ = 8;
const PIECE_MS = 3000;

/** Held characters of all calls. */
const held = { chars: 0 };

interface Waiting {
  readonly message: Json;
  readonly chars: number;
  readonly ms: number;
}

export class Pacing {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'at'>;
  readonly #send: (message: Json) => void;
  #waiting: Waiting[] = [];
  /** Message behind all audio. */
  #last: Json | undefined;
  /** Estimated end of the playback of the passed audio (monotonic ms). */
  #endMs = 0;
  #cancel: () => void = () => undefined;

  constructor(clock: Pick<Clock, 'monotonicMs' | 'at'>, send: (message: Json) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Adds audio behind `before`. Returns false if the process holds too much audio. */
  audio({ payload, rate }: ModelAudio, before: readonly Json[]): boolean {
    if (held.chars + payload.length > MAX_HELD_CHARS) return false;
    for (const message of before) this.#add({ message, chars: 0, ms: 0 });
    const size = rate * PIECE_PER_HZ;
    for (let at = 0; at < payload.length; at += size) {
      const piece = payload.slice(at, at + size);
      const media = { contentType: 'audio/x-l16', sampleRate: rate, payload: piece };
      this.#add({
        message: { event: 'playAudio', media },
        chars: piece.length,
        ms: (piece.length / size) * PIECE_MS,
      });
    }
    this.#pass();
    return true;
  }

  /** Discards the audio that was not passed. */
  clear(): void {
    for (const { chars } of this.#waiting.splice(0)) held.chars -= chars;
    this.#endMs = 0;
    this.#pass();
  }

  /** Sends `message` behind all audio. */
  finish(message: Json): void {
    this.#last = message;
    this.#pass();
  }

  close(): void {
    this.#last = undefined;
    this.clear();
  }

  #add(one: Waiting): void {
    held.chars += one.chars;
    this.#waiting.push(one);
  }

  #pass(): void {
    this.#cancel();
    const nowMs = this.#clock.monotonicMs();
    for (;;) {
      const leftMs = this.#endMs - nowMs;
      const [next] = this.#waiting;
      if (next === undefined) break;
      if (leftMs >= AHEAD_MS) {
        const wakeMs = nowMs + leftMs - AHEAD_MS + 1;
        this.#cancel = this.#clock.at(wakeMs, () => this.#pass());
        return;
      }
      this.#waiting.shift();
      held.chars -= next.chars;
      this.#endMs = Math.max(this.#endMs, nowMs) + next.ms;
      this.#send(next.message);
    }
    const last = this.#last;
    this.#last = undefined;
    if (last !== undefined) this.#send(last);
  }
}
