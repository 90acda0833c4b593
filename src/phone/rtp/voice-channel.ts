/** RTP side of the phone: sends samples every 20 ms, keeps received audio and counts packets. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/ids.ts';
import { median } from '../audio/echo-delay.ts';
import type { Codec } from '../audio/g711.ts';
import { digitOf, type RtpPacket, readRtp, telephoneEvent, writeRtp } from './packet.ts';
import { Reception, type ReceptionReport } from './reception.ts';

export interface Peer {
  readonly address: string;
  readonly port: number;
  readonly codec: Codec;
  readonly telephoneEvent: number | undefined;
}

const FRAME_MS = 20;
const FRAME_SAMPLES = 160;
const SAMPLES_PER_MS = 8;
/** Maximum time by which received audio can end after the current time, if most packets of a stream arrived late. */
const MAX_AHEAD_MS = 1000;
/** Maximum number of packets kept, one hour of audio, and of received keys. */
const MAX_KEPT = { packets: 180_000, keys: 1000 } as const;
/** A key press lasts 100 ms, and its end is sent three times (RFC 4733 §2.5.1.4). */
const KEY = { frames: 5, endPackets: 3 } as const;

interface Received {
  readonly ssrc: number;
  readonly timestamp: number;
  readonly arrivalMs: number;
  readonly payload: Uint8Array;
}

/** Key press in progress: packets sent so far and start time. */
interface Key {
  readonly digit: string;
  readonly timestamp: number;
  packets: number;
}

export class VoiceChannel {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #reception = new Reception();
  readonly #packets: Received[] = [];
  readonly #keys: string[] = [];
  readonly #ssrc: number;
  #sequence: number;
  #timestamp: number;
  #peer: Peer | undefined;
  #voice: Int16Array = new Int16Array(0);
  #frames = 0;
  #sent = 0;
  #startMs = 0;
  #key: Key | undefined;
  #receivedKeys = '';
  #lastKeyAt: number | undefined;
  #cancel: () => void = () => undefined;

  private constructor(socket: Socket, clock: Clock, random: Random) {
    this.#socket = socket;
    this.#clock = clock;
    this.#ssrc = random.integer(2 ** 32);
    this.#sequence = random.integer(2 ** 16);
    this.#timestamp = random.integer(2 ** 32);
    socket.on('message', (bytes) => this.#received(bytes));
    socket.on('error', () => undefined);
  }

  static async open(address: string, clock: Clock, random: Random): Promise<VoiceChannel> {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    socket.bind({ address, port: 0 });
    await once(socket, 'listening');
    return new VoiceChannel(socket, clock, random);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  get packetsSent(): number {
    return this.#sent;
  }

  get reception(): ReceptionReport {
    return this.#reception.report();
  }

  /** Keys received from the peer (RFC 4733), in order. */
  get receivedKeys(): string {
    return this.#receivedKeys;
  }

  /** Starts sending `voice`, then silence. A second call only changes the peer. */
  talk(peer: Peer, voice: Int16Array): void {
    const begun = this.#peer !== undefined;
    this.#peer = peer;
    if (begun) return;
    this.#voice = voice;
    this.#startMs = this.#clock.monotonicMs();
    this.#schedule();
  }

  /** Replaces the samples to send, starting with the next packet. */
  say(voice: Int16Array): void {
    const before = new Int16Array(this.#frames * FRAME_SAMPLES);
    this.#voice = Int16Array.from([...before, ...voice]);
  }

  press(digit: string): void {
    this.#keys.push(digit);
  }

  /**
   * Returns the received audio at 8 kHz; index 0 is the time of `talk`. Timestamps place each packet within the stream.
   * The median arrival time places the stream, so that the delay is that of the network and the far end only. The result
   * ends with the last sent or received packet, because a late timer of this process must not cut received audio.
   */
  received(): Int16Array {
    const places = this.#places();
    const limit = (this.#clock.monotonicMs() - this.#startMs + MAX_AHEAD_MS) * SAMPLES_PER_MS;
    const ends = places.map(({ at, audio }) => at + audio.length).filter((end) => end <= limit);
    const sent = this.#frames * FRAME_SAMPLES;
    const samples = new Int16Array(ends.reduce((last, end) => Math.max(last, end), sent));
    for (const { at, audio } of places) {
      if (at < 0 || at >= samples.length) continue;
      samples.set(audio.subarray(0, samples.length - at), at);
    }
    return samples;
  }

  close(): void {
    this.#cancel();
    this.#socket.close();
  }

  /** Audio of each received packet, and the index of its first sample. */
  #places(): readonly { readonly at: number; readonly audio: Int16Array }[] {
    const delays = new Map<number, number[]>();
    for (const { ssrc, arrivalMs, timestamp } of this.#packets) {
      const ofStream = delays.get(ssrc) ?? [];
      delays.set(ssrc, ofStream);
      ofStream.push(arrivalMs - timestamp / SAMPLES_PER_MS);
    }
    const bases = new Map([...delays].map(([ssrc, ofStream]) => [ssrc, median(ofStream)]));
    return this.#packets.map(({ ssrc, timestamp, payload }) => {
      const atMs = timestamp / SAMPLES_PER_MS + (bases.get(ssrc) ?? 0) - this.#startMs;
      return {
        at: Math.round(atMs * SAMPLES_PER_MS),
        audio: this.#peer?.codec.decode(payload) ?? new Int16Array(0),
      };
    });
  }

  #received(bytes: Buffer): void {
    const packet = readRtp(bytes);
    if (packet === undefined) return;
    if (packet.payloadType === this.#peer?.telephoneEvent) {
      this.#reception.count(packet.sequence);
      this.#hearKey(packet);
      return;
    }
    if (packet.payloadType !== this.#peer?.codec.payloadType) return;
    const arrivalMs = this.#clock.monotonicMs();
    this.#reception.add(packet.sequence, packet.timestamp, arrivalMs);
    if (this.#packets.length >= MAX_KEPT.packets) return;
    const { ssrc, timestamp, payload } = packet;
    this.#packets.push({ ssrc, timestamp, arrivalMs, payload: Uint8Array.from(payload) });
  }

  /** Records a received key. All packets of one key carry the timestamp of its start (RFC 4733 §2.5.1.2). */
  #hearKey({ timestamp, payload }: RtpPacket): void {
    const digit = digitOf(payload);
    if (digit === undefined || timestamp === this.#lastKeyAt) return;
    this.#lastKeyAt = timestamp;
    if (this.#receivedKeys.length < MAX_KEPT.keys) this.#receivedKeys += digit;
  }

  #schedule(): void {
    this.#cancel = this.#clock.at(this.#startMs + this.#frames * FRAME_MS, () => {
      this.#frame();
      this.#frames += 1;
      this.#timestamp += FRAME_SAMPLES;
      this.#schedule();
    });
  }

  #frame(): void {
    if (this.#key !== undefined || this.#keys.length > 0) this.#keyPacket();
    else this.#voicePacket();
  }

  #voicePacket(): void {
    const at = this.#frames * FRAME_SAMPLES;
    const frame = new Int16Array(FRAME_SAMPLES);
    frame.set(this.#voice.subarray(at, at + FRAME_SAMPLES));
    const codec = this.#peer?.codec;
    if (codec === undefined) return;
    this.#send(codec.payloadType, this.#frames === 0, this.#timestamp, codec.encode(frame));
  }

  /** Sends the next packet of a key. All packets of one key carry the same timestamp. Without RFC 4733 at the peer, skips it. */
  #keyPacket(): void {
    const payloadType = this.#peer?.telephoneEvent;
    const digit = this.#key?.digit ?? this.#keys.shift();
    if (payloadType === undefined || digit === undefined) return;
    this.#key ??= { digit, timestamp: this.#timestamp, packets: 0 };
    const key = this.#key;
    key.packets += 1;
    const end = key.packets > KEY.frames;
    const duration = Math.min(key.packets, KEY.frames) * FRAME_SAMPLES;
    const payload = telephoneEvent(digit, duration, end);
    this.#send(payloadType, key.packets === 1, key.timestamp, payload);
    if (key.packets === KEY.frames + KEY.endPackets) this.#key = undefined;
  }

  #send(payloadType: number, marker: boolean, timestamp: number, payload: Uint8Array): void {
    const peer = this.#peer;
    if (peer === undefined) return;
    const sequence = this.#sequence;
    this.#sequence += 1;
    this.#sent += 1;
    this.#socket.send(
      writeRtp({ payloadType, marker, sequence, timestamp, ssrc: this.#ssrc, payload }),
      peer.port,
      peer.address,
    );
  }
}
