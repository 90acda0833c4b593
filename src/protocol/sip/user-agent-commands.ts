/** Where a user agent is told to send requests, and which. */
import type { LegId } from '../../base/ids.ts';
import type { HeaderInit } from './message.ts';
import type { SipTransportName } from './transport/flow.ts';

/** An address and port that a request may be sent to (RFC 3263). */
export interface Target {
  readonly transport: SipTransportName;
  readonly address: string;
  readonly port: number;
  /** The host of the URI, which a peer over TLS has to prove that it is (RFC 5922 §4). Undefined: the address. */
  readonly name?: string;
}

/** An address that a peer was heard from. */
export interface HeardAt {
  readonly address: string;
  readonly port: number;
}

/**
 * A destination that a customer named, or a peer that is one. Whoever owns the sockets is asked before anything is sent
 * there. Destinations without a guard are the operator's own: carriers and registrars.
 */
export interface DestinationGuard {
  /** Where the peer itself was heard, by a call or a registration: it may be answered there. */
  readonly heardAt: readonly HeardAt[];
  /** Addresses, ranges and names that the operator allows for this destination besides. */
  readonly allow: readonly string[];
  /** The carrier that named it: an address of its own is allowed. */
  readonly carrier?: string;
}

export interface TargetQuery {
  readonly host: string;
  readonly port: number | undefined;
  /** Undefined: NAPTR and SRV may choose. */
  readonly transport: SipTransportName | undefined;
  readonly secure: boolean;
}

/** Targets, best first. `refusal`: why those that there are may not be sent to; `targets` is then empty. */
export interface Resolution {
  readonly targets: readonly Target[];
  readonly refusal?: string | undefined;
}

export interface Account {
  readonly username: string;
  readonly password: string;
}

/** Where an outbound INVITE goes. */
export type InviteTarget =
  /** All live contacts of a registered user at once. */
  /** `secure`: only those registered with `sips:` (RFC 5630 §5.1). */
  | { readonly kind: 'registered'; readonly username: string; readonly secure?: boolean }
  | {
      readonly kind: 'uri';
      /** Request-URI and To. */
      readonly uri: string;
      /** Where we are registered for it: the request takes the Service-Route that came from there (RFC 3608). */
      readonly registrar?: string;
      /** A proxy to go through, as a URI; it is not written into the request. */
      readonly nextHop?: string;
      readonly transport?: SipTransportName;
      /** Over UDP a request above 1300 bytes is tried over TCP first, whatever `transport` says (RFC 3261 §18.1.1). */
      readonly largeOverTcp?: boolean;
      /** Of a URI that a customer named. */
      readonly guard?: DestinationGuard;
      /** What follows in the dialog goes where its answer came from, not to its Contact. Default: no. */
      readonly viaFlow?: boolean;
    };

export interface InviteCommand {
  readonly kind: 'invite';
  readonly leg: LegId;
  readonly target: InviteTarget;
  readonly from: { readonly user: string; readonly host: string; readonly displayName: string };
  readonly callId: string;
  /** Undefined: the called party makes the offer, `connected` brings it, and `acknowledge` answers. */
  readonly sdp: string | undefined;
  readonly headers: HeaderInit;
  readonly account: Account | undefined;
  /** Undefined: 70. */
  readonly maxForwards?: number | undefined;
  /** Of a destination that is no registered user: time to any response, and to the answer. Undefined: RFC 3261's, and none. */
  readonly firstResponseMs?: number | undefined;
  readonly answerMs?: number | undefined;
}

/** Refuses an INVITE that was not answered, or says why an answered call ends. */
export interface HangupCommand {
  readonly kind: 'hangup';
  readonly leg: LegId;
  readonly status: number;
  /** A Reason header field (RFC 3326) for BYE and CANCEL. */
  readonly reason: string | undefined;
  /** Reason phrase of a refusal; absent: the one that is registered for the status. */
  readonly phrase?: string | undefined;
  /** Of a refusal, a Warning header field (RFC 3261 §20.43). */
  readonly warning?: { readonly code: number; readonly text: string } | undefined;
}

export interface RegisterCommand {
  readonly kind: 'register';
  readonly registration: number;
  /** Address of record, `sip:user@host`. */
  readonly aor: string;
  /** Where to send it, as a URI. */
  readonly registrar: string;
  readonly transport?: SipTransportName;
  readonly account: Account;
  /** Seconds. */
  readonly expires: number;
}

/** A final answer to a MESSAGE of a peer. */
export interface MessageAnswer {
  readonly kind: 'answerMessage';
  readonly id: number;
  readonly status: number;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
  /** In words, for a Warning header field. */
  readonly why?: string | undefined;
}

/** A MESSAGE of ours to every contact of a user. `messageSent` tells the best answer. */
export interface MessageCommand {
  readonly kind: 'sendMessage';
  readonly id: number;
  readonly username: string;
  readonly from: { readonly user: string; readonly host: string; readonly displayName: string };
  readonly headers: HeaderInit;
  readonly contentType: string;
  readonly body: Uint8Array;
}
