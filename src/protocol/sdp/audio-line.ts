/** Reads one audio m-line with session-level defaults applied. */
import { plainAddress } from '../../base/host.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { codecsOf, isComfortNoise, isTelephoneEvent } from './codec.ts';
import { cryptoLines } from './crypto.ts';
import { midOf, readDtls, readIce } from './secure-transport.ts';
import type {
  AddressFamily,
  Attribute,
  AudioOffer,
  Direction,
  MediaDescription,
  RtcpPlace,
  SdpProblem,
  SessionDescription,
} from './types.ts';

/**
 * Supported profiles. `secure` profiles carry keys in the description or use DTLS; AVPF differs only in RTCP timing
 * (RFC 4585).
 */
const PROFILES: Readonly<Record<string, { readonly secure: boolean; readonly dtls?: boolean }>> = {
  'RTP/AVP': { secure: false },
  'RTP/AVPF': { secure: false },
  'RTP/SAVP': { secure: true },
  'RTP/SAVPF': { secure: true },
  'UDP/TLS/RTP/SAVP': { secure: true, dtls: true },
  'UDP/TLS/RTP/SAVPF': { secure: true, dtls: true },
};

const MAX_PORT = 65_535;

/** Name of the XR block in RFC 3611 §5.1. */
export const VOIP_METRICS = 'voip-metrics';

/** Enabled audio lines with a supported profile, in the order of the description. At least one, else an error. */
export function readAudioLines(
  session: SessionDescription,
): Result<readonly AudioOffer[], SdpProblem> {
  const lines: AudioOffer[] = [];
  const problems: SdpProblem[] = [];
  for (const [index, media] of session.media.entries()) {
    if (media.media !== 'audio' || media.port === 0) continue;
    const line = readLine(session, media, index);
    if (line.ok) lines.push(line.value);
    else problems.push(line.error);
  }
  if (lines.length > 0) return ok(lines);
  return err(problems[0] ?? { kind: 'noAudio', detail: 'no enabled audio line' });
}

function readLine(
  session: SessionDescription,
  media: MediaDescription,
  index: number,
): Result<AudioOffer, SdpProblem> {
  const protocol = media.protocol.toUpperCase();
  const profile = PROFILES[protocol];
  if (profile === undefined) {
    return err({ kind: 'unsupportedProtocol', detail: media.protocol });
  }
  const connection = media.connection ?? session.connection;
  if (connection === undefined) return err({ kind: 'malformed', detail: 'no c= line for audio' });
  const address = plainAddress(connection.address);
  if (!isIpAddress(address) && !isHostName(address))
    return err({ kind: 'unsupportedAddress', detail: address });
  const direction = directionOf(media.attributes) ?? directionOf(session.attributes) ?? 'sendrecv';
  const codecs = codecsOf(media);
  const crypto = profile.dtls === true ? [] : cryptoLines(media);
  const ice = readIce(session, media);
  return ok({
    index,
    protocol: media.protocol,
    secure: profile.secure,
    address,
    family: isIpAddress(address) ? familyOf(address) : connection.family,
    port: media.port,
    codecs: codecs.filter((codec) => !isTelephoneEvent(codec) && !isComfortNoise(codec)),
    telephoneEvents: codecs.filter(isTelephoneEvent),
    comfortNoise: codecs.filter(isComfortNoise),
    direction,
    held:
      (isUnspecified(address) && ice === undefined) ||
      direction === 'sendonly' ||
      direction === 'inactive',
    ptimeMs: milliseconds(media.attributes, 'ptime'),
    maxptimeMs: milliseconds(media.attributes, 'maxptime'),
    crypto,
    dtls: profile.secure && crypto.length === 0 ? readDtls(session, media) : undefined,
    ice,
    rtcpMux: media.attributes.some(({ name }) => name === 'rtcp-mux'),
    rtcp: ice === undefined ? rtcpPlace(media, address) : undefined,
    voipMetrics:
      media.attributes.some(wantsVoipMetrics) || session.attributes.some(wantsVoipMetrics),
    mid: midOf(media),
  });
}

/** Reads `a=rtcp` (RFC 3605 §2.1). An invalid port and an unspecified address have no meaning. */
function rtcpPlace({ attributes }: MediaDescription, rtpAddress: string): RtcpPlace | undefined {
  const value = attributes.find(({ name }) => name === 'rtcp')?.value ?? '';
  const [, port = '', stated] = /^([0-9]{1,5})(?: +IN +IP[46] +(\S+))?\s*$/.exec(value) ?? [];
  const isPort = Number(port) > 0 && Number(port) <= MAX_PORT;
  const address = plainAddress(stated ?? rtpAddress);
  if (!isPort || isUnspecified(address)) return undefined;
  return address === rtpAddress ? Number(port) : 'elsewhere';
}

const wantsVoipMetrics = ({ name, value = '' }: Attribute): boolean =>
  name === 'rtcp-xr' && value.split(/[ \t]+/).includes(VOIP_METRICS);

const DIRECTIONS: ReadonlySet<string> = new Set(['sendrecv', 'sendonly', 'recvonly', 'inactive']);

const isDirection = (text: string): text is Direction => DIRECTIONS.has(text);

function directionOf(attributes: readonly Attribute[]): Direction | undefined {
  for (const { name, value } of attributes) {
    if (value === undefined && isDirection(name)) return name;
  }
  return undefined;
}

function milliseconds(attributes: readonly Attribute[], name: string): number | undefined {
  const value = attributes.find((attribute) => attribute.name === name)?.value ?? '';
  // Some peers write fractions ("a=ptime:20.0"), which the grammar of RFC 8866 §6.4 allows.
  return /^[0-9]{1,4}(\.[0-9]*)?$/.test(value) ? Math.floor(Number(value)) : undefined;
}

/** Hold marker of RFC 2543: the unspecified address (RFC 3264 §8.4). */
export const isUnspecified = (address: string): boolean =>
  address === '0.0.0.0' || address === '::';

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);

export const isIpAddress = (text: string): boolean => IPV4.test(text) || isIpv6(text);

const isIpv6 = (text: string): boolean =>
  /^[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*$/.test(text) && (text.match(/:/g)?.length ?? 0) >= 2;

export const familyOf = (address: string): AddressFamily => (address.includes(':') ? 'IP6' : 'IP4');

const HOST_LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** Domain name (RFC 8866 §5.7). A last label of digits is an invalid IPv4 address. */
const HOST_NAME = new RegExp(`^(?:${HOST_LABEL}\\.)*(?=[A-Za-z])${HOST_LABEL}\\.?$`);
const MAX_HOST_NAME = 253;

const isHostName = (text: string): boolean => text.length <= MAX_HOST_NAME && HOST_NAME.test(text);

/** Name of the address family, for messages. */
export const familyName = (address: string): string =>
  familyOf(address) === 'IP6' ? 'IPv6' : 'IPv4';

/** Returns whether audio may flow in this direction, from the local point of view. */
const canSend = (direction: Direction): boolean =>
  direction === 'sendrecv' || direction === 'sendonly';

const canReceive = (direction: Direction): boolean =>
  direction === 'sendrecv' || direction === 'recvonly';

const directionFrom = (send: boolean, receive: boolean): Direction =>
  send ? (receive ? 'sendrecv' : 'sendonly') : receive ? 'recvonly' : 'inactive';

/** Combines the local and remote direction: each side sends only if the other wants to receive (RFC 3264 §6.1). */
export const against = (ours: Direction, theirs: Direction): Direction =>
  directionFrom(canSend(ours) && canReceive(theirs), canReceive(ours) && canSend(theirs));

/**
 * Direction allowed by the peer's line. An unspecified address receives nothing, except with ICE, which finds the
 * address.
 */
export const effectiveDirection = (line: AudioOffer): Direction =>
  isUnspecified(line.address) && line.ice === undefined
    ? directionFrom(canSend(line.direction), false)
    : line.direction;

const DEFAULT_PTIME_MS = 20;
const STEP_MS = 10;
const LONGEST_PTIME_MS = 60;

/**
 * Packet length for sending to that line, in milliseconds: the requested ptime in steps of 10 within 10…60, limited by
 * maxptime.
 */
export function packetTimeMs(line: AudioOffer): number {
  const wanted = Math.min(line.ptimeMs ?? DEFAULT_PTIME_MS, line.maxptimeMs ?? LONGEST_PTIME_MS);
  const stepped = Math.floor(wanted / STEP_MS) * STEP_MS;
  return Math.min(Math.max(stepped, STEP_MS), LONGEST_PTIME_MS);
}
