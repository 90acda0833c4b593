/** Streaming recognizers of a pipeline: Deepgram, vosk-server, and OpenAI's transcription endpoint per utterance. */
import type { RecognizerSettings } from '../agent-file.ts';
import { JsonSocket, type JsonSocketOptions, list, part, textOf } from '../model/json-socket.ts';
import { SpeechGate } from './speech-gate.ts';
import { transcribe } from './transcribe.ts';

export interface RecognizerEvents {
  ready(): void;
  /** The caller began to speak. May repeat within one turn. */
  began(): void;
  /** The caller finished a turn with these words. */
  turn(text: string): void;
  warning(text: string): void;
  failed(cause: string): void;
}

export interface Recognizer {
  /** Processes signed 16-bit little-endian mono samples at 16 kHz. */
  hear(pcm: Buffer): void;
  close(): void;
}

type Connection = Pick<JsonSocketOptions, 'connectMs' | 'clock'>;

const DEEPGRAM_URL = 'wss://api.deepgram.com/v1/listen';
const RATE_HZ = 16_000;
/** Maximum length of the words of one turn. */
const MAX_TURN = 4000;
/** Silence that ends a turn if the recognizer reports only final parts, in ms. */
const END_OF_TURN_MS = 300;
const UTTERANCE_END_MS = 1000;

export function openRecognizer(
  settings: RecognizerSettings,
  connection: Connection,
  events: RecognizerEvents,
): Recognizer {
  switch (settings.type) {
    case 'deepgram':
      return new Deepgram(settings, connection, events);
    case 'websocket':
      return new Vosk(settings, connection, events);
    case 'http':
      return new PerUtterance(settings, events);
  }
}

class Deepgram implements Recognizer {
  readonly #socket: JsonSocket;
  readonly #events: RecognizerEvents;
  #words = '';

  constructor(settings: RecognizerSettings, connection: Connection, events: RecognizerEvents) {
    this.#events = events;
    const url = new URL(settings.url ?? DEEPGRAM_URL);
    const parameters = {
      encoding: 'linear16',
      sample_rate: String(RATE_HZ),
      channels: '1',
      model: settings.model ?? 'nova-3',
      language: settings.language,
      interim_results: 'true',
      smart_format: 'true',
      vad_events: 'true',
      endpointing: String(END_OF_TURN_MS),
      utterance_end_ms: String(UTTERANCE_END_MS),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const { apiKey } = settings;
    this.#socket = new JsonSocket(
      {
        url: url.href,
        headers: { ...(apiKey && { Authorization: `Token ${apiKey}` }) },
        ...connection,
      },
      {
        opened: () => events.ready(),
        message: (message) => this.#read(message),
        malformed: (why) => events.warning(`recognizer: ${why}`),
        lost: (cause) => events.failed(`the recognizer ${cause}`),
      },
    );
  }

  hear(pcm: Buffer): void {
    this.#socket.sendBytes(pcm);
  }

  close(): void {
    this.#socket.send({ type: 'CloseStream' });
    this.#socket.close();
  }

  #read(message: Readonly<Record<string, unknown>>): void {
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
      case 'Error':
        this.#events.failed(
          `the recognizer reported: ${textOf(message['description']).slice(0, 200)}`,
        );
        break;
      default:
    }
  }

  #results(message: Readonly<Record<string, unknown>>): void {
    const [best] = list(part(message, 'channel')['alternatives']);
    if (best === undefined || typeof best['transcript'] !== 'string') {
      this.#events.warning('recognizer: a result has no transcript');
      return;
    }
    const words = best['transcript'].trim();
    if (words !== '') this.#events.began();
    if (message['is_final'] !== true) return;
    this.#words = `${this.#words} ${words}`.trim().slice(0, MAX_TURN);
    if (message['speech_final'] === true) this.#turn();
  }

  #turn(): void {
    const words = this.#words;
    this.#words = '';
    if (words !== '') this.#events.turn(words);
  }
}

/** Client of vosk-server. Its final parts end a turn. */
class Vosk implements Recognizer {
  readonly #socket: JsonSocket;

  constructor(
    { url = '', apiKey }: RecognizerSettings,
    connection: Connection,
    events: RecognizerEvents,
  ) {
    this.#socket = new JsonSocket(
      { url, headers: { ...(apiKey && { Authorization: `Bearer ${apiKey}` }) }, ...connection },
      {
        opened: () => {
          this.#socket.sendFirst({ config: { sample_rate: RATE_HZ } });
          events.ready();
        },
        message: ({ partial, text }) => {
          if (textOf(partial).trim() !== '') events.began();
          const words = textOf(text).trim();
          if (words !== '') events.turn(words.slice(0, MAX_TURN));
        },
        malformed: (why) => events.warning(`recognizer: ${why}`),
        lost: (cause) => events.failed(`the recognizer ${cause}`),
      },
    );
  }

  hear(pcm: Buffer): void {
    this.#socket.sendBytes(pcm);
  }

  close(): void {
    this.#socket.send({ eof: 1 });
    this.#socket.close();
  }
}

/** Detects utterances by energy and sends each to a transcription server. */
class PerUtterance implements Recognizer {
  readonly #settings: RecognizerSettings;
  readonly #events: RecognizerEvents;
  readonly #gate: SpeechGate;
  readonly #over = new AbortController();
  #isReady = false;
  #failures = 0;

  constructor(settings: RecognizerSettings, events: RecognizerEvents) {
    this.#settings = settings;
    this.#events = events;
    this.#gate = new SpeechGate({
      began: () => events.began(),
      ended: (pcm) => void this.#transcribe(pcm),
    });
  }

  hear(pcm: Buffer): void {
    if (!this.#isReady) {
      this.#isReady = true;
      this.#events.ready();
    }
    this.#gate.hear(pcm);
  }

  close(): void {
    this.#over.abort();
  }

  async #transcribe(pcm: Buffer): Promise<void> {
    const result = await transcribe(this.#settings, pcm, this.#over.signal);
    if (this.#over.signal.aborted) return;
    if (result.ok) {
      this.#failures = 0;
      if (result.value !== '') this.#events.turn(result.value.slice(0, MAX_TURN));
      return;
    }
    this.#failures += 1;
    if (this.#failures >= 2) this.#events.failed(result.error);
    else this.#events.warning(result.error);
  }
}
