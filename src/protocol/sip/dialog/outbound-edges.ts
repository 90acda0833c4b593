/** Edge proxies of ours (deploy/kamailio) that take our requests to carriers and others. */
import type { SipRequest } from '../message.ts';
import { bracketed } from '../uri.ts';
import type { EdgePlace, Target } from '../user-agent-types.ts';
import type { Unresponsive } from './unresponsive.ts';

/** One try of a request. */
export interface Attempt {
  /** Whom it is for, where no edge is between: the next hop. */
  readonly target: Target;
  /** The edge that it goes through. */
  readonly edge?: Target;
  /** The edge is told the target; else the request's Route names an edge. */
  readonly isTold?: boolean;
}

/** Each edge asks its nodes by OPTIONS every second: one that did, and has not for so long, is gone. */
const SILENT_MS = 3_500;
const NEXT_HEADER = 'X-Carillon-Next';

export class OutboundEdges {
  readonly #edges: readonly EdgePlace[];
  readonly #unresponsive: Unresponsive;
  readonly #heardMs = new Map<string, number>();

  constructor(edges: readonly EdgePlace[], unresponsive: Unresponsive) {
    this.#edges = edges;
    this.#unresponsive = unresponsive;
  }

  /** A message came from that address. */
  heard(address: string, nowMs: number): void {
    if (this.#edges.some((edge) => edge.address === address)) this.#heardMs.set(address, nowMs);
  }

  /** It has asked before, and no more. One that never asked may be there all the same. */
  isSilent({ address }: EdgePlace, nowMs: number): boolean {
    const heardMs = this.#heardMs.get(address);
    return heardMs !== undefined && nowMs - heardMs > SILENT_MS;
  }

  /** Every target by every edge, the edges that live first; TLS goes to its peer itself, whose certificate we check by name. */
  toOthers(targets: readonly Target[], isLarge: boolean, nowMs: number): readonly Attempt[] {
    const hops = this.#inOrder(this.#hops(isLarge ? ['tcp', 'udp'] : ['udp']), nowMs);
    return targets.flatMap((target) =>
      target.transport === 'tls'
        ? [{ target }]
        : hops.map((edge) => ({ target, edge, isTold: true })),
    );
  }

  /** A Route that names one of them is read by the others too: they are tried after it, or before it where it does not live. */
  within(targets: readonly Target[], nowMs: number): readonly Attempt[] {
    return targets.flatMap((target) => {
      const others = this.#otherThan(target);
      const hops = others === undefined ? [] : this.#inOrder([target, ...others], nowMs);
      return hops.length === 0 ? [{ target }] : hops.map((edge) => ({ target, edge }));
    });
  }

  /** The best of `within`. */
  living(target: Target, nowMs: number): Target {
    return this.within([target], nowMs)[0]?.edge ?? target;
  }

  #hops(transports: readonly ('tcp' | 'udp')[]): Target[] {
    return this.#edges.flatMap(({ address, port }) =>
      transports.map((transport) => ({ transport, address, port })),
    );
  }

  /** Undefined: it is none of them. */
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

/** Tells the edge where the request goes, and how long it waits for any answer from there. */
export function toldTo(request: SipRequest, { transport, address, port }: Target, waitMs: number) {
  const next = `${transport} ${bracketed(address)} ${port} ${Math.round(waitMs)}`;
  return request.withHeader(NEXT_HEADER, next);
}
