import type { Logger } from '../../base/logger.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type {
  LineRate,
  Pcm,
  SoundOptions,
  SpeechProblem,
  SpeechRequest,
} from '../../domain/call/needs.ts';
import type { HttpVoice } from './http-voice.ts';
import type { SpeechService } from './speech-service.ts';
import { flattenSsml } from './ssml.ts';
import { chunksOf } from './text-chunks.ts';

/** Time for which a failed server is not used, ms. */
const REST_MS = 30_000;
const SILENCE_RATE = 8000;

type Spoken = Result<Pcm, SpeechProblem>;
type Part =
  | { readonly kind: 'silence'; readonly ms: number }
  | { readonly kind: 'text'; readonly text: string };

/** Uses the operator's speech server, and local engines from the point at which the server fails. */
export class PreferredVoice implements SpeechService {
  readonly engines: readonly string[];
  readonly #voice: HttpVoice;
  readonly #local: SpeechService;
  readonly #maxChars: number;
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  #restsUntilMs = Number.NEGATIVE_INFINITY;

  constructor(
    voice: HttpVoice,
    local: SpeechService,
    options: { readonly maxChars: number; readonly logger: Logger; readonly nowMs: () => number },
  ) {
    this.engines = ['http', ...local.engines];
    this.#voice = voice;
    this.#local = local;
    this.#maxChars = options.maxChars;
    this.#logger = options.logger;
    this.#nowMs = options.nowMs;
  }

  warm(): Promise<void> {
    return this.#local.warm();
  }

  async *speak(request: SpeechRequest, preference: SoundOptions = {}): AsyncIterable<Spoken> {
    const { text, ssml, voice, language } = request;
    if (text.length > this.#maxChars || (ssml?.length ?? 0) > this.#maxChars) {
      yield* this.#local.speak(request, preference);
      return;
    }
    const parts = partsOf(request);
    for (const [index, part] of parts.entries()) {
      if (preference.signal?.aborted === true) {
        yield err({ kind: 'aborted', detail: 'no longer wanted' });
        return;
      }
      if (part.kind === 'silence') {
        yield ok({ rate: SILENCE_RATE, samples: silence(part.ms) });
        continue;
      }
      const fault = yield* this.#say(part.text, voice, preference.rate ?? SILENCE_RATE);
      if (fault === undefined) continue;
      // A partly played part is not repeated.
      const rest = parts.slice(fault.received ? index + 1 : index);
      yield* this.#local.speak(
        // If no audio was played, the local engine gets the original request with its markup.
        index === 0 && !fault.received
          ? request
          : { text: wordsOf(rest), ssml: undefined, voice, language },
        preference,
      );
      return;
    }
  }

  async *#say(
    text: string,
    voice: string,
    rate: LineRate,
  ): AsyncGenerator<Spoken, { readonly received: boolean } | undefined> {
    if (this.#nowMs() < this.#restsUntilMs) return { received: false };
    let received = false;
    for await (const spoken of this.#voice.say(text, voice, rate)) {
      if (!spoken.ok) {
        const { detail, isOfRequest } = spoken.error;
        if (!isOfRequest) this.#restsUntilMs = this.#nowMs() + REST_MS;
        this.#logger.warn({ why: detail }, 'speech server failed; using the local voice');
        return { received };
      }
      received = true;
      yield ok(spoken.value);
    }
    return undefined;
  }
}

function partsOf({ text, ssml, language }: SpeechRequest): readonly Part[] {
  const parts = ssml === undefined ? [{ kind: 'text' as const, text }] : flattenSsml(ssml);
  return parts.flatMap((part): Part[] =>
    part.kind === 'silence'
      ? [part]
      : chunksOf(part.text, language).map((piece) => ({ kind: 'text', text: piece })),
  );
}

const wordsOf = (parts: readonly Part[]): string =>
  parts.map((part) => (part.kind === 'text' ? part.text : ',')).join(' ');

const silence = (ms: number): Uint8Array =>
  new Uint8Array(Math.round((ms * SILENCE_RATE) / 1000) * 2);
