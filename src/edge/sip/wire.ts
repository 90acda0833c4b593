import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../base/logger.ts';
import type {
  Flow,
  SipTransportName,
  Target,
  UserAgentInput,
  UserAgentOutput,
} from '../../protocol/sip/sip.ts';
import type { KnownPeer } from './admission-filter.ts';
import type { Traffic, TrafficOptions } from './traffic.ts';
import type { Arrival } from './transport/web-sockets.ts';

/** Message transport of the user agent: local sockets or external SIP servers. */
export interface SipWire {
  /** Rejects with PORT_IN_USE. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Availability of the transport and its reason. */
  readonly state: { readonly isUp: boolean; readonly detail: string };
  /** Port of UDP and TCP as peers see it. */
  readonly port: number;
  readonly ports: Readonly<Partial<Record<SipTransportName, number | undefined>>>;
  readonly traffic: Traffic;
  readonly failedHandshakes: number;
  connections(): Readonly<Partial<Record<SipTransportName, number>>>;
  /** Number of datagrams dropped by the kernel. */
  readonly lost: number;
  connect(target: Target): Promise<Flow | undefined>;
  /** Starts pings that detect a lost connection (RFC 5626 §4.4.1). */
  keepAlive(output: Extract<UserAgentOutput, { kind: 'keepAlive' }>): void;
  /** Handles an upgrade received by an HTTP server of this process. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, arrival: Arrival): void;
  send(output: Extract<UserAgentOutput, { kind: 'send' }>): void;
  /** Stops accepting new calls. */
  drain?(): void;
}

interface WireOptions extends TrafficOptions {
  readonly logger: Logger;
  /** Configured port of UDP and TCP. */
  readonly port: number;
}

export interface WireParts {
  readonly options: WireOptions;
  readonly acquaintance: KnownPeer;
  readonly dispatch: (input: UserAgentInput) => void;
  /** Reports that the peers of these dialogs (Call-IDs) are permanently unreachable. */
  readonly cutOff: (callIds: readonly string[], why: string) => void;
}

/** Default: local sockets. */
export type WireFactory = (parts: WireParts) => SipWire;
