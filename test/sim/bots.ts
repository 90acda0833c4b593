/** Bots for the scenarios. */
import alawmulaw from 'alawmulaw';
import { l16, purity, rms, sine } from '../edge/media/peer.ts';
import type { Bot, BotLine, BotMessage } from './streams.ts';

const PIECE_MS = 100;
const RECEIVED = 0.5;
const AUDIBLE = 200;
/** Duration of the latest received audio that a bot analyses, in milliseconds. */
const LISTENED_MS = 240;

/** Listens, and sends one tone after it has received any audio. */
export class TalkingBot implements Bot {
  readonly events: string[] = [];
  readonly keys: string[] = [];
  readonly played: string[] = [];
  line: BotLine | undefined;
  stopReason: string | undefined;
  isClosed = false;
  drops = 0;
  /** Last sequence number received; the numbers have no gaps. */
  lastNumber = -1;
  gaps = 0;
  readonly #says: number | undefined;
  readonly #saysForMs: number;
  #streamId = '';
  #encoding = '';
  #rate = 8000;
  #received: number[] = [];
  #spoke = false;

  constructor(says: number | undefined, saysForMs = 2000) {
    this.#says = says;
    this.#saysForMs = saysForMs;
  }

  hear(message: BotMessage, line: BotLine): void {
    this.line = line;
    this.events.push(message.event);
    const expected = message.event === 'start' ? 0 : this.lastNumber + 1;
    if (message.sequenceNumber !== expected) this.gaps += 1;
    this.lastNumber = message.sequenceNumber;
    if (message.event === 'start') {
      this.isClosed = false;
      this.#streamId = message.start.streamId;
      this.#encoding = message.start.mediaFormat.encoding;
      this.#rate = message.start.mediaFormat.sampleRate;
    } else if (message.event === 'media') {
      this.#listen(Buffer.from(message.media.payload, 'base64'));
      if (!this.#spoke && this.#says !== undefined && rms(this.#samples()) > AUDIBLE) this.speak();
    } else if (message.event === 'dtmf') this.keys.push(message.dtmf.digit);
    else if (message.event === 'playedStream') this.played.push(message.name);
    else if (message.event === 'stop') this.stopReason = message.stop.reason;
  }

  /** True when connected and started. */
  get isOpen(): boolean {
    return !this.isClosed && this.events.includes('start');
  }

  /** Drops its socket. */
  drop(): void {
    this.drops += 1;
    this.line?.drop();
  }

  closed(): void {
    this.isClosed = true;
  }

  hears(hz: number): boolean {
    const samples = this.#samples();
    return rms(samples) > AUDIBLE && purity(samples, hz, this.#rate) > RECEIVED;
  }

  speak(hz = this.#says ?? 440, forMs = this.#saysForMs): void {
    this.#spoke = true;
    const media = { contentType: 'audio/x-l16', sampleRate: 8000 };
    for (let atMs = 0; atMs < forMs; atMs += PIECE_MS) {
      const samples = sine(hz, PIECE_MS * 8, { from: atMs * 8 });
      const payload = l16(samples).toString('base64');
      this.line?.send({
        event: 'playAudio',
        streamId: this.#streamId,
        media: { ...media, payload },
      });
    }
    this.line?.send({ event: 'checkpoint', streamId: this.#streamId, name: `${hz}` });
  }

  send(event: string, more: Readonly<Record<string, unknown>> = {}): void {
    this.line?.send({ event, streamId: this.#streamId, ...more });
  }

  #samples(): Int16Array {
    return Int16Array.from(this.#received);
  }

  #listen(payload: Buffer): void {
    const samples =
      this.#encoding === 'audio/x-mulaw'
        ? alawmulaw.mulaw.decode(payload)
        : new Int16Array(
            payload.buffer.slice(payload.byteOffset, payload.byteOffset + payload.length),
          );
    this.#received = [...this.#received, ...samples].slice(-(LISTENED_MS * this.#rate) / 1000);
  }
}

/** Plays back the audio that it receives. */
export class EchoBot implements Bot {
  #streamId = '';
  #format = {};

  hear(message: BotMessage, line: BotLine): void {
    if (message.event === 'start') {
      const { encoding, sampleRate } = message.start.mediaFormat;
      this.#streamId = message.start.streamId;
      this.#format = { contentType: encoding, sampleRate };
    } else if (message.event === 'media') {
      const media = { ...this.#format, payload: message.media.payload };
      line.send({ event: 'playAudio', streamId: this.#streamId, media });
    }
  }
}
