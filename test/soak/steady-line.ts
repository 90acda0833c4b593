/**
 * A well-behaved call of the soak test: a caller that sends numbered frames in real time, and its bot. The bot checks them
 * and sends numbered frames two seconds ahead, or echoes the received frames a second later. From the numbers each side
 * computes its position in the other side's audio.
 */

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { WebSocket } from 'ws';
import type { StreamId } from '../../src/base/ids.ts';
import { PCMU } from '../../src/phone/audio/g711.ts';
import { readRtp, writeRtp } from '../../src/phone/rtp/packet.ts';
import { Continuity } from './continuity.ts';
import { CODES, codeOf, FRAME_MS, NumberedAudio, type Position } from './numbered-audio.ts';

const HOST = '127.0.0.1';
const FRAME_SAMPLES = 160;
/** Frames of audio that a bot sends ahead. Its machine or socket may stall for that time without a gap. */
const TALKER_AHEAD_FRAMES = 100;
const ECHO_AHEAD_FRAMES = 50;
const CHECKPOINT_EVERY_FRAMES = 500;
/** Codes use the loud half of positive mu-law levels, with enough distance to survive resampling. */
const FIRST_BYTE = 0x80;
/** Lateness at which a frame counts as late, ms. The service conceals a gap after 40 ms; ticks come every few ms. */
const LATE_MS = 30;

const callerFrames = Array.from({ length: CODES + 1 }, (_, code) =>
  Buffer.alloc(FRAME_SAMPLES, FIRST_BYTE + code),
);

export interface LineReport {
  readonly name: string;
  /** Positions from caller to bot, and from bot to caller. */
  readonly down: Position;
  readonly up: Position;
  /** Frames since `begin` that the caller's machine sent too late, so that the service concealed them. */
  readonly lateFrames: number;
  readonly faults: readonly string[];
}

/** `talker` sends its own frames, `echo` returns received ones. */
export type LineKind = 'talker' | 'echo';

export class SteadyLine {
  readonly #name: string;
  readonly #kind: LineKind;
  readonly #rate: 8000 | 16_000 | 24_000;
  readonly #socket: Socket = createSocket('udp4');
  readonly #nowMs: () => number;
  readonly #sequence = new Continuity('RTP sequence', 1, 2 ** 16);
  readonly #rtpTime = new Continuity('RTP timestamp', FRAME_SAMPLES, 2 ** 32);
  readonly #chunks = new Continuity('chunk', 1);
  readonly #timestamps = new Continuity('media timestamp', FRAME_MS);
  readonly #messages = new Continuity('sequenceNumber', 1);
  readonly #played = new Continuity('checkpoint', CHECKPOINT_EVERY_FRAMES);
  #startMs = 0;
  #peerPort = 0;
  #callerFrame = 0;
  #down: NumberedAudio | undefined;
  #up: NumberedAudio | undefined;
  /** First RTP timestamp. Later timestamps are extended beyond their wrap-around. */
  #rtpStart: number | undefined;
  #bot: WebSocket | undefined;
  #streamId = '';
  #botStartMs = 0;
  #botFrame = 0;
  #lateFrames = 0;
  #requested = 0;
  #answered = 0;

  constructor(index: number, kind: LineKind, nowMs: () => number) {
    this.#rate = ([8000, 16_000, 24_000] as const)[index % 3] ?? 8000;
    this.#kind = kind;
    this.#name = kind === 'echo' ? `echo ${index}` : `talker ${index} at ${this.#rate}`;
    this.#nowMs = nowMs;
    this.#socket.on('message', (bytes) => this.#heardRtp(bytes));
  }

  async bind(): Promise<number> {
    this.#socket.bind({ address: HOST, port: 0 });
    await once(this.#socket, 'listening');
    return this.#socket.address().port;
  }

  /** The caller starts to send at `startMs`. */
  talk(peerPort: number, startMs: number): void {
    this.#peerPort = peerPort;
    this.#startMs = startMs;
    this.#down = new NumberedAudio(startMs);
    // The nominal time of echoed audio starts after the bot's initial silence.
    const backMs = startMs + ECHO_AHEAD_FRAMES * FRAME_MS;
    if (this.#kind === 'echo') this.#up = new NumberedAudio(backMs);
  }

  /** Attaches the bot's socket. May be called once. */
  attach(socket: WebSocket): void {
    this.#bot = socket;
    socket.on('message', (data: Buffer) => this.#received(JSON.parse(data.toString('utf8'))));
    socket.on('error', () => undefined);
  }

  /** Starts the measurement of both positions. */
  begin(): void {
    this.#lateFrames = 0;
    this.#down?.begin();
    this.#up?.begin();
  }

  /** Sends due frames. Call it every few milliseconds. */
  tick(): void {
    const nowMs = this.#nowMs();
    if (this.#peerPort === 0) return;
    for (; this.#startMs + this.#callerFrame * FRAME_MS <= nowMs; this.#callerFrame += 1) {
      const frame = this.#callerFrame;
      if (this.#startMs + frame * FRAME_MS < nowMs - LATE_MS) this.#lateFrames += 1;
      const header = { payloadType: 0, marker: frame === 0, ssrc: this.#peerPort };
      const payload = callerFrames[codeOf(frame)] ?? Buffer.alloc(0);
      const place = { sequence: frame, timestamp: frame * FRAME_SAMPLES };
      this.#socket.send(writeRtp({ ...header, ...place, payload }), this.#peerPort, HOST);
    }
    if (this.#kind === 'talker' && this.#streamId !== '') this.#speak(nowMs);
  }

  report(): LineReport {
    const nothing = new NumberedAudio(0).position();
    const unanswered = this.#requested - this.#answered;
    return {
      name: this.#name,
      down: this.#down?.position() ?? nothing,
      up: this.#up?.position() ?? nothing,
      lateFrames: this.#lateFrames,
      faults: [
        ...[this.#sequence, this.#rtpTime, this.#chunks, this.#timestamps].flatMap((one) =>
          one.faults(),
        ),
        ...[this.#messages, this.#played].flatMap((one) => one.faults()),
        // Audio is queued two seconds ahead, so one checkpoint may still be pending.
        ...(unanswered > 1 ? [`${unanswered} checkpoints were never answered`] : []),
      ],
    };
  }

  close(): void {
    this.#peerPort = 0;
    this.#socket.close();
  }

  #speak(nowMs: number): void {
    const due = (nowMs - this.#botStartMs) / FRAME_MS + TALKER_AHEAD_FRAMES;
    for (; this.#botFrame < due; this.#botFrame += 1) {
      if (this.#botFrame % CHECKPOINT_EVERY_FRAMES === 0) {
        this.#requested += 1;
        this.#say({ event: 'checkpoint', name: String(this.#botFrame) });
      }
      this.#play(levelFrame(codeOf(this.#botFrame), this.#rate), this.#rate);
    }
  }

  #play(payload: string, sampleRate: number): void {
    const media = { contentType: 'audio/x-l16', sampleRate, payload };
    this.#say({ event: 'playAudio', media });
  }

  #say(message: object): void {
    this.#bot?.send(JSON.stringify({ streamId: this.#streamId, ...message }));
  }

  #received(message: BotMessage): void {
    const nowMs = this.#nowMs();
    const ageMs = nowMs - this.#startMs;
    this.#messages.next(message.sequenceNumber, ageMs);
    if (message.event === 'start') this.#started(message.start, nowMs);
    else if (message.event === 'media') this.#heardMedia(message.media, nowMs);
    else if (message.event === 'playedStream') {
      this.#answered += 1;
      this.#played.next(Number(message.name), ageMs);
    }
  }

  #started({ streamId, mediaFormat }: BotStart, nowMs: number): void {
    this.#streamId = streamId;
    this.#botStartMs = nowMs;
    if (this.#kind === 'talker') {
      this.#up = new NumberedAudio(nowMs);
      return;
    }
    const { sampleRate } = mediaFormat;
    const silence = Buffer.alloc((ECHO_AHEAD_FRAMES * FRAME_MS * sampleRate * 2) / 1000);
    this.#play(silence.toString('base64'), sampleRate);
  }

  #heardMedia({ chunk, timestamp, payload }: BotMedia, nowMs: number): void {
    const ageMs = nowMs - this.#startMs;
    this.#chunks.next(chunk, ageMs);
    this.#timestamps.next(Number(timestamp), ageMs);
    const audio = Buffer.from(payload, 'base64');
    const rate = (audio.length / 2 / FRAME_MS) * 1000;
    const [early, middle, late] = PCMU.encode(quarters(audio));
    this.#down?.hear(codeOfLevel(early, middle, late), chunk, nowMs);
    if (this.#kind === 'echo') this.#play(payload, rate);
  }

  #heardRtp(bytes: Buffer): void {
    const packet = readRtp(bytes);
    if (packet === undefined || packet.payloadType !== 0) return;
    const nowMs = this.#nowMs();
    const ageMs = nowMs - this.#startMs;
    this.#sequence.next(packet.sequence, ageMs);
    this.#rtpTime.next(packet.timestamp, ageMs);
    this.#rtpStart ??= packet.timestamp;
    const place = Math.round(((packet.timestamp - this.#rtpStart) >>> 0) / FRAME_SAMPLES);
    const { payload } = packet;
    const [early, middle, late] = [1, 2, 3].map((i) => payload[(i * FRAME_SAMPLES) / 4]);
    this.#up?.hear(codeOfLevel(early, middle, late), place, nowMs);
  }
}

/**
 * Decodes a frame's code from the mu-law bytes at its quarters. Concealment and resampling delay samples,
 * and a gap may shift frames. The level must be constant for a quarter of the frame, so that a frame boundary is never read as a code.
 */
function codeOfLevel(early?: number, middle?: number, late?: number): number | undefined {
  if (middle === undefined || (middle !== early && middle !== late)) return undefined;
  return middle > FIRST_BYTE && middle <= FIRST_BYTE + CODES ? middle - FIRST_BYTE : undefined;
}

/** Little-endian L16 samples at the quarters of a frame. */
const quarters = (audio: Buffer): Int16Array =>
  Int16Array.from([1, 2, 3], (i) => audio.readInt16LE(2 * Math.floor((i * audio.length) / 8)));

const levelFrames = new Map<string, string>();

/** 20 ms of L16 at the level of a code, in base64. */
function levelFrame(code: number, rate: number): string {
  const key = `${code} ${rate}`;
  const known = levelFrames.get(key);
  if (known !== undefined) return known;
  const level = Buffer.alloc(2);
  level.writeInt16LE(PCMU.decode(Uint8Array.of(FIRST_BYTE + code))[0] ?? 0);
  const frame = Buffer.alloc((FRAME_MS * rate * 2) / 1000, level).toString('base64');
  levelFrames.set(key, frame);
  return frame;
}

interface BotStart {
  readonly streamId: StreamId;
  readonly mediaFormat: { readonly sampleRate: number };
}

interface BotMedia {
  readonly chunk: number;
  readonly timestamp: string;
  readonly payload: string;
}

type BotMessage = { readonly sequenceNumber: number } & (
  | { readonly event: 'start'; readonly start: BotStart }
  | { readonly event: 'media'; readonly media: BotMedia }
  | { readonly event: 'playedStream'; readonly name: string }
);
