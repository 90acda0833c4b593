/** Media side of a scripted call: sends the caller's audio, plays the bot's audio in real time, and records both. */
import type { Clock } from '../base/clock.ts';
import type {
  MediaStream,
  MediaStreamEvents,
  MediaStreamOptions,
  PlayPosition,
  StreamEncoding,
  StreamReceiveResult,
} from '../domain/call/needs.ts';
import { PCMU } from '../phone/audio/g711.ts';
import { convertRate, l16Bytes } from '../phone/audio/wav.ts';
import { inboundMediaMessage } from '../protocol/audio-stream/audio-stream.ts';
import { BotPlayback, PLAY_RATE_HZ } from './bot-playback.ts';
import { CallerSpeech, meanSquare } from './caller-speech.ts';
import type { Network } from './network.ts';
import type { Observed } from './observed.ts';

const FRAME_MS = 20;
export const RECORD_RATE_HZ = 8000;
const PLAY_FRAME = (PLAY_RATE_HZ * FRAME_MS) / 1000;
/** Mean square of a frame that counts as speech: about -46 dBFS. */
const LOUD = 160 ** 2;

export class CallerLine implements MediaStream {
  readonly #options: MediaStreamOptions;
  readonly #events: MediaStreamEvents;
  readonly #clock: Clock;
  readonly #network: Network;
  readonly #observed: Observed;
  readonly #startMs: number;
  #voice: Int16Array = new Int16Array(0);
  #voiceAt = 0;
  #voiceEnded: (() => void) | undefined;
  readonly #playback: BotPlayback;
  readonly #speech: CallerSpeech | undefined;
  #frames = 0;
  #isClosed = false;
  readonly #underWay: { readonly dueMs: number; readonly message: Buffer }[] = [];
  #cancel: () => void = () => undefined;

  constructor(
    options: MediaStreamOptions,
    events: MediaStreamEvents,
    needs: { readonly clock: Clock; readonly network: Network; readonly observed: Observed },
  ) {
    this.#options = options;
    this.#events = events;
    this.#clock = needs.clock;
    this.#network = needs.network;
    this.#observed = needs.observed;
    this.#playback = new BotPlayback(options.queueMs);
    this.#speech = options.speech && new CallerSpeech(options.speech);
    this.#startMs = this.#clock.monotonicMs();
    this.#schedule();
  }

  /** Speaks samples at the rate of the stream. Resolves when the last one has been sent. */
  say(samples: Int16Array): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#voice = samples;
    this.#voiceAt = 0;
    return new Promise((resolve) => {
      this.#voiceEnded = resolve;
    });
  }

  press(digit: string): void {
    this.#events.dtmf(digit, this.#clock.wallMs());
  }

  receive(): StreamReceiveResult {
    return 'other';
  }

  enqueue(encoding: StreamEncoding, rate: 8000 | 16000 | 24000, payload: Uint8Array): boolean {
    return this.#playback.enqueue(encoding, rate, payload);
  }

  clear(): PlayPosition {
    this.#observed.cleared();
    return this.#playback.clear();
  }

  checkpoint(name: string): void {
    this.#playback.checkpoint(name);
  }

  pause(): void {}

  close(): void {
    this.#isClosed = true;
    this.#cancel();
    this.#voiceEnded?.();
  }

  #schedule(): void {
    const dueMs = this.#startMs + this.#frames * FRAME_MS;
    this.#cancel = this.#clock.at(dueMs, () => {
      this.#observed.sentLate(this.#clock.monotonicMs() - dueMs);
      const caller = this.#speak();
      this.#detect(caller);
      const bot = this.#play();
      const { rate } = this.#options;
      this.#observed.frame({
        caller: convertRate({ rate, samples: caller }, RECORD_RATE_HZ),
        bot: convertRate({ rate: PLAY_RATE_HZ, samples: bot }, RECORD_RATE_HZ),
        botIsLoud: meanSquare(bot) > LOUD,
      });
      this.#frames += 1;
      this.#deliver();
      this.#schedule();
    });
  }

  /** Sends the next 20 ms of the caller's audio. Returns it as the service hears it. */
  #speak(): Int16Array {
    const { rate } = this.#options;
    const length = (rate * FRAME_MS) / 1000;
    const frame = new Int16Array(length);
    frame.set(this.#voice.subarray(this.#voiceAt, this.#voiceAt + length));
    this.#voiceAt += length;
    if (this.#voiceAt >= this.#voice.length && this.#voiceEnded !== undefined) {
      const ended = this.#voiceEnded;
      this.#voiceEnded = undefined;
      ended();
    }
    const carried = this.#network.carry(frame);
    const dueMs = this.#network.arrivesMs(this.#startMs + this.#frames * FRAME_MS);
    this.#underWay.push({ dueMs, message: this.#mediaMessage(carried) });
    return carried;
  }

  #mediaMessage(frame: Int16Array): Buffer {
    const { encoding, streamId, extraHeadersJson } = this.#options;
    const payload = encoding === 'audio/x-mulaw' ? PCMU.encode(frame) : l16Bytes(frame);
    return inboundMediaMessage({
      streamId,
      chunk: this.#frames + 1,
      atMs: this.#clock.wallMs(),
      payload,
      extraHeadersJson,
    });
  }

  #deliver(): void {
    const nowMs = this.#clock.monotonicMs();
    while (this.#underWay[0] !== undefined && this.#underWay[0].dueMs <= nowMs) {
      const { message } = this.#underWay.shift() ?? {};
      if (message !== undefined) this.#events.media([message]);
    }
  }

  /** Plays the next 20 ms of the bot's audio and reports the checkpoints in it. */
  #play(): Int16Array {
    const { frame, reached } = this.#playback.play(PLAY_FRAME);
    for (const { name, at } of reached) this.#events.played(name, at);
    return frame;
  }

  /** Reports begin and end of the caller's speech, which may interrupt the bot. */
  #detect(frame: Int16Array): void {
    const change = this.#speech?.hear(frame, FRAME_MS);
    if (change === undefined) return;
    const started = change === 'began';
    this.#events.speech?.({ started, timestampMs: this.#clock.wallMs(), confidence: 1 });
    if (!started) this.#playback.unmute();
    if (!started || this.#options.speech?.bargeIn !== 'clear') return;
    const interrupted = this.#playback.interrupt();
    if (interrupted === undefined) return;
    this.#observed.note('service clears the audio: bargeIn');
    this.#events.interrupted?.(interrupted.names, interrupted.at);
  }
}
