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

/** Ports of SIP over WebSocket; undefined if disabled. */
interface WebSocketPorts {
  readonly ws?: number | undefined;
  readonly wss?: number | undefined;
  /** Origins of pages that may connect; empty or undefined allows all. */
  readonly origins?: readonly string[];
}

interface MessageTraces {
  /** Records a message. The bytes must not change afterwards. */
  note(message: TracedMessage): void;
  belongs(callId: string, owner: LegOwner): void;
}

export interface SignallingOptions {
  readonly host: string;
  readonly port: number;
  /** Host in Via, Contact and the addresses of our endpoints. */
  readonly publicHost: string;
  /** Host in Via and Contact for peers with IPv6. Default: `publicHost`. */
  readonly publicHost6?: string | undefined;
  readonly transports: readonly ('udp' | 'tcp')[];
  /** TLS settings; undefined disables TLS and WSS. */
  readonly tls?: {
    readonly identity: TlsIdentity;
    /** Port for incoming TLS; undefined allows only outgoing connections. */
    readonly port: number | undefined;
    /** Handshakes per second of all addresses together. */
    readonly handshakesPerSecond?: number;
  };
  readonly webSockets?: WebSocketPorts;
  /** TLS and WebSocket ports that are skipped with a warning if another program uses them. */
  readonly optionalPorts?: readonly number[];
  /** Realm stored at the first start; it does not change with the host. */
  readonly realm: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly directory: EndpointDirectory;
  readonly bindings: BindingStore;
  /** Key shared by nodes that accept each other's nonces; undefined for a single node. */
  readonly nonceKey?: Uint8Array | undefined;
  /** Used nonce counts of all nodes; undefined uses only local counts. */
  readonly nonceCounts?: NonceCounts | undefined;
  readonly carriers: () => readonly Carrier[];
  /** Interval of OPTIONS to carriers in milliseconds. Default: 30 s. */
  readonly carrierProbeMs?: number;
  /** Guard for destinations of customers. */
  readonly egress: DestinationGuard;
  /** Limiter for new calls. Default: unlimited. */
  readonly newCalls?: Pick<NewCalls, 'mayBegin' | 'begin' | 'isFull'>;
  /** Store for messages of authenticated peers. */
  readonly traces?: MessageTraces;
  /** Transport of the messages. Default: local sockets. */
  readonly wire?: WireFactory | undefined;
  /** DNS resolver. Default: the system's name servers. */
  readonly dns?: Dns;
  readonly connections?: StreamLimits;
  /**
   * Addresses and ranges of trusted edge proxies. If set, unknown peers are accepted only through them. Default:
   * accepted from anywhere.
   */
  readonly edges?: readonly string[];
  /**
   * Edge proxies for requests to carriers and other addresses, the preferred one first. Default: none, requests are
   * sent directly.
   */
  readonly outboundEdges?: readonly EdgePlace[];
  /** Returns whether another node is expected to call from that address; it then needs no edge proxy. Default: false. */
  readonly expectsNode?: (address: string) => boolean;
  /** Messages per second accepted from one unauthenticated address, by kind. */
  readonly unknownPeersPerSecond?: number;
  /** Order of challenges. Default: compatible, MD5 first. */
  readonly challengeOrder?: ChallengeOrder;
  /** Maximum size of a MESSAGE body in bytes. */
  readonly messageMaxBytes?: number;
  readonly registrar?: RegistrarLimits;
  readonly sessionTimer?: SessionTimerSettings;
  /** Time limit in milliseconds for the first response to an INVITE from a carrier or a customer's address. */
  readonly firstResponseMs?: number;
}

export interface SignallingCounters {
  readonly messages: readonly MessageCount[];
  /** Messages to and from carriers, over all transports. */
  readonly carrierMessages: readonly CarrierMessageCount[];
  /** Invalid datagrams and unmatched responses. */
  readonly discarded: number;
  /** Messages dropped without parsing, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  readonly authFailures: number;
  readonly legs: number;
  readonly transactions: number;
  readonly connections: Readonly<Partial<Record<SipTransportName, number>>>;
  /** Failed TLS handshakes of peers. */
  readonly failedHandshakes: number;
}

export interface RunningSignalling extends Signalling {
  /** Starts the sockets. Rejects with ServiceError PORT_IN_USE. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Refuses new INVITEs and OPTIONS with 503; active calls continue. */
  drain(): void;
  /**
   * With a cause, new INVITEs and OPTIONS get 503 with Retry-After and the cause as a Warning. Registrations and active
   * calls continue. Undefined ends the pause.
   */
  pause(cause: string | undefined): void;
  ready(): boolean;
  /** Description of the current message transport. */
  readonly detail: string;
  /** Port of UDP and TCP, chosen by the system if 0 was configured. */
  port(): number;
  /** Listening ports by transport. */
  ports(): Readonly<Partial<Record<SipTransportName, number | undefined>>>;
  /** Returns whether the service listens on that port. */
  listensOn(port: number): boolean;
  /** Handles a SIP WebSocket upgrade from an HTTP server of this process. Always sends a response. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, arrival: Arrival): void;
  registrations(): readonly Binding[];
  /** Applies registrations and removals stored by other nodes. */
  bindingsElsewhere(
    saved: readonly Binding[],
    removed: readonly Pick<Binding, 'username' | 'contactUri'>[],
  ): void;
  /** Removes all contacts of a user, in memory and in the store. */
  /** With `login`, removes only the contacts that this login registered. */
  forgetBindings(username: string, login?: string): void;
  counters(): SignallingCounters;
  /**
   * Average queueing time in milliseconds of messages of known peers, except new calls, since the last call of this
   * function.
   */
  waitMs(): number;
  carrierStates(): readonly CarrierState[];
  readonly texts: Texting;
  /** Parses and classifies SIP addresses. */
  readonly addresses: SipAddresses;
}

export { DEFAULT_REGISTRAR_LIMITS } from '../../protocol/sip/sip.ts';
export { DEFAULT_STREAM_LIMITS } from './transport/stream-transport.ts';
export { TlsIdentity } from './transport/tls-identity.ts';
