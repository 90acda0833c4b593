/**
 * Streaming recognition over WebSocket with the vosk-server protocol. The client sends one text message
 * `{"config":{"sample_rate":16000,"words":1,"phrase_list":[…]}}` (the list only with hints), binary messages of 16-bit
 * little-endian mono PCM, and finally `{"eof":1}`. The server sends a text message after each of them: `{"partial":"…"}` while
 * words may change, and `{"text":"…","result":[{"word","conf","start","end"},…]}` for a final part. The last one follows `eof`.
 */
import WebSocket from 'ws';
import { ok } from '../../../base/result.ts';
import type { InterimTranscript, RecognitionRequest } from '../../../domain/call/needs.ts';
import {
  lengthMs,
  problem,
  RATE,
  type Recognised,
  type RecognitionEngine,
  type RecognitionSession,
  reasonOf,
} from './engine.ts';
import { isRecord } from './reply.ts';

export interface VoskOptions {
  /** URL with scheme `ws://` or `wss://`. */
  readonly url: string;
  /** Bearer token of the upgrade request; empty for none. */
  readonly apiKey: string;
  readonly timeLimitMs: number;
}

const MAX_MESSAGE_BYTES = 256 * 1024;
/** Maximum audio that waits for the connection or for a slow server, bytes. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Audio of a recording that is sent ahead, bytes. */
const AHEAD_BYTES = 256 * 1024;
const MAX_PARTS = 1000;
/** Time to wait for the server to close after its final words, ms. */
const LAST_WORDS_MS = 200;
/** Reported stability of partial results: most of their words remain. */
const STABILITY = 0.6;

export const voskRecogniser = (options: VoskOptions): RecognitionEngine => ({
  name: 'websocket',
  understands: () => true,
  open: (request, interim) => new VoskSession(options, request, interim),
});

class VoskSession implements RecognitionSession {
  readonly #socket: WebSocket;
  readonly #interim: ((words: InterimTranscript) => void) | undefined;
  readonly #limitMs: number;
  readonly #words: string[] = [];
  readonly #confidences: number[] = [];
  readonly #done = Promise.withResolvers<Recognised>();
  #waiting: (Uint8Array | string)[] = [];
  #waitingBytes = 0;
  #bytes = 0;
  /** Messages with audio, and responses of the server. */
  #sent = 0;
  #answered = 0;
  #partial = '';
  /** The audio comes from a recording, faster than speech: the server is behind it. */
  #isRecorded = false;
  #isOver = false;
  /** A final part followed the end of the audio. */
  #hasFinal = false;
  #hasEnded = false;
  #progress: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #last: NodeJS.Timeout | undefined;

  constructor(
    { url, apiKey, timeLimitMs }: VoskOptions,
    request: RecognitionRequest,
    interim: ((words: InterimTranscript) => void) | undefined,
  ) {
    this.#interim = interim;
    this.#limitMs = timeLimitMs;
    this.#socket = new WebSocket(url, {
      handshakeTimeout: timeLimitMs,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      headers: apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` },
    });
    const phrases = request.hints.length === 0 ? {} : { phrase_list: [...request.hints, '[unk]'] };
    this.#send(JSON.stringify({ config: { sample_rate: RATE, words: 1, ...phrases } }));
    this.#socket.on('open', () => {
      const waiting = this.#waiting;
      this.#waiting = [];
      this.#waitingBytes = 0;
      for (const message of waiting) this.#send(message);
    });
    this.#socket.on('message', (data) => this.#hear(String(data)));
    this.#socket.on('error', (error) =>
      this.#end(problem('failed', `the recognizer request failed: ${reasonOf(error)}`)),
    );
    this.#socket.on('close', () =>
      this.#end(
        this.#hasFinal ? this.#whole() : problem('failed', 'the recognizer closed the connection'),
      ),
    );
  }

  audio(pcm: Uint8Array): void {
    this.#bytes += pcm.length;
    this.#sent += 1;
    this.#send(pcm);
  }

  async recorded(pcm: Uint8Array): Promise<void> {
    this.#isRecorded = true;
    this.audio(pcm);
    while (!this.#hasEnded && this.#unsentBytes > AHEAD_BYTES) {
      this.#limit();
      await new Promise<void>((resolve) => {
        this.#progress = resolve;
      });
    }
    clearTimeout(this.#timer);
  }

  finish(): Promise<Recognised> {
    this.#isOver = true;
    this.#send(JSON.stringify({ eof: 1 }));
    if (!this.#hasEnded) this.#limit();
    return this.#done.promise;
  }

  abort(): void {
    this.#end(problem('aborted', 'no longer wanted'));
  }

  get #unsentBytes(): number {
    return Math.max(this.#waitingBytes, this.#socket.bufferedAmount);
  }

  /** Begins the time limit again. */
  #limit(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const isWhole = this.#isRecorded && this.#hasFinal;
      this.#end(isWhole ? this.#whole() : problem('failed', 'the recognizer took too long'));
    }, this.#limitMs);
  }

  #send(message: Uint8Array | string): void {
    if (this.#socket.readyState === WebSocket.CONNECTING) {
      this.#waitingBytes += message.length;
      this.#waiting.push(message);
    } else if (this.#socket.readyState === WebSocket.OPEN) {
      this.#socket.send(message, () => this.#progress());
    }
    if (this.#unsentBytes > MAX_WAITING_BYTES) {
      this.#end(problem('failed', 'the recognizer is too slow'));
    }
  }

  #hear(message: string): void {
    let received: unknown;
    try {
      received = JSON.parse(message);
    } catch {
      this.#end(problem('failed', 'the recognizer did not send JSON'));
      return;
    }
    if (!isRecord(received)) return;
    this.#answered += 1;
    if (this.#isRecorded && this.#isOver && !this.#hasEnded) this.#limit();
    const { partial, text, result } = received;
    if (typeof partial === 'string') this.#notifyInterim(plain(partial));
    if (typeof text !== 'string') return;
    const words = plain(text);
    if (words !== '' && this.#words.length < MAX_PARTS) {
      this.#words.push(words);
      if (Array.isArray(result)) this.#confidences.push(...result.map(confidence));
      this.#notifyInterim('');
    }
    if (!this.#isOver) return;
    // This is the response to `eof` or to the audio before it. The server usually closes afterwards.
    this.#hasFinal = true;
    const isBehind = this.#isRecorded && this.#answered <= this.#sent;
    if (isBehind || this.#last !== undefined || this.#hasEnded) return;
    this.#last = setTimeout(() => this.#end(this.#whole()), LAST_WORDS_MS);
  }

  #whole(): Recognised {
    const known = this.#confidences.filter((value) => !Number.isNaN(value));
    return ok({
      text: this.#words.join(' '),
      confidence:
        known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0) / known.length,
      durationMs: lengthMs({ length: this.#bytes }),
    });
  }

  #notifyInterim(partial: string): void {
    if (this.#isOver || (partial === '' && this.#words.length === 0)) return;
    const stable = this.#words.join(' ');
    const news = `${stable}|${partial}`;
    if (news === this.#partial) return;
    this.#partial = news;
    this.#interim?.({ stable, unstable: partial, stability: partial === '' ? 1 : STABILITY });
  }

  #end(outcome: Recognised): void {
    this.#hasEnded = true;
    this.#progress();
    clearTimeout(this.#timer);
    clearTimeout(this.#last);
    this.#waiting = [];
    this.#done.resolve(outcome);
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.close();
    else this.#socket.terminate();
  }
}

const confidence = (word: unknown): number =>
  isRecord(word) && typeof word['conf'] === 'number' ? word['conf'] : Number.NaN;

/** Removes the marker for words outside the phrases. */
const plain = (text: string): string =>
  text
    .split(/\s+/)
    .filter((word) => word !== '' && word !== '[unk]')
    .join(' ');
