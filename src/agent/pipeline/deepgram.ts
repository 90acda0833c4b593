/** Deepgram: `/v1/listen` for the Nova models, `/v2/listen` for the Flux models, which detect the end of a turn. */
import type { RecognizerSettings } from '../agent-file.ts';
import { type Json, JsonSocket, list, part, textOf } from '../model/json-socket.ts';
import {
  type Connection,
  MAX_TURN,
  type Recognizer,
  type RecognizerEvents,
} from './recognition.ts';

const ORIGIN = 'wss://api.deepgram.com';
const DEFAULT_MODEL = 'nova-3';
const RATE_HZ = 16_000;
/** Silence that ends a turn if the recognizer reports only final parts, in ms. */
const END_OF_TURN_MS = 300;
const UTTERANCE_END_MS = 1000;
/** Time without audio, as during a transfer, after which the vendor is kept from closing the connection (10 s). */
const IDLE_MS = 4000;
/** Flux has no message for that and ends no turn without audio, so that it receives silence. */
const FLUX_IDLE_MS = 500;
const SILENCE = Buffer.alloc((RATE_HZ / 1000) * FLUX_IDLE_MS * 2);

export class Deepgram implements Recognizer {
  readonly #socket: JsonSocket;
  readonly #events: RecognizerEvents;
  readonly #clock: Connection['clock'];
  readonly #isFlux: boolean;
  #words = '';
  #heardMs = 0;
  #cancelIdle: () => void = () => undefined;

  constructor(settings: RecognizerSettings, connection: Connection, events: RecognizerEvents) {
    const { apiKey, model = DEFAULT_MODEL } = settings;
    this.#events = events;
    this.#clock = connection.clock;
    this.#isFlux = model.startsWith('flux');
    const url = new URL(settings.url ?? `${ORIGIN}/${this.#isFlux ? 'v2' : 'v1'}/listen`);
    const parameters = this.#isFlux ? fluxParameters(settings) : novaParameters(settings);
    for (const [name, value] of Object.entries({ model, ...parameters }))
      url.searchParams.set(name, value);
    this.#socket = new JsonSocket(
      {
        url: url.href,
        headers: { ...(apiKey && { Authorization: `Token ${apiKey}` }) },
        ...connection,
      },
      {
        opened: () => {
          events.ready();
          this.#watchIdle();
        },
        message: (message) => this.#read(message),
        malformed: (why) => events.warning(`recognizer: ${why}`),
        lost: (cause) => this.#fail(`the recognizer ${cause}`),
      },
    );
  }

  hear(pcm: Buffer): void {
    this.#heardMs = this.#clock.monotonicMs();
    this.#socket.sendBytes(pcm);
  }

  close(): void {
    this.#cancelIdle();
    this.#socket.send({ type: 'CloseStream' });
    this.#socket.close();
  }

  #fail(cause: string): void {
    this.#cancelIdle();
    this.#events.failed(cause);
  }

  #watchIdle(): void {
    const idleMs = this.#isFlux ? FLUX_IDLE_MS : IDLE_MS;
    this.#heardMs = Math.max(this.#heardMs, this.#clock.monotonicMs() - idleMs);
    this.#cancelIdle = this.#clock.at(this.#heardMs + idleMs, () => {
      if (this.#clock.monotonicMs() - this.#heardMs >= idleMs) {
        this.#heardMs = this.#clock.monotonicMs();
        if (this.#isFlux) this.#socket.sendBytes(SILENCE);
        else this.#socket.send({ type: 'KeepAlive' });
      }
      this.#watchIdle();
    });
  }

  #read(message: Json): void {
    switch (message['type']) {
      case 'SpeechStarted':
        this.#events.began();
        break;
      case 'Results':
        this.#results(message);
        break;
      case 'UtteranceEnd':
        this.#turn();
        break;
      case 'TurnInfo':
        this.#turnInfo(message);
        break;
      case 'Error': {
        const { code, description } = message;
        const why = [textOf(code), textOf(description)].filter((one) => one !== '').join(': ');
        this.#fail(`the recognizer reported: ${why.slice(0, 200) || 'an error'}`);
        break;
      }
      default:
        if (typeof message['type'] !== 'string')
          this.#events.warning('recognizer: an event has no type');
    }
  }

  #results(message: Json): void {
    const [best] = list(part(message, 'channel')['alternatives']);
    if (best === undefined || typeof best['transcript'] !== 'string') {
      this.#events.warning('recognizer: a result has no transcript');
      return;
    }
    const words = best['transcript'].trim();
    if (words !== '') this.#events.began();
    if (message['is_final'] !== true) return;
    this.#words = `${this.#words} ${words}`.trim().slice(0, MAX_TURN);
    // The vendor reports no end of a turn for sounds without words.
    if (message['speech_final'] === true || this.#words === '') this.#turn();
  }

  /** Each event contains all words of its turn. */
  #turnInfo({ event, transcript }: Json): void {
    if (typeof event !== 'string' || typeof transcript !== 'string') {
      this.#events.warning('recognizer: a turn has no transcript');
      return;
    }
    if (event === 'StartOfTurn' || transcript.trim() !== '') this.#events.began();
    if (event !== 'EndOfTurn') return;
    this.#words = transcript.trim().slice(0, MAX_TURN);
    this.#turn();
  }

  #turn(): void {
    const words = this.#words;
    this.#words = '';
    if (words === '') this.#events.silent();
    else this.#events.turn(words);
  }
}

const FORMAT = { encoding: 'linear16', sample_rate: String(RATE_HZ) };

const novaParameters = ({ language }: RecognizerSettings): Record<string, string> => ({
  ...FORMAT,
  channels: '1',
  language,
  interim_results: 'true',
  smart_format: 'true',
  vad_events: 'true',
  endpointing: String(END_OF_TURN_MS),
  utterance_end_ms: String(UTTERANCE_END_MS),
});

const fluxParameters = ({ model = '', language }: RecognizerSettings): Record<string, string> => ({
  ...FORMAT,
  // Only the multilingual model accepts a hint.
  ...(model.includes('multi') && { language_hint: language }),
});
