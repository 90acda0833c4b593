/** Commands to a user agent and the destinations of its requests. */
import type { LegId } from '../../base/ids.ts';
import type { DigestAccount } from './auth/client-auth.ts';
import type { HeaderInit } from './message.ts';
import type { SipTransportName } from './types.ts';

/** Address and port to send a request to (RFC 3263). */
export interface Target {
  readonly transport: SipTransportName;
  readonly address: string;
  readonly port: number;
  /** Host of the URI, which a TLS peer must prove (RFC 5922 §4). Undefined requires the address instead. */
  readonly name?: string;
}

/** Address from which a peer was received. */
export interface ReceivedAt {
  readonly address: string;
  readonly port: number;
}

/**
 * Restricts a destination that a customer chose, or a customer's peer. The owner of the sockets checks it before
 * anything is sent there. Destinations without a guard are configured by the operator: carriers and registrars.
 */
export interface DestinationGuard {
  /** Source addresses of the peer's call or registration; responses to them are allowed. */
  readonly receivedAt: readonly ReceivedAt[];
  /** Additional addresses, ranges and names that the operator allows for this destination. */
  readonly allow: readonly string[];
  /** Carrier that named the destination; addresses of the carrier are allowed. */
  readonly carrier?: string;
}

export interface TargetQuery {
  readonly host: string;
  readonly port: number | undefined;
  /** Transport; undefined lets NAPTR and SRV choose. */
  readonly transport: SipTransportName | undefined;
  readonly secure: boolean;
}

/** Targets, best first. `refusal` says why none of them is allowed; `targets` is then empty. */
export interface Resolution {
  readonly targets: readonly Target[];
  readonly refusal?: string | undefined;
}

/** Destination of an outbound INVITE. */
export type InviteTarget =
  /** All current contacts of a registered user, in parallel. */
  /** `secure` selects only contacts registered with `sips:` (RFC 5630 §5.1). */
  | { readonly kind: 'registered'; readonly username: string; readonly secure?: boolean }
  | {
      readonly kind: 'uri';
      /** Request-URI and To. */
      readonly uri: string;
      /** Registrar of our registration; the request uses the Service-Route that it returned (RFC 3608). */
      readonly registrar?: string;
      /** URI of an outbound proxy; it is not written into the request. */
      readonly nextHop?: string;
      readonly transport?: SipTransportName;
      /** True if a request above 1300 bytes over UDP tries TCP first, whatever `transport` says (RFC 3261 §18.1.1). */
      readonly largeOverTcp?: boolean;
      /** Guard for a URI that a customer chose. */
      readonly guard?: DestinationGuard;
      /** True if later requests in the dialog go to the source of its response, not to its Contact. Default: false. */
      readonly viaFlow?: boolean;
    };

export interface InviteCommand {
  readonly kind: 'invite';
  readonly leg: LegId;
  readonly target: InviteTarget;
  readonly from: { readonly user: string; readonly host: string; readonly displayName: string };
  readonly callId: string;
  /** Offer. If undefined, the called party makes the offer in `connected`, and `acknowledge` answers it. */
  readonly sdp: string | undefined;
  /** Offer for destinations with IPv6. Each attempt has the offer of its address family. Default: `sdp`. */
  readonly sdp6?: string | undefined;
  readonly headers: HeaderInit;
  readonly account: DigestAccount | undefined;
  /** Max-Forwards. Default: 70. */
  readonly maxForwards?: number | undefined;
  /**
   * Time limits in milliseconds for any response and for the answer, except for registered users. Default: the limit of
   * RFC 3261, and no limit.
   */
  readonly firstResponseMs?: number | undefined;
  readonly answerMs?: number | undefined;
}

/** Refuses an unanswered INVITE, or ends an answered call with a reason. */
export interface HangupCommand {
  readonly kind: 'hangup';
  readonly leg: LegId;
  readonly status: number;
  /** Reason header field (RFC 3326) for BYE and CANCEL. */
  readonly reason: string | undefined;
  /** Reason phrase of a refusal. Default: the registered phrase of the status. */
  readonly phrase?: string | undefined;
  /** Warning header field of a refusal (RFC 3261 §20.43). */
  readonly warning?: { readonly code: number; readonly text: string } | undefined;
}

export interface RegisterCommand {
  readonly kind: 'register';
  readonly registration: number;
  /** Address of record, `sip:user@host`. */
  readonly aor: string;
  /** URI of the registrar. */
  readonly registrar: string;
  readonly transport?: SipTransportName;
  readonly account: DigestAccount;
  /** Expiry in seconds. */
  readonly expires: number;
}

/** Final answer to a MESSAGE of a peer. */
export interface MessageAnswer {
  readonly kind: 'answerMessage';
  readonly id: number;
  readonly status: number;
  /** Retry-After in seconds. */
  readonly retryAfter?: number | undefined;
  /** Explanation for a Warning header field. */
  readonly why?: string | undefined;
}

/** Sends a MESSAGE to all contacts of a user. `messageSent` reports the best response. */
export interface MessageCommand {
  readonly kind: 'sendMessage';
  readonly id: number;
  readonly username: string;
  readonly from: { readonly user: string; readonly host: string; readonly displayName: string };
  readonly headers: HeaderInit;
  readonly contentType: string;
  readonly body: Uint8Array;
}
