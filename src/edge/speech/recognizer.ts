/** Entry point: speech recognition by an operator's server or by pocketsphinx. */
import { randomUUID } from 'node:crypto';
import { asStreamId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Result } from '../../base/result.ts';
import type {
  AudioProblem,
  Listening,
  ListenOptions,
  MediaLeg,
  MediaStream,
  Pcm,
  RecognitionRequest,
  Recognizer,
} from '../../domain/call/needs.ts';
import { readMediaMessage } from '../../protocol/audio-stream/audio-stream.ts';
import { processRunner, type RunProcess } from './process.ts';
import {
  problem,
  RATE,
  type Recognised,
  type RecognitionEngine,
  type RecognitionSession,
} from './recognition/engine.ts';
import { openAiRecogniser } from './recognition/openai.ts';
import { findPocketSphinx, INSTALL_POCKETSPHINX } from './recognition/pocketsphinx.ts';
import { withoutProfanity } from './recognition/profanity.ts';
import { FRAME_MS, VoiceActivity } from './recognition/voice-activity.ts';
import { voskRecogniser } from './recognition/vosk.ts';

export interface RecognizerOptions {
  /** Recognition engine. `auto` selects the first configured one of websocket, http and pocketsphinx. */
  readonly engine: 'auto' | 'websocket' | 'http' | 'pocketsphinx' | 'none';
  /** Base URL of an OpenAI-compatible server; empty for none. */
  readonly httpUrl: string;
  readonly httpModel: string;
  /** URL of a server with the vosk-server protocol; empty for none. */
  readonly webSocketUrl: string;
  /** Bearer token for either server; empty for none. */
  readonly apiKey: string;
  readonly timeLimitMs: number;
  /** Maximum number of calls with simultaneous recognition. */
  readonly maxListening: number;
  /** Decodes a complete WAV or MP3 file to mono PCM at 16 kHz. */
  readonly decode: (file: Uint8Array) => Promise<Result<Pcm, AudioProblem>>;
  readonly logger: Logger;
  /** Function that runs programs; replaced in tests. */
  readonly run?: RunProcess | undefined;
}

export interface RecognizerService extends Recognizer {
  /** Name of the engine in use, or undefined if recognition is unavailable. */
  readonly engine: string | undefined;
  /** Number of calls with active recognition. */
  readonly listening: number;
}

const MAX_OUTPUT_BYTES = 1024 * 1024;
const FRAME_BYTES = (RATE * 2 * FRAME_MS) / 1000;
/** Frames before the detected start of speech that are included, because words start quietly. */
const BEFORE_FRAMES = 20;
/** Bytes of a file passed to the recognizer at a time: one second. */
const FILE_PIECE = RATE * 2;

export async function createRecognizer(options: RecognizerOptions): Promise<RecognizerService> {
  const engine = await chosen(options);
  const wanted = options.engine === 'auto' || options.engine === 'none';
  if (engine === undefined && !wanted) {
    options.logger.warn({ engine: options.engine }, unusable(options.engine));
  }
  return new Listener(engine, options);
}

/** Explains why no recognizer is available, and how to install one. The settings require the URL of the other engines. */
function unusable(engine: RecognizerOptions['engine']): string {
  if (engine === 'none') return 'no speech recognizer: recognition.engine is none';
  const url = 'set recognition.httpUrl or recognition.webSocketUrl, or ';
  return `no speech recognizer: ${engine === 'auto' ? url : ''}${INSTALL_POCKETSPHINX}`;
}

async function chosen(options: RecognizerOptions): Promise<RecognitionEngine | undefined> {
  const { engine, httpUrl, httpModel, webSocketUrl, apiKey, timeLimitMs } = options;
  const may = (name: string): boolean => engine === 'auto' || engine === name;
  if (may('websocket') && webSocketUrl !== '') {
    return voskRecogniser({ url: webSocketUrl, apiKey, timeLimitMs });
  }
  if (may('http') && httpUrl !== '') {
    return openAiRecogniser({ url: httpUrl, apiKey, model: httpModel, timeLimitMs });
  }
  if (!may('pocketsphinx')) return undefined;
  return findPocketSphinx(
    options.run ?? processRunner({ timeLimitMs, maxOutputBytes: MAX_OUTPUT_BYTES }),
  );
}

class Listener implements RecognizerService {
  readonly engine: string | undefined;
  readonly #engine: RecognitionEngine | undefined;
  readonly #options: RecognizerOptions;
  #listening = 0;

  constructor(engine: RecognitionEngine | undefined, options: RecognizerOptions) {
    this.engine = engine?.name;
    this.#engine = engine;
    this.#options = options;
  }

  get listening(): number {
    return this.#listening;
  }

  listen(leg: Pick<MediaLeg, 'openStream'>, options: ListenOptions): Listening {
    const engine = this.#for(options.language);
    if (!engine.ok) return { received: Promise.resolve(engine), stop: () => undefined };
    if (this.#listening >= this.#options.maxListening) {
      const busy = problem('busy', 'too many calls use speech recognition');
      return { received: Promise.resolve(busy), stop: () => undefined };
    }
    this.#listening += 1;
    const listener = new KeyListener(leg, engine.value, options);
    const received = listener.received.then((outcome) => {
      this.#listening -= 1;
      return this.#judged(outcome, options);
    });
    return { received, stop: () => listener.stop() };
  }

  async transcribe(file: Uint8Array, request: RecognitionRequest): Promise<Recognised> {
    const engine = this.#for(request.language);
    if (!engine.ok) return engine;
    const decoded = await this.#options.decode(file);
    if (!decoded.ok) {
      const kind = decoded.error.kind === 'busy' ? 'busy' : 'failed';
      return problem(kind, `the recording cannot be decoded: ${decoded.error.detail}`);
    }
    const session = engine.value.open(request, undefined);
    const { samples } = decoded.value;
    for (let at = 0; at < samples.length; at += FILE_PIECE) {
      await session.recorded(samples.subarray(at, at + FILE_PIECE));
    }
    return this.#judged(await session.finish(), request);
  }

  #for(language: string): Result<RecognitionEngine, { kind: 'unavailable'; detail: string }> {
    const unavailable = (detail: string) =>
      ({ ok: false, error: { kind: 'unavailable', detail } }) as const;
    if (this.#engine === undefined) return unavailable(unusable(this.#options.engine));
    if (!this.#engine.understands(language)) {
      return unavailable(`${this.#engine.name} does not support ${language}`);
    }
    return { ok: true, value: this.#engine };
  }

  #judged(outcome: Recognised, { profanityFilter }: RecognitionRequest): Recognised {
    if (!outcome.ok) {
      const { kind, detail } = outcome.error;
      if (kind === 'failed') this.#options.logger.warn({ detail }, 'speech recognition failed');
      return outcome;
    }
    if (!profanityFilter) return outcome;
    const { value } = outcome;
    return { ok: true, value: { ...value, text: withoutProfanity(value.text) } };
  }
}

/** Listens to one leg until its peer has finished an utterance. */
class KeyListener {
  readonly received: Promise<Recognised>;
  readonly #resolve: (outcome: Recognised) => void;
  readonly #engine: RecognitionEngine;
  readonly #options: ListenOptions;
  readonly #voice = new VoiceActivity();
  readonly #stream: MediaStream;
  /** The last frames before speech starts. */
  #before: Uint8Array[] = [];
  #session: RecognitionSession | undefined;
  #spokenMs = 0;
  #isOver = false;

  constructor(
    leg: Pick<MediaLeg, 'openStream'>,
    engine: RecognitionEngine,
    options: ListenOptions,
  ) {
    const { promise, resolve } = Promise.withResolvers<Recognised>();
    this.received = promise;
    this.#resolve = resolve;
    this.#engine = engine;
    this.#options = options;
    this.#stream = leg.openStream(
      {
        streamId: asStreamId(randomUUID()),
        encoding: 'audio/x-l16',
        rate: RATE,
        tracks: 'inbound',
        bidirectional: false,
        extraHeadersJson: '"{}"',
        queueMs: 1000,
      },
      {
        media: (messages) => {
          for (const message of messages) this.#hear(readMediaMessage(message).payload);
        },
        played: () => undefined,
        degraded: () => undefined,
        dtmf: () => undefined,
      },
    );
  }

  stop(): void {
    if (this.#isOver) return;
    this.#close();
    this.#session?.abort();
    this.#resolve(problem('aborted', 'no longer wanted'));
  }

  #hear(frame: Uint8Array): void {
    if (this.#isOver || frame.length !== FRAME_BYTES) return;
    const samples = new Int16Array(frame.buffer, frame.byteOffset, frame.length / 2);
    this.#voice.hear(samples);
    if (this.#session === undefined) this.#before.push(frame);
    else this.#session.audio(frame);
    if (this.#session === undefined && this.#voice.hasSpoken) this.#begin();
    if (this.#session === undefined) {
      if (this.#before.length > BEFORE_FRAMES) this.#before.shift();
      return;
    }
    this.#spokenMs += FRAME_MS;
    const { endSilenceMs, maxMs } = this.#options;
    if (this.#voice.silentMs < endSilenceMs && this.#spokenMs < maxMs) return;
    this.#close();
    void this.#session.finish().then(this.#resolve);
  }

  #begin(): void {
    this.#session = this.#engine.open(this.#options, this.#options.interim);
    this.#session.audio(Buffer.concat(this.#before));
    this.#before = [];
    this.#options.speaking();
  }

  #close(): void {
    this.#isOver = true;
    this.#stream.close();
  }
}
