/** A peer of a leg in manual mode: sends RTP packets to the engine and reads its packets. */

import alawmulaw from 'alawmulaw';
import { silentLogger } from '../../../src/base/logger.ts';
import type { MediaSession } from '../../../src/domain/call/needs.ts';
import {
  createMedia,
  type ManualDrive,
  type MediaEngine,
  type MediaOptions,
} from '../../../src/edge/media/engine.ts';

const { mulaw } = alawmulaw;

export const FRAME = 160;
export const WALL_START = Date.UTC(2026, 0, 1);

export interface Rtp {
  readonly marker: boolean;
  readonly payloadType: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  readonly payload: Uint8Array;
}

export function rtp(packet: Partial<Rtp> & { readonly payload: Uint8Array }): Uint8Array {
  const bytes = Buffer.alloc(12 + packet.payload.length);
  bytes[0] = 0x80;
  bytes[1] = (packet.marker === true ? 0x80 : 0) | (packet.payloadType ?? 0);
  bytes.writeUInt16BE((packet.sequence ?? 0) & 0xffff, 2);
  bytes.writeUInt32BE((packet.timestamp ?? 0) >>> 0, 4);
  bytes.writeUInt32BE(packet.ssrc ?? 1, 8);
  bytes.set(packet.payload, 12);
  return bytes;
}

export function parseRtp(bytes: Uint8Array): Rtp {
  const view = Buffer.from(bytes);
  return {
    marker: (view[1]! & 0x80) !== 0,
    payloadType: view[1]! & 0x7f,
    sequence: view.readUInt16BE(2),
    timestamp: view.readUInt32BE(4),
    ssrc: view.readUInt32BE(8),
    payload: view.subarray(12),
  };
}

/** Samples of a sine, starting at sample `from`. */
export function sine(
  hz: number,
  samples: number,
  options: { from?: number; rate?: number; peak?: number } = {},
): Int16Array {
  const { from = 0, rate = 8000, peak = 8000 } = options;
  return Int16Array.from({ length: samples }, (_, i) =>
    Math.round(peak * Math.sin((2 * Math.PI * hz * (from + i)) / rate)),
  );
}

export const encodeMulaw = (samples: Int16Array): Uint8Array => mulaw.encode(samples);
export const decodeMulaw = (bytes: Uint8Array): Int16Array => mulaw.decode(bytes);
export const l16 = (samples: Int16Array): Buffer =>
  Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);

/** Fraction of the energy at `hz`, 0..1: 1 for a pure tone of that frequency. */
export function purity(samples: Int16Array, hz: number, rate = 8000): number {
  let re = 0;
  let im = 0;
  let energy = 0;
  samples.forEach((value, i) => {
    const angle = (2 * Math.PI * hz * i) / rate;
    re += value * Math.cos(angle);
    im += value * Math.sin(angle);
    energy += value * value;
  });
  return energy === 0 ? 0 : (2 * (re * re + im * im)) / (samples.length * energy);
}

export function rms(samples: Int16Array): number {
  let sum = 0;
  for (const value of samples) sum += value * value;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

export const REMOTE: MediaSession = {
  address: '192.0.2.7',
  port: 40_000,
  codec: { name: 'PCMU', clockRate: 8000, sampleRate: 8000, channels: 1 },
  payloadType: { send: 0, receive: 0 },
  telephoneEvent: { send: 101, receive: 101, clockRate: 8000 },
  ptimeMs: 20,
  direction: 'sendrecv',
  protection: 'none',
};

export function manualEngine(
  more: Pick<MediaOptions, 'suppressDigits' | 'keepAliveMs' | 'identity' | 'threads'> &
    Partial<Pick<MediaOptions, 'logger'>> = {},
): {
  readonly media: MediaEngine;
  readonly drive: ManualDrive;
} {
  let engine: MediaEngine | undefined;
  const media = createMedia({
    rtpHost: '127.0.0.1',
    publicHost: '198.51.100.1',
    portMin: 20_000,
    portMax: 20_998,
    drive: 'manual',
    wallMs: () => WALL_START + (engine?.manual?.nowMs() ?? 0),
    logger: silentLogger,
    ...more,
  });
  engine = media;
  if (media.manual === undefined) throw new Error('no manual drive');
  return { media, drive: media.manual };
}

/** Sends 20 ms packets of µ-law at exact intervals. */
export class Peer {
  readonly from: { address: string; port: number };
  sequence = 1000;
  timestamp = 50_000;
  readonly ssrc: number;
  readonly #drive: ManualDrive;
  readonly #port: number;

  constructor(
    drive: ManualDrive,
    port: number,
    from = { address: REMOTE.address, port: REMOTE.port },
    ssrc = 0x1234,
  ) {
    this.#drive = drive;
    this.#port = port;
    this.from = from;
    this.ssrc = ssrc;
  }

  send(samples: Int16Array, options: { marker?: boolean } = {}): void {
    this.raw(0, encodeMulaw(samples), options);
    this.timestamp += samples.length;
  }

  /** Sends a packet with the current timestamp, without advancing it. */
  raw(payloadType: number, payload: Uint8Array, options: { marker?: boolean } = {}): void {
    const { sequence, timestamp, ssrc } = this;
    this.#drive.inject(
      this.#port,
      this.from,
      rtp({ payloadType, sequence, timestamp, ssrc, payload, ...options }),
    );
    this.sequence += 1;
  }

  /** Skips a packet, which counts as lost. */
  lose(samples = FRAME): void {
    this.sequence += 1;
    this.timestamp += samples;
  }
}
