import { unbracketed } from './host.ts';
import type { Result } from './result.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Returns the host of a URL, without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string => unbracketed(url.hostname);

/** Type of `lookup` in node:net, node:tls and the clients built on them. */
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
 * Guard for all HTTP and WebSocket traffic to customers: callbacks, audio streams, audio fetches. It refuses private,
 * loopback and other special addresses unless the operator allows them. It checks after name resolution and at every
 * redirect.
 */
export interface EgressGuard {
  /**
   * Returns why a URL may not be called, as far as known without resolution: scheme, missing encryption, an address
   * as host. Clients do not call `lookup` for addresses, so this must be checked before every connection.
   */
  refuses(url: string | URL): string | undefined;
  /**
   * Returns only permitted addresses, so that the client connects to a checked address. Fails with ServiceError
   * EGRESS_REFUSED if no address is permitted.
   */
  readonly lookup: AddressLookup;
  /** Runs both checks in advance. The error gives the reason. */
  check(url: string): Promise<Result<readonly ResolvedAddress[], string>>;
}

/** Destination address and port of packets. */
export interface Place {
  readonly address: string;
  readonly port: number;
}

/** A destination named by a customer. */
export interface Destination extends Place {
  /** Host name from which DNS resolved the address. */
  readonly name?: string | undefined;
  /** Source addresses from which the peer sent a call or registration. Responses are allowed there. */
  readonly receivedAt: readonly Place[];
  /** Addresses, ranges and names that the operator allows for this destination, in addition to `egress.allow`. */
  readonly allow: readonly string[];
}

/** `learn`: the service sends nothing to that address and learns the real one from the peer's own packets. */
export type RtpVerdict =
  | { readonly kind: 'send'; readonly rtcp?: 'learn' }
  | { readonly kind: 'learn'; readonly why: string; readonly rtcp?: 'learn' }
  | { readonly kind: 'refuse'; readonly why: string };

/** Guard for SIP and RTP traffic to customers, as `EgressGuard` is for URLs. */
export interface DestinationGuard {
  /** Returns why SIP may not be sent there, or undefined if it may. */
  refusesSip(destination: Destination): string | undefined;
  /** Decides how to treat an address in a peer's SDP whose RTCP would go to `rtcpPort`. */
  judgeRtp(destination: Destination, rtcpPort: number): RtpVerdict;
  /** Returns the IP addresses of a host name, which must still be judged. Rejects if it has none. */
  addressesOf(name: string): Promise<readonly string[]>;
  /** Returns whether the address is one of this machine or a public address of the service. */
  isOwn(address: string): boolean;
}
