import type { SipTransportName } from '../types.ts';

/** Source of received bytes and destination of responses (RFC 5626 §2). */
export interface Flow {
  readonly transport: SipTransportName;
  /** IP address, IPv6 without brackets. */
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Connection of a stream transport; undefined over UDP. */
  readonly connectionId: number | undefined;
  /** Location of the sender as reported by a trusted edge proxy. Responses go to the proxy. */
  readonly behind?: PeerPlace | undefined;
}

/** Transport and address of a peer. */
export interface PeerPlace {
  readonly transport: SipTransportName;
  readonly address: string;
  readonly port: number;
}

/** Peer at the remote end of a flow, to which authentication, budgets and permissions apply. */
export const peerOf = (flow: Flow): PeerPlace =>
  flow.behind ?? {
    transport: flow.transport,
    address: flow.remoteAddress,
    port: flow.remotePort,
  };

/** Key of a flow: its connection, or over UDP the peer's address and port. Behind an edge proxy, the peer's. */
export const flowKey = (flow: Flow): string => {
  const { transport, remoteAddress, remotePort, connectionId, behind } = flow;
  if (behind !== undefined) return `edge ${behind.transport} ${behind.address} ${behind.port}`;
  return connectionId === undefined
    ? `${transport} ${remoteAddress} ${remotePort}`
    : `${transport} ${connectionId}`;
};
