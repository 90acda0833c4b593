/**
 * Reads and writes the SDP attributes of ICE (RFC 8839), DTLS-SRTP (RFC 5763, RFC 8122, RFC 8842) and RTCP multiplexing
 * (RFC 5761).
 */
import type {
  Attribute,
  DtlsAssociation,
  DtlsOffer,
  DtlsRole,
  Fingerprint,
  FingerprintHash,
  IceOffer,
  MediaDescription,
  SessionDescription,
} from './types.ts';

/** Digest length in bytes by hash. */
const HASHES: Readonly<Record<FingerprintHash, number>> = {
  'sha-256': 32,
  'sha-384': 48,
  'sha-512': 64,
};
const isHash = (name: string): name is FingerprintHash => Object.hasOwn(HASHES, name);
/** Syntax of RFC 8839 §5.4. */
const UFRAG = /^[A-Za-z0-9+/]{4,256}$/;
const PASSWORD = /^[A-Za-z0-9+/]{22,256}$/;

/** Values of the media line, otherwise of the session (RFC 8839 §5.4, RFC 8122 §5). */
const valuesOf = (session: SessionDescription, media: MediaDescription, name: string): string[] => {
  const among = (attributes: readonly Attribute[]) =>
    attributes.flatMap((attribute) => (attribute.name === name ? [attribute.value ?? ''] : []));
  const own = among(media.attributes);
  return own.length > 0 ? own : among(session.attributes);
};

export function readIce(
  session: SessionDescription,
  media: MediaDescription,
): IceOffer | undefined {
  const [ufrag = ''] = valuesOf(session, media, 'ice-ufrag');
  const [password = ''] = valuesOf(session, media, 'ice-pwd');
  return UFRAG.test(ufrag) && PASSWORD.test(password) ? { ufrag, password } : undefined;
}

/** Returns undefined if there is no fingerprint, or none with a supported hash. */
export function readDtls(
  session: SessionDescription,
  media: MediaDescription,
): DtlsOffer | undefined {
  const fingerprint = valuesOf(session, media, 'fingerprint')
    .map(readFingerprint)
    .find((found) => found !== undefined);
  if (fingerprint === undefined) return undefined;
  const [setup = 'actpass'] = valuesOf(session, media, 'setup');
  return { fingerprint, setup: isSetup(setup) ? setup : 'actpass' };
}

const isSetup = (text: string): text is DtlsOffer['setup'] =>
  text === 'active' || text === 'passive' || text === 'actpass';

/** Parses `sha-256 AB:CD:…`. */
export function readFingerprint(value: string): Fingerprint | undefined {
  const [name = '', hex = ''] = value.split(/[ \t]+/);
  const hash = name.toLowerCase();
  if (!isHash(hash) || !/^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2})+$/.test(hex)) return undefined;
  const bytes = Buffer.from(hex.replaceAll(':', ''), 'hex');
  return bytes.length === HASHES[hash] ? { hash, value: bytes } : undefined;
}

/**
 * Local role for the peer's setup. With `actpass` the current association, which has the same certificate, keeps its
 * roles (RFC 8842 §5.3). A new one has the peer as client, because it knows when the path is open.
 */
export function roleAgainst(
  { setup, fingerprint: { hash, value } }: DtlsOffer,
  current: DtlsAssociation | undefined,
): DtlsRole {
  if (setup !== 'actpass') return setup === 'passive' ? 'client' : 'server';
  const known = current?.fingerprint;
  const isSame = known?.hash === hash && Buffer.compare(known.value, value) === 0;
  return isSame && current !== undefined ? current.role : 'server';
}

export const midOf = (media: MediaDescription): string | undefined =>
  media.attributes.find(({ name }) => name === 'mid')?.value;

/** Returns whether the session bundles this line (RFC 9143). */
export const isBundled = (session: SessionDescription, mid: string | undefined): boolean =>
  mid !== undefined &&
  session.attributes.some(
    ({ name, value = '' }) =>
      name === 'group' && /^BUNDLE /i.test(value) && value.split(/[ \t]+/).includes(mid),
  );

/** Transport parameters of our audio line. */
export interface LocalTransport {
  readonly ice: { readonly ufrag: string; readonly password: string } | undefined;
  readonly dtls:
    | { readonly fingerprint: string; readonly setup: 'actpass' | 'active' | 'passive' }
    | undefined;
  readonly rtcpMux: boolean;
  readonly mid: string | undefined;
}

/** Priority of a host candidate with the highest preference, RTP: 2^24·126 + 2^8·65535 + 255 (RFC 8445 §5.1.2.1). */
const HOST_PRIORITY = 2_130_706_431;

/** Host candidate of the second address, with the next lower local preference (RFC 8421 §4). */
const SECOND_PRIORITY = HOST_PRIORITY - 2 ** 8;

/** Priority of a passive TCP candidate: local preference 2^13·4 + 8191 (RFC 6544 §4.2). It is lower than that of UDP. */
const TCP_PRIORITY = 2_124_414_975;

interface TransportPlace {
  readonly address: string;
  readonly otherAddress?: string | undefined;
  readonly port: number;
  readonly byTcpToo?: boolean;
}

export function transportAttributes(
  { ice, dtls, rtcpMux, mid }: LocalTransport,
  { address, otherAddress, port, byTcpToo = false }: TransportPlace,
): Attribute[] {
  const said: Attribute[] = [];
  const say = (name: string, value?: string): void => void said.push({ name, value });
  if (mid !== undefined) say('mid', mid);
  if (rtcpMux) say('rtcp-mux');
  if (dtls !== undefined) {
    say('fingerprint', dtls.fingerprint);
    say('setup', dtls.setup);
  }
  if (ice !== undefined) {
    say('ice-ufrag', ice.ufrag);
    say('ice-pwd', ice.password);
    say('candidate', `1 1 udp ${HOST_PRIORITY} ${address} ${port} typ host`);
    if (otherAddress !== undefined)
      say('candidate', `3 1 udp ${SECOND_PRIORITY} ${otherAddress} ${port} typ host`);
    if (byTcpToo) {
      say('candidate', `2 1 tcp ${TCP_PRIORITY} ${address} ${port} typ host tcptype passive`);
    }
    say('end-of-candidates');
  }
  return said;
}

/** Session attributes: `ice-lite` (RFC 8839 §5.3) and the bundle group. */
export function sessionAttributes(
  { ice, mid }: LocalTransport,
  { bundled }: { readonly bundled: boolean },
): Attribute[] {
  return [
    ...(ice === undefined ? [] : [{ name: 'ice-lite', value: undefined }]),
    ...(bundled && mid !== undefined ? [{ name: 'group', value: `BUNDLE ${mid}` }] : []),
  ];
}
