/** Builds the parts that local offers and answers share. */

import { familyOf, VOIP_METRICS } from './audio-line.ts';
import { isLowerCase } from './codec.ts';
import { writeCryptoLine } from './crypto.ts';
import { type LocalTransport, transportAttributes } from './secure-transport.ts';
import { serializeSdp } from './serialize.ts';
import type { Attribute, Codec, CryptoLine, Direction, MediaDescription } from './types.ts';

export interface LocalEndpoint {
  /** Local address for RTP: an IP address without brackets. */
  readonly address: string;
  /** ICE: an address of the other family at the same port. */
  readonly otherAddress?: string | undefined;
  readonly port: number;
  /** ICE: true if TCP connections are accepted too (RFC 6544). */
  readonly byTcpToo?: boolean;
  /** Session ID chosen by the caller, constant for the session (RFC 8866 §5.2). */
  readonly sessionId: number;
  /** Version number, incremented by one with every change of the description (RFC 3264 §8); see `revise`. */
  readonly version: number;
  /** Packet length requested from the peer, in milliseconds. */
  readonly ptimeMs: number;
}

/** Parts of a local audio line other than its address and port. */
export interface AudioLineParts {
  readonly codecs: readonly Codec[];
  readonly direction: Direction;
  readonly protocol: string;
  /** Local keys in order of preference; empty for plain RTP or keys by DTLS. */
  readonly crypto: readonly LocalCrypto[];
  readonly transport: LocalTransport;
  /** True if RTCP reports will include VoIP metrics (RFC 3611 §5.1). */
  readonly voipMetrics?: boolean;
}

/** Local key with the tag of its line. */
export type LocalCrypto = Omit<CryptoLine, 'mkiBytes'>;

export function audioMedia(
  local: LocalEndpoint,
  { codecs, direction, protocol, crypto, transport, voipMetrics = false }: AudioLineParts,
): MediaDescription {
  const attributes: Attribute[] = crypto.map((line) => ({
    name: 'crypto',
    value: writeCryptoLine(line),
  }));
  for (const codec of codecs) {
    const channels = codec.channels === 1 ? '' : `/${codec.channels}`;
    const name = isLowerCase(codec) ? codec.name.toLowerCase() : codec.name;
    const map = `${codec.payloadType} ${name}/${codec.clockRateHz}${channels}`;
    attributes.push({ name: 'rtpmap', value: map });
    if (codec.fmtp !== '') {
      attributes.push({ name: 'fmtp', value: `${codec.payloadType} ${codec.fmtp}` });
    }
  }
  attributes.push(...transportAttributes(transport, local));
  if (voipMetrics) attributes.push({ name: 'rtcp-xr', value: VOIP_METRICS });
  attributes.push({ name: 'ptime', value: String(local.ptimeMs) });
  attributes.push({ name: direction, value: undefined });
  return {
    media: 'audio',
    port: local.port,
    protocol,
    formats: codecs.map((codec) => String(codec.payloadType)),
    connection: undefined,
    bandwidth: [],
    attributes,
  };
}

/** Declines a medium with port 0 (RFC 3264 §6). The grammar requires the protocol and one format. */
export const declined = (media: MediaDescription): MediaDescription => ({
  ...media,
  port: 0,
  formats: media.formats.slice(0, 1),
  connection: undefined,
  bandwidth: [],
  attributes: media.attributes.filter(({ name }) => name === 'mid'),
});

export function localDescription(
  local: LocalEndpoint,
  media: readonly MediaDescription[],
  { times, attributes = [] }: { times: readonly string[]; attributes?: readonly Attribute[] },
): string {
  const family = familyOf(local.address);
  return serializeSdp({
    origin: {
      username: '-',
      sessionId: String(local.sessionId),
      sessionVersion: String(local.version),
      family,
      address: local.address,
    },
    sessionName: '-',
    connection: { family, address: local.address },
    bandwidth: [],
    times,
    attributes,
    media,
  });
}
