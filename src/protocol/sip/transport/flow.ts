/** Where bytes came from and where answers go (RFC 5626 §2). */
export type SipTransportName = 'udp' | 'tcp' | 'tls' | 'ws' | 'wss';

export interface Flow {
  readonly transport: SipTransportName;
  /** Bare address, IPv6 without brackets. */
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** The connection of a stream transport; undefined over UDP. */
  readonly connectionId: number | undefined;
}

/** TCP, TLS and WebSocket deliver or fail: no retransmission (RFC 3261 §17). */
export const isReliable = (transport: SipTransportName): boolean => transport !== 'udp';

/** TLS protects what is sent over it. */
export const isSecure = (transport: SipTransportName): boolean =>
  transport === 'tls' || transport === 'wss';

/** One name for a flow: its connection, or over UDP the peer's address and port. */
export const flowKey = ({ transport, remoteAddress, remotePort, connectionId }: Flow): string =>
  connectionId === undefined
    ? `${transport} ${remoteAddress} ${remotePort}`
    : `${transport} ${connectionId}`;
