/** Our side of a description: the lines that offers and answers of ours have in common. */
import { familyOf, VOIP_METRICS } from './audio-line.ts';
import { writeCryptoLine } from './crypto.ts';
import { type LocalTransport, transportAttributes } from './secure-transport.ts';
import { serializeSdp } from './serialize.ts';
import type { Attribute, Codec, CryptoLine, Direction, MediaDescription } from './types.ts';

export interface LocalEndpoint {
  /** Where we receive RTP: an IP address without brackets. */
  readonly address: string;
  readonly port: number;
  /** ICE: connections are taken there too (RFC 6544). */
  readonly byTcpToo?: boolean;
  /** Chosen by the caller once per session, and kept (RFC 8866 §5.2). */
  readonly sessionId: number;
  /** Raised by one with every change of what we say (RFC 3264 §8); see `revise`. */
  readonly version: number;
  /** What we ask the peer to send. */
  readonly ptimeMs: number;
}

/** What an audio line of ours says beside where it is. */
export interface AudioLineParts {
  readonly codecs: readonly Codec[];
  readonly direction: Direction;
  readonly protocol: string;
  /** Our keys, in our order; none: plain RTP, or keys by DTLS. */
  readonly crypto: readonly LocalCrypto[];
  readonly transport: LocalTransport;
  /** Reports with VoIP metrics will come (RFC 3611 §5.1). */
  readonly voipMetrics?: boolean;
}

/** A key of ours, under the tag of its line. */
export type LocalCrypto = Omit<CryptoLine, 'mkiBytes'>;

/** As everybody writes them; some peers compare letter by letter. */
const LOWER_CASE: ReadonlySet<string> = new Set(['TELEPHONE-EVENT', 'OPUS']);

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
    const name = LOWER_CASE.has(codec.name) ? codec.name.toLowerCase() : codec.name;
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

/** Port 0 declines a medium (RFC 3264 §6); protocol and one format are repeated because the grammar wants them. */
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
