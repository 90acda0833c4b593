import type { Flow, SipTransportName } from '../transport/flow.ts';
import { parseUri, type SipUri, unbracketed } from '../uri.ts';
import type { DestinationGuard, Target, TargetQuery } from '../user-agent-types.ts';

/** Destination of a request: an existing flow, or the location of a URI according to RFC 3263. */
export type Destination =
  | { readonly kind: 'flow'; readonly flow: Flow }
  | {
      readonly kind: 'uri';
      readonly uri: string;
      readonly transport: SipTransportName | undefined;
      /** True if a request above 1300 bytes tries TCP before UDP. Default: true if `transport` is undefined. */
      readonly largeOverTcp?: boolean | undefined;
      /** Guard for the destination; undefined for a destination configured by the operator. */
      readonly guard?: DestinationGuard | undefined;
      /** True if an edge proxy, if configured, forwards the request. Not used for phones and other nodes. */
      readonly viaEdges?: boolean | undefined;
      /** Flow on which the peer was received, used if sending to the URI is not allowed. */
      readonly otherwise?: Flow | undefined;
    };
export type UriDestination = Extract<Destination, { kind: 'uri' }>;

/** Location of a URI: an address, or a DNS query to resolve. */
export type NextHop =
  | { readonly kind: 'target'; readonly target: Target; readonly transportIsOpen: boolean }
  | { readonly kind: 'query'; readonly query: TargetQuery; readonly transportIsOpen: boolean };

const TRANSPORTS: Readonly<Record<string, SipTransportName>> = {
  udp: 'udp',
  tcp: 'tcp',
  tls: 'tls',
  ws: 'ws',
  wss: 'wss',
};
/** Transports of a `sips:` URI: TLS over the transport parameter (RFC 3261 §26.2.2, RFC 7118 §5.2). */
const SECURED: Readonly<Partial<Record<SipTransportName, SipTransportName>>> = {
  tcp: 'tls',
  tls: 'tls',
  ws: 'wss',
  wss: 'wss',
};
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** Default ports of RFC 3261 §19.1.2 and RFC 7118 §4.2. */
export function defaultPort(transport: SipTransportName): number {
  if (transport === 'ws') return 80;
  if (transport === 'wss') return 443;
  return transport === 'tls' ? 5061 : 5060;
}

/**
 * First step of RFC 3263 §4.1: takes the transport from the URI or the caller and skips DNS for numeric hosts. Returns
 * undefined if the URI cannot be routed. `transportIsOpen` is true if neither the URI nor the caller names a transport.
 * A guarded numeric address also becomes a query, which checks whether it is allowed.
 */
export function nextHopOf(
  uriText: string,
  wanted: SipTransportName | undefined,
  guard?: DestinationGuard,
): NextHop | undefined {
  const uri = parseUri(uriText);
  if (uri === undefined || uri.kind !== 'sip') return undefined;
  const named = transportOf(uri);
  if (named === 'unknown') return undefined;
  // A `sips:` URI always requires TLS, whatever transport the peer used (RFC 5630 §3.3).
  const transport = named ?? (uri.secure ? 'tls' : wanted);
  const host = unbracketed(uri.params.get('maddr') ?? uri.host);
  // Browsers use `.invalid` names, which DNS cannot resolve (RFC 6761 §6.4). They are reached on their flow (RFC 7118
  // §5.1).
  if (host.toLowerCase().endsWith('.invalid')) return undefined;
  const transportIsOpen = transport === undefined;
  if (!IPV4.test(host) && !host.includes(':')) {
    const query = { host, port: uri.port, transport, secure: uri.secure };
    return { kind: 'query', query, transportIsOpen };
  }
  const chosen = transport ?? 'udp';
  const port = uri.port ?? defaultPort(chosen);
  if (guard !== undefined) {
    const query = { host, port, transport: chosen, secure: uri.secure };
    return { kind: 'query', query, transportIsOpen };
  }
  return { kind: 'target', target: { transport: chosen, address: host, port }, transportIsOpen };
}

function transportOf(uri: SipUri): SipTransportName | 'unknown' | undefined {
  const name = uri.params.get('transport')?.toLowerCase();
  if (name === undefined) return undefined;
  const known = TRANSPORTS[name];
  if (known === undefined) return 'unknown';
  return uri.secure ? (SECURED[known] ?? 'unknown') : known;
}
