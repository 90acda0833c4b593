/** Inputs, outputs and options of a user agent. */

import type { LegId, Random } from '../../base/ids.ts';
import type { ChallengeOrder, CountAnswer, Ha1ByAlgorithm } from './auth/authenticator.ts';
import type { FailureLimits } from './auth/failure-limit.ts';
import type { NonceLimits } from './auth/nonce.ts';
import type { SessionTimerSettings } from './dialog/session-timer.ts';
import type { SipMessage, SipRequest } from './message.ts';
import type { ContactBinding, ExpiredBinding } from './registrar/binding.ts';
import type { RegistrarLimits } from './registrar/register.ts';
import type { QuotedRequest } from './transaction/quoted.ts';
import type { Arrival } from './transaction/stateless.ts';
import type { TimerValues } from './transaction/timer-values.ts';
import type { TransactionId } from './transaction/types.ts';
import type { Flow } from './transport/flow.ts';
import type { SipTransportName } from './types.ts';
import type {
  DestinationGuard,
  HangupCommand,
  InviteCommand,
  MessageAnswer,
  MessageCommand,
  RegisterCommand,
  Resolution,
  Target,
  TargetQuery,
} from './user-agent-commands.ts';

export type * from './user-agent-commands.ts';

export interface UserAgentLimits {
  /** Maximum number of legs in both directions, including ended ones that still wait for a response. */
  readonly maxSessions: number;
  /** Maximum number of requests that wait for a user's secret, a DNS answer, a connection or the store, each. */
  readonly maxWaiting: number;
}

export const DEFAULT_USER_AGENT_LIMITS: UserAgentLimits = {
  maxSessions: 10_000,
  maxWaiting: 5_000,
};

/** Address at which an edge proxy listens for its nodes, over UDP and TCP. */
export interface EdgePlace {
  /** IP address without brackets, as in flows. */
  readonly address: string;
  readonly port: number;
}

/** Limits how many calls start, according to the load. */
interface NewCallGate {
  /** Returns false if a call may not start now. */
  mayBegin(arrival: Arrival): boolean;
  /** Counts the start of a call. */
  begin(): void;
}

export interface UserAgentOptions {
  readonly random: Random;
  /** Public host in Via, Contact and our addresses of record. */
  readonly publicHost: string;
  /** Host in Via and Contact for peers with IPv6. Default: `publicHost`. */
  readonly publicHost6?: string | undefined;
  readonly publicPort: number;
  /** Ports of transports that do not listen on `publicPort`. */
  readonly publicPorts?: Readonly<Partial<Record<SipTransportName, number | undefined>>>;
  /** Address of the local sockets, used in the flows of requests over UDP. */
  readonly localAddress: string;
  readonly localPort: number;
  readonly userAgent: string;
  /** Transports that have sockets. */
  readonly transports: readonly SipTransportName[];
  /** Milliseconds since the epoch minus monotonic milliseconds, for values that outlive the process. */
  readonly wallOffsetMs: number;
  /** Persistent URN of this instance (RFC 5626 §4.1). Undefined registers without outbound support. */
  readonly instanceId?: string;
  /** Authentication realm. Undefined makes a plain phone, which refuses REGISTER and does not authenticate. */
  readonly realm: string | undefined;
  /** Name of the carrier that calls over this flow without authentication, or undefined. */
  readonly trustedSource: (flow: Flow) => string | undefined;
  /** Order of challenges. Default: compatible. */
  readonly challengeOrder?: ChallengeOrder;
  /** Maximum size of a MESSAGE body in bytes. Undefined refuses MESSAGE. */
  readonly messageMaxBytes?: number | undefined;
  readonly limits?: UserAgentLimits;
  readonly registrar?: RegistrarLimits;
  readonly nonces?: NonceLimits;
  /** Key shared by nodes that accept each other's nonces; undefined for a single node. */
  readonly nonceKey?: Uint8Array;
  /** True if `countNonce` checks whether other nodes have used a count. Default: false. */
  readonly sharesNonceCounts?: boolean;
  readonly failures?: FailureLimits;
  readonly sessionTimer?: SessionTimerSettings;
  /**
   * Edge proxies for requests to carriers and other addresses, the preferred one first. Default: none, requests are
   * sent directly.
   */
  readonly edges?: readonly EdgePlace[];
  /** Limiter for new calls. Default: unlimited. */
  readonly newCalls?: NewCallGate;
  readonly timers?: TimerValues;
}

/** A temporary login of a user, with a separate name and secret. */
export interface TemporaryLogin {
  readonly id: string;
  /** User to which the login belongs. */
  readonly username: string;
  /** Expiry in microseconds since the epoch; it also limits the registrations. */
  readonly untilUs: number;
  readonly mayRegister: boolean;
  readonly mayCall: boolean;
  /** Reason phrase if the login is no longer valid, otherwise undefined. */
  readonly over: string | undefined;
}

/** Secrets of a user. An inactive user can authenticate but is refused. */
export type UserSecrets = Ha1ByAlgorithm & {
  readonly inactive?: boolean;
  readonly login?: TemporaryLogin | undefined;
  /** Group whose users may monitor each other's calls (busy lamps); undefined for none. */
  readonly group?: string | undefined;
};

/** An authenticated user. */
export interface Admitted {
  readonly username: string;
  /** Temporary login; undefined if the user's own password was used. */
  readonly login: TemporaryLogin | undefined;
  readonly group?: string | undefined;
}

/** Undefined if the user does not exist. `unavailable` if the directory cannot answer at the moment. */
export type SecretAnswer = UserSecrets | 'unavailable' | undefined;

export type { LegId };

/** End of a leg. Reported exactly once. */
export interface LegEndFacts {
  readonly by: 'remote' | 'local';
  readonly how:
    | 'bye'
    | 'cancel'
    | 'refused'
    | 'timeout'
    | 'transport'
    | 'unreachable'
    | 'notAllowed'
    | 'sessionExpired';
  readonly status: number | undefined;
  readonly reason: string | undefined;
  /** Monotonic time at which a scheduled end was due, even if it happened later. */
  readonly dueMs?: number;
  /** Retry-After of a 503 in milliseconds: the peer accepts no calls for that time. */
  readonly retryAfterMs?: number;
  /** Alternative URIs of a 3xx, best first; the number is limited. */
  readonly contacts?: readonly string[];
}

/** Peer that sent a response. */
export interface RespondingPeer {
  /** Flow to which the INVITE was sent. */
  readonly flow: Flow;
  /** Server or User-Agent header field (RFC 3261 §20.35, §20.41), if any. */
  readonly software: string | undefined;
  /** True if the INVITE had the offer for IPv6 (`sdp6`). */
  readonly isOfferedIpv6: boolean;
}

/** An authorized MESSAGE (RFC 3428). */
export interface IncomingMessage {
  readonly request: SipRequest;
  readonly flow: Flow;
  /** Authenticated user, or undefined. */
  readonly username: string | undefined;
  readonly carrier: string | undefined;
}

/** Request of a leg's peer in a REFER. */
export interface ReferFacts {
  readonly id: number;
  /** URI to call. */
  readonly to: string;
  /** Dialog whose other party is to be connected instead of calling `to`; undefined without Replaces. */
  readonly replaces: string | undefined;
  /** Referred-By as written (RFC 3892). */
  readonly referredBy: string | undefined;
}

/** Progress of our REFER, in this order; `refused`, `done` and `failed` are final. */
export type ReferStep =
  /** Response of the peer to the REFER. */
  | { readonly what: 'accepted' | 'refused'; readonly status: number }
  /** Response of the called party, received by NOTIFY. */
  | { readonly what: 'progress' | 'done'; readonly status: number }
  | {
      readonly what: 'failed';
      readonly why:
        | 'state' // another REFER is pending, or the call is not answered
        | 'timeout' // no response
        | 'unreachable' // the target cannot be resolved
        | 'notAllowed' // the target is not allowed
        | 'untold'; // the subscription ended before the outcome
    };

export type UserAgentInput =
  | ({
      readonly kind: 'received';
      readonly bytes: Uint8Array;
      readonly flow: Flow;
    } & Partial<Arrival>)
  | { readonly kind: 'sendFailed'; readonly transaction: TransactionId }
  /** An ICMP report that our request over UDP did not arrive. */
  | ({ readonly kind: 'undelivered' } & QuotedRequest)
  | { readonly kind: 'connectionLost'; readonly connectionId: number }
  // Answers to queries, each with the ID of its query.
  | ({ readonly kind: 'resolved'; readonly id: number } & Resolution)
  | { readonly kind: 'connected'; readonly id: number; readonly flow: Flow | undefined }
  | { readonly kind: 'secret'; readonly id: number; readonly secrets: SecretAnswer }
  | { readonly kind: 'nonceCounted'; readonly id: number; readonly use: CountAnswer }
  | { readonly kind: 'stored'; readonly id: number; readonly ok: boolean }
  // Commands.
  /** Removes all contacts of the user, or those that `login` registered. */
  | { readonly kind: 'forgetBindings'; readonly username: string; readonly login?: string }
  | { readonly kind: 'restoreBindings'; readonly bindings: readonly ContactBinding[] }
  /** Registrations and removals stored by another node. */
  | {
      readonly kind: 'bindingsElsewhere';
      readonly saved: readonly ContactBinding[];
      readonly removed: readonly ExpiredBinding[];
    }
  | { readonly kind: 'drain' }
  /** While a cause is set, new calls get 503 with it. Registrations and active calls continue. */
  | { readonly kind: 'pause'; readonly cause: string | undefined }
  | InviteCommand
  | { readonly kind: 'ring'; readonly leg: LegId; readonly sdp: string | undefined }
  | { readonly kind: 'answer'; readonly leg: LegId; readonly sdp: string }
  /** Answers the offer from `connected`. Undefined means that no answer is possible, so the leg is hung up. */
  | { readonly kind: 'acknowledge'; readonly leg: LegId; readonly sdp: string | undefined }
  /** Answers `offered`; undefined refuses the offer with 488 and keeps the session. */
  | { readonly kind: 'answerOffer'; readonly leg: LegId; readonly sdp: string | undefined }
  | {
      readonly kind: 'sendDigit';
      readonly leg: LegId;
      readonly digit: string;
      readonly durationMs: number;
    }
  /** Answers `referred` with 202 or a refusal, then reports progress up to a final status. */
  | {
      readonly kind: 'answerRefer' | 'notifyRefer';
      readonly leg: LegId;
      readonly refer: number;
      readonly status: number;
    }
  /** Asks the peer to call another target; `referStep` reports the progress. */
  | {
      readonly kind: 'refer';
      readonly leg: LegId;
      readonly to: string;
      readonly by: string;
      readonly guard: DestinationGuard | undefined;
    }
  | { readonly kind: 'forgetRefer'; readonly leg: LegId }
  | HangupCommand
  | MessageAnswer
  | MessageCommand
  | RegisterCommand
  | { readonly kind: 'unregister'; readonly registration: number }
  /** Sends OPTIONS to a peer; `probed` reports the result. */
  | {
      readonly kind: 'probe';
      readonly id: number;
      readonly uri: string;
      readonly transport?: SipTransportName;
      /** Time limit for the response in milliseconds. Default: 64*T1. */
      readonly waitMs?: number;
    };

/** A new authorized INVITE. */
export interface IncomingCall {
  readonly leg: LegId;
  readonly request: SipRequest;
  readonly flow: Flow;
  /** Authenticated user, or undefined. */
  readonly username: string | undefined;
  /** ID of the temporary login, if used. */
  readonly login?: string | undefined;
  readonly carrier: string | undefined;
  readonly sdp: string | undefined;
  /** Leg to be replaced by this call (RFC 3891). */
  readonly replaces: LegId | undefined;
}

export type UserAgentOutput =
  | {
      readonly kind: 'send';
      readonly bytes: Uint8Array;
      readonly message: SipMessage;
      readonly flow: Flow;
      readonly transaction: TransactionId | undefined;
    }
  // Queries.
  | {
      readonly kind: 'resolve';
      readonly id: number;
      /** Query to resolve. With a guard, numeric addresses are queried too, without DNS. */
      readonly query: TargetQuery;
      readonly guard: DestinationGuard | undefined;
    }
  | { readonly kind: 'connect'; readonly id: number; readonly target: Target }
  /** The peer answers pings (RFC 5626 §4.4.1), so pings can monitor the connection from now on. */
  | { readonly kind: 'keepAlive'; readonly connectionId: number; readonly everyMs: number }
  /** Query for a user's secrets; with `token`, for the user of a token. */
  | {
      readonly kind: 'findSecret';
      readonly id: number;
      readonly username: string;
      readonly token?: string;
    }
  /**
   * Query, after successful authentication, whether a node has used that count of that nonce. The query marks it as
   * used.
   */
  | {
      readonly kind: 'countNonce';
      readonly id: number;
      readonly nonce: string;
      readonly count: number;
    }
  /** `id` is undefined if no answer is expected. */
  | {
      readonly kind: 'store';
      readonly id: number | undefined;
      readonly save: readonly ContactBinding[];
      readonly remove: readonly ContactBinding[];
    }
  // Events of legs.
  | { readonly kind: 'incoming'; readonly call: IncomingCall }
  | { readonly kind: 'acknowledged'; readonly leg: LegId }
  /** Peer that responded to our INVITE; precedes the event of the response. Reported again if another peer responds. */
  | { readonly kind: 'heardFrom'; readonly leg: LegId; readonly peer: RespondingPeer }
  | {
      readonly kind: 'progress';
      readonly leg: LegId;
      readonly status: number;
      readonly sdp: string | undefined;
    }
  /** `sdp` is undefined if an UPDATE or PRACK before the 2xx has replaced the answer of the INVITE. */
  | {
      readonly kind: 'connected';
      readonly leg: LegId;
      readonly callId: string;
      readonly sdp: string | undefined;
    }
  /** A request with SDP inside the dialog arrived from a new address; precedes `offered`. */
  | { readonly kind: 'moved'; readonly leg: LegId; readonly flow: Flow }
  | { readonly kind: 'offered'; readonly leg: LegId; readonly sdp: string | undefined }
  | { readonly kind: 'answered'; readonly leg: LegId; readonly sdp: string }
  /** `replaced` is the leg of the dialog named in Replaces, or undefined if it does not exist. */
  | {
      readonly kind: 'referred';
      readonly leg: LegId;
      readonly refer: ReferFacts;
      readonly replaced: LegId | undefined;
    }
  | { readonly kind: 'referStep'; readonly leg: LegId; readonly step: ReferStep }
  | {
      readonly kind: 'dtmf';
      readonly leg: LegId;
      readonly digit: string;
      readonly durationMs: number;
    }
  /** The peer's WebSocket has closed (false), or the peer has sent a request over another one (true). */
  | { readonly kind: 'connection'; readonly leg: LegId; readonly connected: boolean }
  | { readonly kind: 'ended'; readonly leg: LegId; readonly end: LegEndFacts }
  // Messages.
  | { readonly kind: 'message'; readonly id: number; readonly message: IncomingMessage }
  /** `status` is undefined if no contact responded. */
  | { readonly kind: 'messageSent'; readonly id: number; readonly status: number | undefined }
  // Other outputs.
  | {
      readonly kind: 'registration';
      readonly registration: number;
      readonly state: 'registered' | 'failed' | 'removed';
      readonly status: number | undefined;
      /** Seconds until the next refresh or retry. */
      readonly againIn: number | undefined;
    }
  | { readonly kind: 'probed'; readonly id: number; readonly status: number | undefined }
  | {
      readonly kind: 'refused';
      readonly method: string;
      readonly status: number;
      readonly why: string;
      readonly flow: Flow;
    }
  | { readonly kind: 'discarded'; readonly why: string; readonly flow: Flow };
