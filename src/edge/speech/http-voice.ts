/**
 * Speech synthesis by a server with OpenAI's `POST /v1/audio/speech`. Plays audio while it arrives, and caches the
 * complete audio.
 */

import { hashHex } from '../../base/hash.ts';
import type { Logger } from '../../base/logger.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { Semaphore } from '../../base/semaphore.ts';
import type { LineRate, Pcm } from '../../domain/call/needs.ts';
import { amplified, gainOf } from './loudness.ts';
import { SharedParts } from './shared-parts.ts';
import type { SpeechCache } from './speech-cache.ts';
import { genderOf } from './voices.ts';
import { WavStream } from './wav-stream.ts';

export interface HttpVoiceOptions {
  /** Base URL including the API version. */
  readonly url: string;
  /** Bearer token; empty for none. */
  readonly apiKey: string;
  readonly model: string;
  /** Voice mappings such as `WOMAN=nova`. */
  readonly voices: readonly string[];
  /** Time limit for the first audio, ms. */
  readonly timeLimitMs: number;
  readonly cache: SpeechCache;
  readonly logger: Logger;
}

const MAX_BYTES = 32 * 1024 * 1024;
const WHOLE_LIMIT_MS = 120_000;
const MAX_AT_ONCE = 32;
/** Minimum length of a part, seconds. A part ends in a pause if it has one. */
const LEAST_S = 0.6;
const MOST_S = 4;
const PAUSE_S = 0.06;
/** Mean amplitude of a pause, about -46 dBFS. */
const PAUSE_LEVEL = 160;

/** Statuses of a server that refuses a text or a voice, for example a name that it does not know. */
const OF_REQUEST: ReadonlySet<number> = new Set([400, 413, 422]);

export interface VoiceFault {
  readonly detail: string;
  /** True if other requests may succeed at the same time. */
  readonly isOfRequest: boolean;
}

export class HttpVoice {
  readonly #options: HttpVoiceOptions;
  readonly #voices: ReadonlyMap<string, string>;
  readonly #requests = new Semaphore({ slots: MAX_AT_ONCE, maxWaiting: 0 });
  /** Speech that is being received, by key. Callers that hear the same text share it. */
  readonly #making = new Map<string, SharedParts<Result<Pcm, VoiceFault>>>();

  constructor(options: HttpVoiceOptions) {
    this.#options = options;
    this.#voices = new Map(
      options.voices.map((pair) => {
        const [name = '', voice = ''] = pair.split('=');
        return [name.trim().toUpperCase(), voice.trim()];
      }),
    );
  }

  /** Yields the speech in parts. An error ends the sequence. Never throws. */
  async *say(text: string, voice: string, rate: LineRate): AsyncGenerator<Result<Pcm, VoiceFault>> {
    const { url, model, cache } = this.#options;
    const name = this.#voiceOf(voice);
    const key = hashHex('sha256', JSON.stringify(['http', url, model, name, text, rate]));
    const known = await cache.get(key);
    if (known !== undefined) {
      yield ok({ rate, samples: known });
      return;
    }
    const running = this.#making.get(key);
    const making = running ?? new SharedParts(this.#make(key, text, name, rate));
    if (running === undefined) {
      this.#making.set(key, making);
      const forget = (): void => {
        if (this.#making.get(key) === making) this.#making.delete(key);
      };
      void making.over.then(forget);
    }
    yield* making.read();
  }

  async *#make(
    key: string,
    text: string,
    name: string,
    rate: LineRate,
  ): AsyncGenerator<Result<Pcm, VoiceFault>> {
    const { cache, logger } = this.#options;
    const release = this.#requests.tryAcquire();
    if (release === undefined) {
      yield err({ detail: 'too many speech requests are running', isOfRequest: true });
      return;
    }
    const parts: Uint8Array[] = [];
    try {
      for await (const samples of this.#parts(text, name, rate)) {
        parts.push(samples);
        yield ok({ rate, samples });
      }
      await cache
        .put(key, Buffer.concat(parts))
        .catch((error: unknown) => logger.warn({ error }, 'could not cache speech'));
    } catch (error) {
      const isOfRequest = error instanceof SpeechFault && error.isOfRequest;
      yield err({
        detail: error instanceof SpeechFault ? error.message : reasonOf(error),
        isOfRequest,
      });
    } finally {
      release();
    }
  }

  /** Applies one gain to the whole speech, computed from its beginning. */
  async *#parts(text: string, voice: string, rate: LineRate): AsyncGenerator<Uint8Array> {
    let gain: number | undefined;
    let waiting: Buffer = Buffer.alloc(0);
    const take = (length: number): Uint8Array => {
      const part = new Uint8Array(waiting.subarray(0, length));
      waiting = waiting.subarray(length);
      gain ??= gainOf(part, rate);
      return amplified(part, gain);
    };
    for await (const samples of this.#samples(text, voice, rate)) {
      waiting = Buffer.concat([waiting, samples]);
      const end = partEnd(waiting, rate);
      if (end > 0) yield take(end);
    }
    // The text has no words, for example "...".
    if (waiting.length === 0 && gain === undefined)
      throw new SpeechFault('the server sent an empty WAV file', true);
    if (waiting.length > 0) yield take(waiting.length);
  }

  async *#samples(text: string, voice: string, rate: LineRate): AsyncGenerator<Uint8Array> {
    const { url, apiKey, model, timeLimitMs } = this.#options;
    const over = new AbortController();
    const timer = setTimeout(
      () => over.abort(new SpeechFault('the server took too long')),
      timeLimitMs,
    );
    try {
      const reply = await fetch(`${url.replace(/\/+$/, '')}/audio/speech`, {
        method: 'POST',
        redirect: 'error',
        headers: {
          'content-type': 'application/json',
          ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify({ model, input: text, voice, response_format: 'wav' }),
        signal: AbortSignal.any([over.signal, AbortSignal.timeout(WHOLE_LIMIT_MS)]),
      });
      if (!reply.ok) {
        await reply.body?.cancel();
        throw new SpeechFault(`it answered ${reply.status}`, OF_REQUEST.has(reply.status));
      }
      const wav = new WavStream(rate);
      let bytes = 0;
      for await (const part of reply.body ?? []) {
        bytes += part.length;
        if (bytes > MAX_BYTES) throw new SpeechFault('the server sent too much audio');
        const samples = wav.push(part);
        if (!samples.ok) throw new SpeechFault(`the server did not send WAV: ${samples.error}`);
        if (samples.value.length === 0) continue;
        clearTimeout(timer);
        yield samples.value;
      }
      if (!wav.hasBegun) throw new SpeechFault('the server sent no audio');
      yield wav.finish();
    } finally {
      clearTimeout(timer);
      over.abort();
    }
  }

  #voiceOf(voice: string): string {
    const named = this.#voices.get(voice.toUpperCase());
    if (named !== undefined) return named;
    if (!/^(Polly\.|WOMAN$|MAN$)/i.test(voice)) return voice;
    const byGender = genderOf(voice) === 'male' ? 'MAN' : 'WOMAN';
    return this.#voices.get(byGender) ?? 'alloy';
  }
}

class SpeechFault extends Error {
  readonly isOfRequest: boolean;
  constructor(message: string, isOfRequest = false) {
    super(message);
    this.isOfRequest = isOfRequest;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  const cause = error.cause;
  return cause instanceof Error && 'code' in cause
    ? `no connection (${String(cause.code)})`
    : error.name;
}

/**
 * Returns where the buffered audio may be cut: after its last pause, or at its end if it is long enough. Returns 0 if it
 * is too short.
 */
function partEnd(waiting: Buffer, rate: number): number {
  const count = waiting.length >> 1;
  const pause = Math.round(PAUSE_S * rate);
  for (let end = count; end - pause >= LEAST_S * rate; end -= pause) {
    let sum = 0;
    for (let i = end - pause; i < end; i += 1) sum += Math.abs(waiting.readInt16LE(i * 2));
    if (sum / pause < PAUSE_LEVEL) return end * 2;
  }
  return count >= MOST_S * rate ? count * 2 : 0;
}
