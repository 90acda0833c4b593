/** What a user agent is told and what it answers. */

import type { LegId, Random } from '../../base/ids.ts';
import type { ChallengeOrder, CountAnswer, Ha1ByAlgorithm } from './auth/authenticator.ts';
import type { FailureLimits } from './auth/failure-limit.ts';
import type { NonceLimits } from './auth/nonce.ts';
import type { Asking, NewCallGate } from './dialog/new-call-gate.ts';
import type { SessionTimerSettings } from './dialog/session-timer.ts';
import type { SipMessage, SipRequest } from './message.ts';
import type { ContactBinding, GoneBinding } from './registrar/binding.ts';
import type { RegistrarLimits } from './registrar/register.ts';
import type { QuotedRequest } from './transaction/quoted.ts';
import type { TimerValues } from './transaction/timer-values.ts';
import type { TransactionId } from './transaction/types.ts';
import type { Flow, SipTransportName } from './transport/flow.ts';
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
  /** Legs at once, both directions, finished ones that still wait for an answer included. */
  readonly maxSessions: number;
  /** Requests that wait for a user's secret, a DNS answer, a connection or the store, each. */
  readonly maxWaiting: number;
}

export const DEFAULT_USER_AGENT_LIMITS: UserAgentLimits = {
  maxSessions: 10_000,
  maxWaiting: 5_000,
};

/** Where an edge proxy of ours hears its nodes, over UDP and TCP. */
export interface EdgePlace {
  /** Bare, as flows name it. */
  readonly address: string;
  readonly port: number;
}

export interface UserAgentOptions {
  readonly random: Random;
  /** What peers see: host of Via and Contact, and of our own addresses of record. */
  readonly publicHost: string;
  readonly publicPort: number;
  /** Ports of transports that do not listen on `publicPort`. */
  readonly publicPorts?: Readonly<Partial<Record<SipTransportName, number | undefined>>>;
  /** Where the sockets are bound; named in the flows of requests over UDP. */
  readonly localAddress: string;
  readonly localPort: number;
  readonly userAgent: string;
  /** What there are sockets for. */
  readonly transports: readonly SipTransportName[];
  /** Milliseconds since the epoch minus monotonic milliseconds, for what must outlive the process. */
  readonly wallOffsetMs: number;
  /** A URN of ours that outlives the process (RFC 5626 §4.1). Undefined: registrations of ours are no flows. */
  readonly instanceId?: string;
  /** Undefined: a plain phone, that refuses REGISTER and asks nobody for a password. */
  readonly realm: string | undefined;
  /** Name of the carrier that calls over this flow; its calls need no password. */
  readonly trustedSource: (flow: Flow) => string | undefined;
  /** Default: compatible. */
  readonly challengeOrder?: ChallengeOrder;
  /** Largest body of a MESSAGE. Undefined: none is taken. */
  readonly messageMaxBytes?: number | undefined;
  readonly limits?: UserAgentLimits;
  readonly registrar?: RegistrarLimits;
  readonly nonces?: NonceLimits;
  /** Of nodes that take each other's nonces; absent: nobody else does. */
  readonly nonceKey?: Uint8Array;
  /** Whether it is asked with `countNonce` what other nodes have taken. Default: no. */
  readonly sharesNonceCounts?: boolean;
  readonly failures?: FailureLimits;
  readonly sessionTimer?: SessionTimerSettings;
  /** By which requests go to carriers and other addresses, the preferred one first. Default: none, they go there themselves. */
  readonly edges?: readonly EdgePlace[];
  /** Default: every call may begin. */
  readonly newCalls?: NewCallGate;
  readonly timers?: TimerValues;
}

/** A login of a user for a time, with a name and a secret of its own. */
export interface TemporaryLogin {
  readonly id: string;
  /** The user that it stands for. */
  readonly username: string;
  /** Its end, microseconds since the epoch: no registration outlives it. */
  readonly untilUs: number;
  readonly mayRegister: boolean;
  readonly mayCall: boolean;
  /** Why it is no login any more, as a reason phrase; undefined: it is one. */
  readonly over: string | undefined;
}

/** What a user proves who he is with. Inactive: he may prove it, and is refused. */
export type UserSecrets = Ha1ByAlgorithm & {
  readonly inactive?: boolean;
  readonly login?: TemporaryLogin | undefined;
  /** Users of one group see one another's calls (busy lamps); undefined: nobody does. */
  readonly group?: string | undefined;
};

/** Who passed digest authentication. */
export interface Admitted {
  readonly username: string;
  /** Undefined: with the password of the user itself. */
  readonly login: TemporaryLogin | undefined;
  readonly group?: string | undefined;
}

/** Undefined: there is no such user. `unavailable`: the directory cannot tell now. */
export type SecretAnswer = UserSecrets | 'unavailable' | undefined;

export type { LegId };

/** How a leg ended. Reported exactly once. */
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
  /** Of an end that was due at a moment of the monotonic clock: that moment, however late the end itself is. */
  readonly dueMs?: number;
  /** Of a 503: the peer wants no calls for so long. */
  readonly retryAfterMs?: number;
  /** Of a 3xx: URIs to try instead, best first; a few at most. */
  readonly contacts?: readonly string[];
}

/** Who a response came from. */
export interface RespondingPeer {
  /** Where the INVITE had been sent. */
  readonly flow: Flow;
  /** Its Server or User-Agent header field (RFC 3261 §20.35, §20.41), as far as it has one. */
  readonly software: string | undefined;
}

/** A MESSAGE that may be sent (RFC 3428). */
export interface IncomingMessage {
  readonly request: SipRequest;
  readonly flow: Flow;
  /** Who passed digest authentication. */
  readonly username: string | undefined;
  readonly carrier: string | undefined;
}

/** What the peer of a leg asks for with REFER. */
export interface ReferFacts {
  readonly id: number;
  /** Whom to call, as a URI. */
  readonly to: string;
  /** The dialog whose other side is to be taken, instead of a call to `to`; undefined: none is named. */
  readonly replaces: string | undefined;
  /** Referred-By as written (RFC 3892). */
  readonly referredBy: string | undefined;
}

/** What comes of a REFER of ours, in this order; `refused`, `done` and `failed` are the last. */
export type ReferStep =
  /** How the peer answered it. */
  | { readonly what: 'accepted' | 'refused'; readonly status: number }
  /** What the party that it calls has answered, by NOTIFY. */
  | { readonly what: 'progress' | 'done'; readonly status: number }
  | {
      readonly what: 'failed';
      readonly why:
        | 'state' // another one is under way, or nobody has answered
        | 'timeout' // no answer to it
        | 'unreachable' // its target leads nowhere
        | 'notAllowed' // its target may not be sent to
        | 'untold'; // the peer stopped telling before the outcome
    };

export type UserAgentInput =
  | ({
      readonly kind: 'received';
      readonly bytes: Uint8Array;
      readonly flow: Flow;
    } & Partial<Asking>)
  | { readonly kind: 'sendFailed'; readonly transaction: TransactionId }
  /** ICMP says that a request of ours over UDP did not arrive. */
  | ({ readonly kind: 'undelivered' } & QuotedRequest)
  | { readonly kind: 'connectionLost'; readonly connectionId: number }
  // Answers to questions, each with the id of its question.
  | ({ readonly kind: 'resolved'; readonly id: number } & Resolution)
  | { readonly kind: 'connected'; readonly id: number; readonly flow: Flow | undefined }
  | { readonly kind: 'secret'; readonly id: number; readonly secrets: SecretAnswer }
  | { readonly kind: 'nonceCounted'; readonly id: number; readonly use: CountAnswer }
  | { readonly kind: 'stored'; readonly id: number; readonly ok: boolean }
  // Commands.
  /** The user is reachable nowhere any more, or with `login` not where that login registered. */
  | { readonly kind: 'forgetBindings'; readonly username: string; readonly login?: string }
  | { readonly kind: 'restoreBindings'; readonly bindings: readonly ContactBinding[] }
  /** What phones registered, or gave up, at another node. */
  | {
      readonly kind: 'bindingsElsewhere';
      readonly saved: readonly ContactBinding[];
      readonly removed: readonly GoneBinding[];
    }
  | { readonly kind: 'drain' }
  /** While there is a cause, new calls get 503 with it; registrations and running calls continue. */
  | { readonly kind: 'pause'; readonly cause: string | undefined }
  | InviteCommand
  | { readonly kind: 'ring'; readonly leg: LegId; readonly sdp: string | undefined }
  | { readonly kind: 'answer'; readonly leg: LegId; readonly sdp: string }
  /** The answer to the offer that `connected` brought; undefined: none can be given, and the leg is hung up. */
  | { readonly kind: 'acknowledge'; readonly leg: LegId; readonly sdp: string | undefined }
  /** The answer to `offered`; undefined refuses the offer with 488 and keeps the session. */
  | { readonly kind: 'answerOffer'; readonly leg: LegId; readonly sdp: string | undefined }
  | {
      readonly kind: 'sendDigit';
      readonly leg: LegId;
      readonly digit: string;
      readonly durationMs: number;
    }
  /** 202 or a refusal to `referred`; then what comes of it, up to a final status. */
  | {
      readonly kind: 'answerRefer' | 'notifyRefer';
      readonly leg: LegId;
      readonly refer: number;
      readonly status: number;
    }
  /** The peer is asked to call somebody else; `referStep` tells what comes of it. */
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
  /** OPTIONS to a peer, answered by `probed`. */
  | {
      readonly kind: 'probe';
      readonly id: number;
      readonly uri: string;
      readonly transport?: SipTransportName;
      /** Time to the answer; undefined: 64*T1. */
      readonly waitMs?: number;
    };

/** A new INVITE that may call. */
export interface IncomingCall {
  readonly leg: LegId;
  readonly request: SipRequest;
  readonly flow: Flow;
  /** Who passed digest authentication. */
  readonly username: string | undefined;
  /** Of a login for a time: its id. */
  readonly login?: string | undefined;
  readonly carrier: string | undefined;
  readonly sdp: string | undefined;
  /** The leg whose place it is to take (RFC 3891). */
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
  // Questions.
  | {
      readonly kind: 'resolve';
      readonly id: number;
      /** With a guard also asked for addresses, which need no name server. */
      readonly query: TargetQuery;
      readonly guard: DestinationGuard | undefined;
    }
  | { readonly kind: 'connect'; readonly id: number; readonly target: Target }
  /** The peer answers pings (RFC 5626 §4.4.1): from now on they tell whether the connection still leads to it. */
  | { readonly kind: 'keepAlive'; readonly connectionId: number; readonly everyMs: number }
  /** With `token`: whom a token stands for. */
  | {
      readonly kind: 'findSecret';
      readonly id: number;
      readonly username: string;
      readonly token?: string;
    }
  /** Right credentials: has any node taken that count of that nonce? Whoever asks takes it. */
  | {
      readonly kind: 'countNonce';
      readonly id: number;
      readonly nonce: string;
      readonly count: number;
    }
  /** `id` undefined: nobody waits. */
  | {
      readonly kind: 'store';
      readonly id: number | undefined;
      readonly save: readonly ContactBinding[];
      readonly remove: readonly ContactBinding[];
    }
  // Events of legs.
  | { readonly kind: 'incoming'; readonly call: IncomingCall }
  | { readonly kind: 'acknowledged'; readonly leg: LegId }
  /** Before what a response to our INVITE says: who said it. Again when somebody else answers. */
  | { readonly kind: 'heardFrom'; readonly leg: LegId; readonly peer: RespondingPeer }
  | {
      readonly kind: 'progress';
      readonly leg: LegId;
      readonly status: number;
      readonly sdp: string | undefined;
    }
  | {
      readonly kind: 'connected';
      readonly leg: LegId;
      readonly callId: string;
      readonly sdp: string | undefined;
    }
  | { readonly kind: 'offered'; readonly leg: LegId; readonly sdp: string | undefined }
  | { readonly kind: 'answered'; readonly leg: LegId; readonly sdp: string }
  /** `replaced`: the leg that the named dialog belongs to; undefined although one is named: there is none. */
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
  | { readonly kind: 'ended'; readonly leg: LegId; readonly end: LegEndFacts }
  // Messages.
  | { readonly kind: 'message'; readonly id: number; readonly message: IncomingMessage }
  /** `status` undefined: no contact has answered. */
  | { readonly kind: 'messageSent'; readonly id: number; readonly status: number | undefined }
  // Others.
  | {
      readonly kind: 'registration';
      readonly registration: number;
      readonly state: 'registered' | 'failed' | 'removed';
      readonly status: number | undefined;
      /** Seconds until it is refreshed or tried again. */
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
