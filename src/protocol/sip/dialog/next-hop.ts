import type { Flow, SipTransportName } from '../transport/flow.ts';
import { parseUri, type SipUri, unbracketed } from '../uri.ts';
import type { DestinationGuard, Target, TargetQuery } from '../user-agent-types.ts';

/** Where a request goes: over a flow that is there, or wherever RFC 3263 says for a URI. */
export type Destination =
  | { readonly kind: 'flow'; readonly flow: Flow }
  | {
      readonly kind: 'uri';
      readonly uri: string;
      readonly transport: SipTransportName | undefined;
      /** A request above 1300 bytes is tried over TCP first where it would go over UDP. Default: where `transport` is undefined. */
      readonly largeOverTcp?: boolean | undefined;
      /** Undefined: the operator's own destination. */
      readonly guard?: DestinationGuard | undefined;
      /** By an edge of ours, where there is one: to whoever is no phone, and no node of ours. */
      readonly viaEdges?: boolean | undefined;
      /** The way that the peer itself came, for a URI that may not be sent to. */
      readonly otherwise?: Flow | undefined;
    };
export type UriDestination = Extract<Destination, { kind: 'uri' }>;

/** Where a URI leads: an address at once, or a question to DNS. */
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
/** Transports of a `sips:` URI: TLS over what its parameter names (RFC 3261 §26.2.2, RFC 7118 §5.2). */
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
 * The first step of RFC 3263 §4.1: transport from the URI or the caller, numeric hosts without DNS. Undefined when
 * the URI is none that can be routed. `transportIsOpen`: nobody asked for a transport. A guarded address is a question too:
 * whether it may be sent to.
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
  // A secure URI is never sent to without TLS, whatever the peer came over (RFC 5630 §3.3).
  const transport = named ?? (uri.secure ? 'tls' : wanted);
  const host = unbracketed(uri.params.get('maddr') ?? uri.host);
  // No name server knows these (RFC 6761 §6.4): browsers write them, and are answered on their flow (RFC 7118 §5.1).
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
