/**
 * A streaming recogniser over WebSocket, in the protocol of vosk-server. To it: one text message
 * `{"config":{"sample_rate":16000,"words":1,"phrase_list":[…]}}` (the list only with hints), binary messages of 16-bit
 * little-endian mono PCM, at the end `{"eof":1}`. From it, a text message after each of ours: `{"partial":"…"}` while words
 * may change, `{"text":"…","result":[{"word","conf","start","end"},…]}` when a part is final; the last one follows `eof`.
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
  /** `ws://` or `wss://`. */
  readonly url: string;
  /** Bearer token of the upgrade; '' = none. */
  readonly apiKey: string;
  readonly timeLimitMs: number;
}

const MAX_MESSAGE_BYTES = 256 * 1024;
/** Audio that waits for the connection, or for a peer that does not read. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const MAX_PARTS = 1000;
/** A server that does not close after its last words is waited for so long. */
const LAST_WORDS_MS = 200;
/** Words of a partial result stay more often than not. */
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
  #partial = '';
  #isOver = false;
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
      for (const message of waiting) this.#socket.send(message);
    });
    this.#socket.on('message', (data) => this.#hear(String(data)));
    this.#socket.on('error', (error) =>
      this.#end(problem('failed', `the recogniser cannot be asked: ${reasonOf(error)}`)),
    );
    this.#socket.on('close', () =>
      this.#end(
        this.#last === undefined
          ? problem('failed', 'the recogniser closed the connection')
          : this.#whole(),
      ),
    );
  }

  audio(pcm: Uint8Array): void {
    this.#bytes += pcm.length;
    this.#send(pcm);
  }

  finish(): Promise<Recognised> {
    this.#isOver = true;
    this.#send(JSON.stringify({ eof: 1 }));
    this.#timer = setTimeout(
      () => this.#end(problem('failed', 'the recogniser took too long')),
      this.#limitMs,
    );
    return this.#done.promise;
  }

  abort(): void {
    this.#end(problem('aborted', 'no longer wanted'));
  }

  #send(message: Uint8Array | string): void {
    if (this.#socket.readyState === WebSocket.CONNECTING) {
      this.#waitingBytes += message.length;
      this.#waiting.push(message);
    } else if (this.#socket.readyState === WebSocket.OPEN) {
      this.#socket.send(message);
    }
    if (Math.max(this.#waitingBytes, this.#socket.bufferedAmount) > MAX_WAITING_BYTES) {
      this.#end(problem('failed', 'the recogniser does not keep up'));
    }
  }

  #hear(message: string): void {
    let heard: unknown;
    try {
      heard = JSON.parse(message);
    } catch {
      this.#end(problem('failed', 'the recogniser sent something other than JSON'));
      return;
    }
    if (!isRecord(heard)) return;
    const { partial, text, result } = heard;
    if (typeof partial === 'string') this.#tellInterim(plain(partial));
    if (typeof text !== 'string') return;
    const words = plain(text);
    if (words !== '' && this.#words.length < MAX_PARTS) {
      this.#words.push(words);
      if (Array.isArray(result)) this.#confidences.push(...result.map(confidence));
      this.#tellInterim('');
    }
    if (!this.#isOver || this.#last !== undefined) return;
    // The answer to `eof`, or to audio just before it; then the server closes, as a rule.
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

  #tellInterim(partial: string): void {
    if (this.#isOver || (partial === '' && this.#words.length === 0)) return;
    const stable = this.#words.join(' ');
    const news = `${stable}|${partial}`;
    if (news === this.#partial) return;
    this.#partial = news;
    this.#interim?.({ stable, unstable: partial, stability: partial === '' ? 1 : STABILITY });
  }

  #end(outcome: Recognised): void {
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

/** Without the mark for what is none of the phrases. */
const plain = (text: string): string =>
  text
    .split(/\s+/)
    .filter((word) => word !== '' && word !== '[unk]')
    .join(' ');
