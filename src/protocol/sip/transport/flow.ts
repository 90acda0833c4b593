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
  /** Where its sender is, by the word of an edge proxy of ours that it came through. Answers go to the proxy. */
  readonly behind?: PeerPlace | undefined;
}

/** What a peer speaks, and from where. */
export interface PeerPlace {
  readonly transport: SipTransportName;
  readonly address: string;
  readonly port: number;
}

/** Who is at the other end of a flow: whom passwords, budgets and rights are for. */
export const peerOf = (flow: Flow): PeerPlace =>
  flow.behind ?? {
    transport: flow.transport,
    address: flow.remoteAddress,
    port: flow.remotePort,
  };

/** TCP, TLS and WebSocket deliver or fail: no retransmission (RFC 3261 §17). */
export const isReliable = (transport: SipTransportName): boolean => transport !== 'udp';

/** TLS protects what is sent over it. */
export const isSecure = (transport: SipTransportName): boolean =>
  transport === 'tls' || transport === 'wss';

/** One name for a flow: its connection, or over UDP the peer's address and port; behind an edge proxy the peer there. */
export const flowKey = (flow: Flow): string => {
  const { transport, remoteAddress, remotePort, connectionId, behind } = flow;
  if (behind !== undefined) return `edge ${behind.transport} ${behind.address} ${behind.port}`;
  return connectionId === undefined
    ? `${transport} ${remoteAddress} ${remotePort}`
    : `${transport} ${connectionId}`;
};
