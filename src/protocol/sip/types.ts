/** The transports of SIP and their properties, in one table. */

interface TransportProperties {
  /** True if requests need no retransmission (RFC 3261 §17). */
  readonly isReliable: boolean;
  readonly isSecure: boolean;
  /** True if the peer may be a browser, which is reachable only over its connection (RFC 7118 §5). */
  readonly isWebSocket: boolean;
  /** Value of the `transport` parameter of URIs. WebSocket has one name, with or without TLS (RFC 7118 §5.2). */
  readonly uriName: string;
  /** Default port of RFC 3261 §19.1.2 and RFC 7118 §4.2. */
  readonly defaultPort: number;
  /** Transport of a `sips:` URI with this transport parameter (RFC 3261 §26.2.2, RFC 7118 §5.2). Undefined: none. */
  readonly secured: 'tls' | 'wss' | undefined;
  /** NAPTR service and SRV prefix (RFC 3263 §4.1). Undefined: not found by DNS. */
  readonly dns: { readonly naptr: string; readonly srv: string } | undefined;
}

export const TRANSPORTS = {
  udp: {
    isReliable: false,
    isSecure: false,
    isWebSocket: false,
    uriName: 'udp',
    defaultPort: 5060,
    secured: undefined,
    dns: { naptr: 'SIP+D2U', srv: '_sip._udp.' },
  },
  tcp: {
    isReliable: true,
    isSecure: false,
    isWebSocket: false,
    uriName: 'tcp',
    defaultPort: 5060,
    secured: 'tls',
    dns: { naptr: 'SIP+D2T', srv: '_sip._tcp.' },
  },
  tls: {
    isReliable: true,
    isSecure: true,
    isWebSocket: false,
    uriName: 'tls',
    defaultPort: 5061,
    secured: 'tls',
    dns: { naptr: 'SIPS+D2T', srv: '_sips._tcp.' },
  },
  ws: {
    isReliable: true,
    isSecure: false,
    isWebSocket: true,
    uriName: 'ws',
    defaultPort: 80,
    secured: 'wss',
    dns: undefined,
  },
  wss: {
    isReliable: true,
    isSecure: true,
    isWebSocket: true,
    uriName: 'ws',
    defaultPort: 443,
    secured: 'wss',
    dns: undefined,
  },
} as const satisfies Readonly<Record<string, TransportProperties>>;

export type SipTransportName = keyof typeof TRANSPORTS;

const isTransport = (text: string): text is SipTransportName => Object.hasOwn(TRANSPORTS, text);

/** All transports. */
export const TRANSPORT_NAMES: readonly SipTransportName[] =
  Object.keys(TRANSPORTS).filter(isTransport);

/** Returns a record with one value for each transport. */
export function mapTransports<T>(
  make: (name: SipTransportName) => T,
): Readonly<Record<SipTransportName, T>> {
  const values = Object.fromEntries(TRANSPORT_NAMES.map((name) => [name, make(name)]));
  return values as Record<SipTransportName, T>;
}

/** Returns the transport with that lower-case name. */
export const transportNamed = (text: string): SipTransportName | undefined =>
  isTransport(text) ? text : undefined;

export const isReliable = (transport: SipTransportName): boolean =>
  TRANSPORTS[transport].isReliable;

/** Returns whether the transport uses TLS. */
export const isSecure = (transport: SipTransportName): boolean => TRANSPORTS[transport].isSecure;

export const isWebSocket = (transport: SipTransportName): boolean =>
  TRANSPORTS[transport].isWebSocket;

export const defaultPort = (transport: SipTransportName): number =>
  TRANSPORTS[transport].defaultPort;
