/** Edge proxies (deploy/kamailio) that forward our requests to carriers and other peers. */
import type { SipRequest } from '../message.ts';
import { bracketed } from '../uri.ts';
import type { EdgePlace, Target } from '../user-agent-types.ts';
import type { Unresponsive } from './unresponsive.ts';

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
