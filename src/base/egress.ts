import type { Result } from './result.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** The host of a URL without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

/** The shape of `lookup` in node:net, node:tls and the clients on top of them. */
export type AddressLookup = (
  hostname: string,
  options: { readonly all?: boolean | undefined },
  callback: (
    error: NodeJS.ErrnoException | null,
    address: string | { address: string; family: number }[],
    family?: number,
  ) => void,
) => void;

/**
 * The one guard for everything that leaves towards a customer: callbacks, audio streams, audio fetches. It refuses private,
 * loopback and other special addresses unless the operator allowed them, after resolution and at every hop.
 */
export interface EgressGuard {
  /**
   * Why a URL may not be called, as far as it can be told without resolving: scheme, missing encryption, an address in place
   * of a name. Clients do not ask `lookup` about addresses, so this has to be asked before every connection.
   */
  refuses(url: string | URL): string | undefined;
  /**
   * Hands out only permitted addresses, so that what was checked is what is connected to, whatever the name server says
   * next time. Fails with ServiceError EGRESS_REFUSED when none of the addresses is permitted.
   */
  readonly lookup: AddressLookup;
  /** Both together, for callers that want to know beforehand; the error says why not. */
  check(url: string): Promise<Result<readonly ResolvedAddress[], string>>;
}

/** Where packets would go. */
export interface Place {
  readonly address: string;
  readonly port: number;
}

/** What is known of a destination that a customer named. */
export interface Destination extends Place {
  /** The host that was asked for, where the address is an answer of DNS. */
  readonly name?: string | undefined;
  /** Where the peer itself was heard, by a call or a registration: it is answered there. */
  readonly heardAt: readonly Place[];
  /** Addresses, ranges and names that the operator allows for this destination besides `egress.allow`. */
  readonly allow: readonly string[];
}

/** `learn`: nothing is sent there; the peer's own packets show where it is. `refuse`: no peer can be there. */
export type RtpVerdict =
  | { readonly kind: 'send'; readonly rtcp?: 'learn' }
  | { readonly kind: 'learn'; readonly why: string; readonly rtcp?: 'learn' }
  | { readonly kind: 'refuse'; readonly why: string };

/** The guard of `EgressGuard` for what is no URL: SIP and RTP towards customers. */
export interface DestinationGuard {
  /** Why no SIP may be sent there; undefined: it may. */
  refusesSip(destination: Destination): string | undefined;
  /** What becomes of an address in a peer's SDP, whose RTCP would go to `rtcpPort` there. */
  judgeRtp(destination: Destination, rtcpPort: number): RtpVerdict;
  /** An address of this machine, or one under which the service is known outside. */
  isOwn(address: string): boolean;
}
