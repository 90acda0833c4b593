/**
 * Media side of a stream test in place of a call: a source that sends speech in 20 ms frames, and a playback queue
 * that plays and records the bot's audio in real time.
 */
import type { Clock } from '../../base/clock.ts';
import type {
  MediaStream,
  MediaStreamEvents,
  MediaStreamOptions,
  StreamEncoding,
  StreamReceiveResult,
} from '../../domain/call/needs.ts';
import { PCMU } from '../../phone/audio/g711.ts';
import { convertRate, l16Bytes, l16Samples, type Sound } from '../../phone/audio/wav.ts';
import { inboundMediaMessage } from '../../protocol/audio-stream/audio-stream.ts';
import type { Observations } from './observations.ts';

const FRAME_MS = 20;
/** Sample rate of the recording: the highest rate that the protocol supports. */
const RECORD_RATE_HZ = 24_000;
const RECORD_FRAME = (RECORD_RATE_HZ * FRAME_MS) / 1000;
const WAV_MAGIC = Buffer.from('RIFF', 'latin1');

/** Peak from which a frame is speech, not the background of a recording: -40 dBFS. */
const AUDIBLE = 328;
const isAudible = (frame: Int16Array): boolean =>
  frame.some((sample) => Math.abs(sample) >= AUDIBLE);

interface Mark {
  readonly name: string;
  /** Position in samples since the start of the queue. */
  readonly at: number;
}

export class TestLine implements MediaStream {
  readonly #options: MediaStreamOptions;
  readonly #events: MediaStreamEvents;
  readonly #clock: Clock;
  readonly #seen: Observations;
  readonly #voice: Int16Array;
  readonly #startMs: number;
  readonly #record: Int16Array[] = [];
  #queue: Int16Array[] = [];
  #queued = 0;
  #played = 0;
  #marks: Mark[] = [];
  #odd: Uint8Array = new Uint8Array(0);
  #frames = 0;
  /** Whether the last frame contained audio of the bot. */
  #speaking = false;
  #cancel: () => void = () => undefined;

  constructor(
    options: MediaStreamOptions,
    events: MediaStreamEvents,
    {
      voice,
      clock,
      seen,
    }: { readonly voice: Sound; readonly clock: Clock; readonly seen: Observations },
  ) {
    this.#options = options;
    this.#events = events;
    this.#clock = clock;
    this.#seen = seen;
    this.#voice = convertRate(voice, options.rate);
    this.#startMs = clock.monotonicMs();
    this.#schedule();
  }

  get recording(): Sound {
    const samples = new Int16Array(this.#record.length * RECORD_FRAME);
    this.#record.forEach((frame, i) => {
      samples.set(frame, i * RECORD_FRAME);
    });
    return { rate: RECORD_RATE_HZ, samples };
  }

  /** Leaves every message to the session, which parses it in full and reports each fault. */
  receive(): StreamReceiveResult {
    return 'other';
  }

  enqueue(encoding: StreamEncoding, rate: number, payload: Uint8Array): boolean {
    if (WAV_MAGIC.equals(payload.subarray(0, WAV_MAGIC.length))) {
      this.#seen.fault(
        'a payload begins with a WAV header, which sounds like a click: send samples only',
      );
    }
    this.#seen.ratesHz.add(rate);
    const samples = convertRate({ rate, samples: this.#decode(encoding, payload) }, RECORD_RATE_HZ);
    const nowMs = this.#clock.monotonicMs();
    if (this.queuedMs() + (samples.length * 1000) / RECORD_RATE_HZ > this.#options.queueMs)
      return false;
    this.#seen.audioCame((samples.length * 1000) / RECORD_RATE_HZ, nowMs);
    this.#queue.push(samples);
    this.#queued += samples.length;
    this.#seen.longestQueueMs = Math.max(this.#seen.longestQueueMs, this.queuedMs());
    return true;
  }

  clear(): undefined {
    this.#queue = [];
    this.#played = this.#queued;
    this.#marks = [];
    this.#odd = new Uint8Array(0);
    this.#seen.cleared();
  }

  checkpoint(name: string): void {
    this.#seen.checkpoints += 1;
    this.#marks.push({ name, at: this.#queued });
  }

  queuedMs(): number {
    return ((this.#queued - this.#played) * 1000) / RECORD_RATE_HZ;
  }

  pause(): void {}

  close(): void {
    this.#cancel();
  }

  /** Decodes a chunk. Keeps an odd trailing byte for the next chunk. */
  #decode(encoding: StreamEncoding, payload: Uint8Array): Int16Array {
    if (encoding === 'audio/x-mulaw') return PCMU.decode(payload);
    const bytes = Buffer.concat([this.#odd, payload]);
    this.#odd = bytes.subarray(bytes.length & ~1);
    return l16Samples(bytes);
  }

  #schedule(): void {
    this.#cancel = this.#clock.at(this.#startMs + this.#frames * FRAME_MS, () => {
      this.#speak();
      this.#play();
      this.#frames += 1;
      this.#schedule();
    });
  }

  #speak(): void {
    const { rate, encoding, streamId, extraHeadersJson } = this.#options;
    const length = (rate * FRAME_MS) / 1000;
    const at = this.#frames * length;
    if (at >= this.#voice.length) this.#seen.speechEndMs ??= this.#clock.monotonicMs();
    const frame = new Int16Array(length);
    frame.set(this.#voice.subarray(at, at + length));
    if (isAudible(frame)) this.#seen.callerSpoke(this.#clock.monotonicMs());
    const payload = encoding === 'audio/x-mulaw' ? PCMU.encode(frame) : l16Bytes(frame);
    const message = inboundMediaMessage({
      streamId,
      chunk: this.#frames + 1,
      atMs: this.#clock.wallMs(),
      payload,
      extraHeadersJson,
    });
    this.#seen.mediaSent += 1;
    this.#events.media([message]);
  }

  #play(): void {
    const frame = new Int16Array(RECORD_FRAME);
    let filled = 0;
    while (filled < RECORD_FRAME) {
      const next = this.#queue[0];
      if (next === undefined) break;
      const part = next.subarray(0, RECORD_FRAME - filled);
      frame.set(part, filled);
      filled += part.length;
      if (part.length === next.length) this.#queue.shift();
      else this.#queue[0] = next.subarray(part.length);
    }
    const wasSpeaking = this.#speaking;
    this.#speaking = filled > 0;
    if ((wasSpeaking || this.#speaking) && filled < RECORD_FRAME) {
      this.#seen.ranDry(this.#clock.monotonicMs());
    }
    if (isAudible(frame)) this.#seen.botSpoke(this.#clock.monotonicMs());
    this.#played += filled;
    this.#record.push(frame);
    const reached = this.#marks.filter(({ at }) => at <= this.#played);
    this.#marks = this.#marks.slice(reached.length);
    for (const { name } of reached) this.#events.played(name);
  }
}
