/** Streaming recognizers of a pipeline: Deepgram, vosk-server, and OpenAI's transcription endpoint per utterance. */
import type { Result } from '../../base/result.ts';
import type { RecognizerSettings } from '../agent-file.ts';
import { JsonSocket, textOf } from '../model/json-socket.ts';
import type { AgentNetwork } from '../network.ts';
import { Deepgram } from './deepgram.ts';
import {
  type Connection,
  MAX_TURN,
  type Recognizer,
  type RecognizerEvents,
} from './recognition.ts';
import { SpeechGate } from './speech-gate.ts';
import { transcribe } from './transcribe.ts';

const RATE_HZ = 16_000;

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
      return new PerUtterance(settings, connection, events);
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
          if (typeof text !== 'string') return;
          const words = text.trim();
          if (words === '') events.silent();
          else events.turn(words.slice(0, MAX_TURN));
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
  readonly #network: AgentNetwork;
  readonly #events: RecognizerEvents;
  readonly #gate: SpeechGate;
  readonly #over = new AbortController();
  #isReady = false;
  #failures = 0;
  /** Reports the utterances in their order, although a short one may be transcribed before a longer one. */
  #reported: Promise<void> = Promise.resolve();

  constructor(settings: RecognizerSettings, { network }: Connection, events: RecognizerEvents) {
    this.#settings = settings;
    this.#network = network;
    this.#events = events;
    this.#gate = new SpeechGate({
      began: () => events.began(),
      ended: (pcm) => this.#transcribe(pcm),
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

  #transcribe(pcm: Buffer): void {
    const result = transcribe(this.#settings, pcm, {
      network: this.#network,
      signal: this.#over.signal,
    });
    this.#reported = this.#reported.then(async () => this.#report(await result));
  }

  #report(result: Result<string, string>): void {
    if (this.#over.signal.aborted) return;
    if (result.ok) {
      this.#failures = 0;
      if (result.value === '') this.#events.silent();
      else this.#events.turn(result.value.slice(0, MAX_TURN));
      return;
    }
    this.#events.silent();
    this.#failures += 1;
    if (this.#failures >= 2) this.#events.failed(result.error);
    else this.#events.warning(result.error);
  }
}
