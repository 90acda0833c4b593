/** Codecs of the ends of a measured call, and minimal SDP for them. */
import type { SessionCodec } from '../../src/domain/call/needs.ts';

export const HOST = '127.0.0.1';

export interface Side {
  readonly codec: SessionCodec;
  /** Its own number for the codec. */
  readonly payloadType: number;
  /** Encoding name of `a=rtpmap`. */
  readonly encoding: string;
}

export const PCMU: Side = {
  codec: { name: 'PCMU', clockRate: 8000, sampleRate: 8000, channels: 1 },
  payloadType: 0,
  encoding: 'PCMU/8000',
};
export const PCMA: Side = {
  codec: { name: 'PCMA', clockRate: 8000, sampleRate: 8000, channels: 1 },
  payloadType: 8,
  encoding: 'PCMA/8000',
};
export const OPUS: Side = {
  codec: {
    name: 'OPUS',
    clockRate: 48_000,
    sampleRate: 24_000,
    channels: 1,
    opus: { bitrate: 0, fec: true, dtx: false },
  },
  payloadType: 96,
  encoding: 'opus/48000/2',
};

/** One audio line with this codec alone. */
export function sdpOf(side: Side, port: number, payloadType = side.payloadType): string {
  return [
    'v=0',
    `o=- 1 1 IN IP4 ${HOST}`,
    's=-',
    `c=IN IP4 ${HOST}`,
    't=0 0',
    `m=audio ${port} RTP/AVP ${payloadType}`,
    `a=rtpmap:${payloadType} ${side.encoding}`,
    'a=ptime:20',
    'a=sendrecv',
    '',
  ].join('\r\n');
}

export function audioPort(sdp: string): number {
  const port = Number(/^m=audio (\d+) /m.exec(sdp)?.[1] ?? 0);
  if (port === 0) throw new Error(`no audio in ${sdp}`);
  return port;
}

/** Returns the payload type of the codec in `sdp`, or the static payload type if `a=rtpmap` is missing (RFC 3551). */
export function payloadTypeIn(sdp: string, side: Side): number {
  const named = new RegExp(`^a=rtpmap:(\\d+) ${side.encoding}\\s*$`, 'im').exec(sdp);
  return Number(named?.[1] ?? side.payloadType);
}
