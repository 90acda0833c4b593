/** Passes the audio of one call to the service shortly before its playback: the service queues only about a minute. */
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

/** Audio with its duration, or a checkpoint with its name. */
interface Passed {
  readonly ms: number;
  readonly checkpoint: string | undefined;
}

interface Waiting extends Passed {
  readonly message: Json;
  readonly chars: number;
}

/** Names of the checkpoints before and after a piece of audio. */
export interface Checkpoints {
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Splits audio into pieces of at most 3 s. */
export function* piecesOf(audio: ModelAudio): Generator<ModelAudio> {
  const size = audio.rate * PIECE_PER_HZ;
  for (let at = 0; at < audio.payload.length; at += size)
    yield { ...audio, payload: audio.payload.slice(at, at + size) };
}

/**
 * The service reports each checkpoint that playback has reached. While the caller has put the call on hold, playback
 * pauses and no further audio is passed.
 */
export class Pacing {
  readonly #send: (message: Json) => void;
  #waiting: Waiting[] = [];
  /** Passed audio that may not have been played, and its checkpoints. */
  #passed: Passed[] = [];
  /** Message behind all audio. */
  #last: Json | undefined;

  constructor(send: (message: Json) => void) {
    this.#send = send;
  }

  /** Adds a piece of audio. Returns false if the process holds too much audio. */
  audio({ payload, rate }: ModelAudio, { before, after }: Checkpoints): boolean {
    if (held.chars + payload.length > MAX_HELD_CHARS) return false;
    this.#addCheckpoint(before);
    held.chars += payload.length;
    const media = { contentType: 'audio/x-l16', sampleRate: rate, payload };
    this.#waiting.push({
      message: { event: 'playAudio', media },
      chars: payload.length,
      ms: (payload.length / (rate * PIECE_PER_HZ)) * PIECE_MS,
      checkpoint: undefined,
    });
    this.#addCheckpoint(after);
    this.#pass();
    return true;
  }

  /** Playback has reached a checkpoint. */
  reached(name: string): void {
    const at = this.#passed.findIndex(({ checkpoint }) => checkpoint === name);
    this.#passed.splice(0, at + 1);
    this.#pass();
  }

  /** Discards the audio that was not passed. The service no longer plays the passed audio. */
  clear(): void {
    for (const { chars } of this.#waiting.splice(0)) held.chars -= chars;
    this.#passed = [];
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

  #addCheckpoint(name: string | undefined): void {
    if (name === undefined) return;
    const message = { event: 'checkpoint', name };
    this.#waiting.push({ message, chars: 0, ms: 0, checkpoint: name });
  }

  #pass(): void {
    let aheadMs = this.#passed.reduce((sum, { ms }) => sum + ms, 0);
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined) break;
      const { ms, checkpoint, chars, message } = next;
      if (aheadMs >= AHEAD_MS && ms > 0) return;
      this.#waiting.shift();
      held.chars -= chars;
      this.#passed.push({ ms, checkpoint });
      aheadMs += ms;
      this.#send(message);
    }
    const last = this.#last;
    this.#last = undefined;
    if (last !== undefined) this.#send(last);
  }
}
