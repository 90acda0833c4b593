import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import type { DestinationGuard } from '../../base/egress.ts';
import type { Random } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { LegOwner, Signalling, SipAddresses, Texting } from '../../domain/call/needs.ts';
import type { NewCalls } from '../../domain/capacity/capacity.ts';
import type { Carrier } from '../../domain/provisioning/types.ts';
import type {
  BindingStore,
  EndpointDirectory,
  NonceCounts,
} from '../../domain/registration/needs.ts';
import type { Binding } from '../../domain/registration/types.ts';
import type {
  ChallengeOrder,
  EdgePlace,
  RegistrarLimits,
  SessionTimerSettings,
  SipTransportName,
} from '../../protocol/sip/sip.ts';
import type { CarrierState } from './carrier-watch.ts';
import type { Dns } from './dns.ts';
import type { CarrierMessageCount, MessageCount } from './message-counter.ts';
import type { TracedMessage } from './trace/message-ring.ts';
import type { StreamLimits } from './transport/stream-transport.ts';
import type { TlsIdentity } from './transport/tls-identity.ts';
import type { Arrival } from './transport/web-sockets.ts';
import type { WireFactory } from './wire.ts';

/** Ports of SIP over WebSocket; undefined: none. */
export interface WebSocketPorts {
  readonly ws?: number | undefined;
  readonly wss?: number | undefined;
  /** Origins of pages that may connect; none: all. */
  readonly origins?: readonly string[];
}

export interface MessageTraces {
  /** The bytes are not changed afterwards. */
  note(message: TracedMessage): void;
  belongs(callId: string, owner: LegOwner): void;
}

export interface SignallingOptions {
  readonly host: string;
  readonly port: number;
  /** Host in Via, Contact and the addresses of our endpoints. */
  readonly publicHost: string;
  readonly transports: readonly ('udp' | 'tcp')[];
  /** Undefined: no TLS, and no WSS. */
  readonly tls?: {
    readonly identity: TlsIdentity;
    /** Undefined: TLS is spoken to others, and nobody may connect. */
    readonly port: number | undefined;
    /** Of all addresses together. */
    readonly handshakesPerSecond?: number;
  };
  readonly webSockets?: WebSocketPorts;
  /** Of TLS and WebSocket: left out with a warning where another program has it. */
  readonly optionalPorts?: readonly number[];
  /** Stored at the first start; it never follows the host. */
  readonly realm: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly directory: EndpointDirectory;
  readonly bindings: BindingStore;
  /** Of nodes that take each other's nonces; absent: nobody else does. */
  readonly nonceKey?: Uint8Array | undefined;
  /** What those nodes have used of them; absent: what this one has. */
  readonly nonceCounts?: NonceCounts | undefined;
  readonly carriers: () => readonly Carrier[];
  /** How often carriers are asked with OPTIONS. Default: every 30 seconds. */
  readonly carrierProbeMs?: number;
  /** Where messages may go for customers. */
  readonly egress: DestinationGuard;
  /** Whether a new call may begin. Default: always. */
  readonly newCalls?: Pick<NewCalls, 'mayBegin' | 'begin' | 'isFull'>;
  /** Where messages of who proved something are kept. */
  readonly traces?: MessageTraces;
  /** What carries the messages; default: sockets of our own. */
  readonly wire?: WireFactory | undefined;
  /** Default: the system's name servers. */
  readonly dns?: Dns;
  readonly connections?: StreamLimits;
  /** Addresses and ranges of edge proxies of ours: strangers are heard through them alone. Default: from anywhere. */
  readonly edges?: readonly string[];
  /** By which of them requests go to carriers and other addresses, the preferred one first. Default: they go there themselves. */
  readonly outboundEdges?: readonly EdgePlace[];
  /** Another node is about to call from that address: it is heard without an edge. Default: none is. */
  readonly expectsNode?: (address: string) => boolean;
  /** Messages a second of one address that proved nothing, by kind. */
  readonly unknownPeersPerSecond?: number;
  /** Default: compatible, MD5 on top. */
  readonly challengeOrder?: ChallengeOrder;
  /** Largest body of a text. */
  readonly messageMaxBytes?: number;
  readonly registrar?: RegistrarLimits;
  readonly sessionTimer?: SessionTimerSettings;
  /** Time that a carrier or a customer's address has to answer an INVITE with anything. */
  readonly firstResponseMs?: number;
}

export interface SignallingCounters {
  readonly messages: readonly MessageCount[];
  /** Messages to and from carriers, whatever they crossed the wire in. */
  readonly carrierMessages: readonly CarrierMessageCount[];
  /** Datagrams and responses that were no use. */
  readonly discarded: number;
  /** Messages that were not looked at, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  readonly authFailures: number;
  readonly legs: number;
  readonly transactions: number;
  readonly connections: Readonly<Partial<Record<SipTransportName, number>>>;
  /** TLS handshakes of peers that failed. */
  readonly failedHandshakes: number;
}

export interface RunningSignalling extends Signalling {
  /** Rejects with ServiceError PORT_IN_USE. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** From now on new INVITEs and OPTIONS get 503; what runs goes on. */
  drain(): void;
  /**
   * With a cause, new INVITEs and OPTIONS get 503 with Retry-After and the cause as a Warning; registrations and running calls
   * continue. Undefined ends that.
   */
  pause(cause: string | undefined): void;
  ready(): boolean;
  /** In words, what SIP messages come and go over now. */
  readonly detail: string;
  /** The port of UDP and TCP: chosen by the system when 0 was configured. */
  port(): number;
  /** Every port that is listened on. */
  ports(): Readonly<Partial<Record<SipTransportName, number | undefined>>>;
  /** Whether that is one of them. */
  listensOn(port: number): boolean;
  /** SIP over WebSocket, asked for at an HTTP server of this process; answered in any case. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, arrival: Arrival): void;
  registrations(): readonly Binding[];
  /** What phones registered, or gave up, at other nodes. */
  bindingsElsewhere(
    saved: readonly Binding[],
    removed: readonly Pick<Binding, 'username' | 'contactUri'>[],
  ): void;
  /** Removes every contact of a user, here and in the store. */
  /** With `login`: where that login registered. */
  forgetBindings(username: string, login?: string): void;
  counters(): SignallingCounters;
  /** How long messages of known peers other than new calls have waited to be read, since the last time that this was asked. */
  waitMs(): number;
  carrierStates(): readonly CarrierState[];
  readonly texts: Texting;
  /** Reads SIP addresses, and knows whose they are. */
  readonly addresses: SipAddresses;
}

export { DEFAULT_REGISTRAR_LIMITS } from '../../protocol/sip/sip.ts';
export { DEFAULT_STREAM_LIMITS } from './transport/stream-transport.ts';
export { type TlsFiles, TlsIdentity } from './transport/tls-identity.ts';
export type { CarrierState, MessageCount, TracedMessage };
