import { bracketed, plainAddress, unbracketed } from '../../../base/host.ts';
import type { SipRequest } from '../message.ts';
import type { Flow } from '../transport/flow.ts';
import { defaultPort, type SipTransportName, TRANSPORTS, transportNamed } from '../types.ts';
import { parseUri, type SipUri } from '../uri.ts';
import type { DestinationGuard, EdgePlace, Target, TargetQuery } from '../user-agent-types.ts';

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

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

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
  const host = plainAddress(unbracketed(uri.params.get('maddr') ?? uri.host));
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
  const known = transportNamed(name);
  if (known === undefined) return 'unknown';
  return uri.secure ? (TRANSPORTS[known].secured ?? 'unknown') : known;
}

/** Time in milliseconds for which an unresponsive target is tried last. */
const REMEMBERED_MS = 60_000;
/** Maximum Retry-After in milliseconds. */
const LONGEST_MS = 600_000;
const MAX_REMEMBERED = 1000;

const keyOf = ({ transport, address, port }: Target): string => `${transport} ${address} ${port}`;

/**
 * Targets that did not respond recently or sent Retry-After. Among the addresses of one name they are tried last (RFC
 * 3263 §4.3).
 */
export class Unresponsive {
  /** Expiry by target, in the order of insertion. */
  readonly #untilMs = new Map<string, number>();

  note(target: Target, nowMs: number, forMs = REMEMBERED_MS): void {
    const key = keyOf(target);
    this.#untilMs.delete(key);
    this.#untilMs.set(key, nowMs + Math.min(forMs, LONGEST_MS));
    const [oldest] = this.#untilMs.keys();
    if (this.#untilMs.size > MAX_REMEMBERED && oldest !== undefined) this.#untilMs.delete(oldest);
  }

  /** Removes a target that has responded. */
  forget(target: Target): void {
    if (this.#untilMs.size > 0) this.#untilMs.delete(keyOf(target));
  }

  /** Returns the targets with unresponsive ones at the end. */
  inOrder(targets: readonly Target[], nowMs: number): Target[] {
    if (this.#untilMs.size === 0 || targets.length < 2) return [...targets];
    const isOut = (target: Target): boolean => (this.#untilMs.get(keyOf(target)) ?? 0) > nowMs;
    return [...targets.filter((target) => !isOut(target)), ...targets.filter(isOut)];
  }
}

/** Alternatives of a target for a request that is too large for UDP (RFC 3261 §18.1.1). */
export const withTcpFirst = (target: Target): readonly Target[] =>
  target.transport === 'udp' ? [{ ...target, transport: 'tcp' }, target] : [target];

/** Edge proxies (deploy/kamailio) that forward our requests to carriers and other peers. */

/** One attempt to send a request. */
export interface Attempt {
  /** Next hop after the edge proxy, or the only hop without one. */
  readonly target: Target;
  /** Edge proxy for this attempt. */
  readonly edge?: Target;
  /** True if the request carries the target for the edge proxy. Otherwise its Route already names an edge. */
  readonly isReported?: boolean;
}

/**
 * Time without OPTIONS after which an edge counts as failed, in milliseconds. Each edge sends OPTIONS to its nodes
 * every second.
 */
const SILENT_MS = 3_500;
const NEXT_HEADER = 'X-Carillon-Next';

export class OutboundEdges {
  readonly #edges: readonly EdgePlace[];
  readonly #unresponsive: Unresponsive;
  readonly #receivedMs = new Map<string, number>();

  constructor(edges: readonly EdgePlace[], unresponsive: Unresponsive) {
    this.#edges = edges;
    this.#unresponsive = unresponsive;
  }

  /** Records a message from that address. */
  received(address: string, nowMs: number): void {
    if (this.#edges.some((edge) => edge.address === address)) this.#receivedMs.set(address, nowMs);
  }

  /** Returns true if the edge sent OPTIONS before and has stopped. An edge that never sent any may still work. */
  isSilent({ address }: EdgePlace, nowMs: number): boolean {
    const receivedMs = this.#receivedMs.get(address);
    return receivedMs !== undefined && nowMs - receivedMs > SILENT_MS;
  }

  /**
   * Attempts for every target through every edge, live edges first. TLS bypasses the edges, because we verify the
   * peer's certificate by name.
   */
  toOthers(targets: readonly Target[], isLarge: boolean, nowMs: number): readonly Attempt[] {
    const hops = this.#inOrder(this.#hops(isLarge ? ['tcp', 'udp'] : ['udp']), nowMs);
    return targets.flatMap((target) =>
      target.transport === 'tls'
        ? [{ target }]
        : hops.map((edge) => ({ target, edge, isReported: true })),
    );
  }

  /**
   * Attempts for a Route that names an edge. Other edges can use the same Route: they follow it, or precede it if it
   * has failed.
   */
  within(targets: readonly Target[], nowMs: number): readonly Attempt[] {
    return targets.flatMap((target) => {
      const others = this.#otherThan(target);
      const hops = others === undefined ? [] : this.#inOrder([target, ...others], nowMs);
      return hops.length === 0 ? [{ target }] : hops.map((edge) => ({ target, edge }));
    });
  }

  /** First attempt of `within`. */
  living(target: Target, nowMs: number): Target {
    return this.within([target], nowMs)[0]?.edge ?? target;
  }

  #hops(transports: readonly ('tcp' | 'udp')[]): Target[] {
    return this.#edges.flatMap(({ address, port }) =>
      transports.map((transport) => ({ transport, address, port })),
    );
  }

  /** Alternatives to an edge, or undefined if the target is not an edge. */
  #otherThan({ transport, address, port }: Target): Target[] | undefined {
    const isIt = (edge: EdgePlace): boolean => edge.address === address && edge.port === port;
    if (!this.#edges.some(isIt)) return undefined;
    return this.#edges.filter((edge) => !isIt(edge)).map((edge) => ({ transport, ...edge }));
  }

  #inOrder(hops: readonly Target[], nowMs: number): Target[] {
    const known = this.#unresponsive.inOrder(hops, nowMs);
    const isSilent = (edge: Target): boolean => this.isSilent(edge, nowMs);
    return [...known.filter((edge) => !isSilent(edge)), ...known.filter(isSilent)];
  }
}

/** Adds the target and the response timeout as header fields for the edge proxy. */
export function reportedTo(
  request: SipRequest,
  { transport, address, port }: Target,
  waitMs: number,
) {
  const next = `${transport} ${bracketed(address)} ${port} ${Math.round(waitMs)}`;
  return request.withHeader(NEXT_HEADER, next);
}
