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

/** What carries the messages of the user agent: sockets of our own, or SIP servers beside us. */
export interface SipWire {
  /** Rejects with PORT_IN_USE. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Whether messages can come and go, and why not. */
  readonly state: { readonly isUp: boolean; readonly detail: string };
  /** Of UDP and TCP, as peers see it. */
  readonly port: number;
  readonly ports: Readonly<Partial<Record<SipTransportName, number | undefined>>>;
  readonly traffic: Traffic;
  readonly failedHandshakes: number;
  connections(): Readonly<Partial<Record<SipTransportName, number>>>;
  /** Datagrams that the kernel had no room for. */
  readonly lost: number;
  connect(target: Target): Promise<Flow | undefined>;
  /** From now on pings tell whether a connection still leads to its peer (RFC 5626 §4.4.1). */
  keepAlive(output: Extract<UserAgentOutput, { kind: 'keepAlive' }>): void;
  /** An upgrade that an HTTP server of this process got. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, arrival: Arrival): void;
  send(output: Extract<UserAgentOutput, { kind: 'send' }>): void;
  /** No new call is wanted any more. */
  drain?(): void;
}

export interface WireOptions extends TrafficOptions {
  readonly logger: Logger;
  /** Of UDP and TCP, as configured. */
  readonly port: number;
}

export interface WireParts {
  readonly options: WireOptions;
  readonly acquaintance: KnownPeer;
  readonly tell: (input: UserAgentInput) => void;
  /** The way to the peers of these dialogs (Call-IDs) is gone for good. */
  readonly cutOff: (callIds: readonly string[], why: string) => void;
}

/** Default: sockets of our own. */
export type WireFactory = (parts: WireParts) => SipWire;
