/** A server of the operator's that speaks OpenAI's `POST /v1/audio/speech`: heard while it is still speaking, kept once it is done. */
import { hashHex } from '../../base/hash.ts';
import type { Logger } from '../../base/logger.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { LineRate, Pcm } from '../../domain/call/needs.ts';
import { amplified, gainOf } from './loudness.ts';
import type { SpeechCache } from './speech-cache.ts';
import { genderOf } from './voices.ts';
import { WavStream } from './wav-stream.ts';

export interface HttpVoiceOptions {
  /** Base with its version. */
  readonly url: string;
  /** Bearer token; '' = none. */
  readonly apiKey: string;
  readonly model: string;
  /** `WOMAN=nova`. */
  readonly voices: readonly string[];
  /** Until the first audio. */
  readonly timeLimitMs: number;
  readonly cache: SpeechCache;
  readonly logger: Logger;
}

const MAX_BYTES = 32 * 1024 * 1024;
const WHOLE_LIMIT_MS = 120_000;
const MAX_AT_ONCE = 32;
/** What is heard at a time has at least so much, and ends in a pause where there is one. */
const LEAST_S = 0.6;
const MOST_S = 4;
const PAUSE_S = 0.06;
/** Mean amplitude of a pause, about -46 dBFS. */
const PAUSE_LEVEL = 160;

export class HttpVoice {
  readonly #options: HttpVoiceOptions;
  readonly #voices: ReadonlyMap<string, string>;
  #running = 0;

  constructor(options: HttpVoiceOptions) {
    this.#options = options;
    this.#voices = new Map(
      options.voices.map((pair) => {
        const [name = '', voice = ''] = pair.split('=');
        return [name.trim().toUpperCase(), voice.trim()];
      }),
    );
  }

  /** The speech in parts; after a fault nothing follows. Never throws. */
  async *say(text: string, voice: string, rate: LineRate): AsyncGenerator<Result<Pcm, string>> {
    const { url, model, cache, logger } = this.#options;
    const name = this.#voiceOf(voice);
    const key = hashHex('sha256', JSON.stringify(['http', url, model, name, text, rate]));
    const known = await cache.get(key);
    if (known !== undefined) {
      yield ok({ rate, samples: known });
      return;
    }
    if (this.#running >= MAX_AT_ONCE) {
      yield err('too much is being spoken');
      return;
    }
    this.#running += 1;
    const parts: Uint8Array[] = [];
    try {
      for await (const samples of this.#parts(text, name, rate)) {
        parts.push(samples);
        yield ok({ rate, samples });
      }
      await cache
        .put(key, Buffer.concat(parts))
        .catch((error: unknown) => logger.warn({ error }, 'speech could not be cached'));
    } catch (error) {
      yield err(error instanceof SpeechFault ? error.message : reasonOf(error));
    } finally {
      this.#running -= 1;
    }
  }

  /** At one level throughout: that of its beginning. */
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
    if (waiting.length === 0 && gain === undefined) throw new SpeechFault('it sent no audio');
    if (waiting.length > 0) yield take(waiting.length);
  }

  async *#samples(text: string, voice: string, rate: LineRate): AsyncGenerator<Uint8Array> {
    const { url, apiKey, model, timeLimitMs } = this.#options;
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(new SpeechFault('it took too long')), timeLimitMs);
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
        throw new SpeechFault(`it answered ${reply.status}`);
      }
      const wav = new WavStream(rate);
      let bytes = 0;
      for await (const part of reply.body ?? []) {
        bytes += part.length;
        if (bytes > MAX_BYTES) throw new SpeechFault('it sent too much');
        const samples = wav.push(part);
        if (!samples.ok) throw new SpeechFault(`it did not send WAV: ${samples.error}`);
        if (samples.value.length === 0) continue;
        clearTimeout(timer);
        yield samples.value;
      }
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

class SpeechFault extends Error {}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  const cause = error.cause;
  return cause instanceof Error && 'code' in cause
    ? `no connection (${String(cause.code)})`
    : error.name;
}

/** Where what waits may be cut: after its last pause, or at its end when it is long enough. 0: not yet. */
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
