import { RecentMap } from '../../../base/recent-map.ts';
import {
  bracketed,
  type Flow,
  type SipTransportName,
  type Target,
} from '../../../protocol/sip/sip.ts';
import type { DrachtioConnection } from './connection.ts';
import type { MessageMeta } from './frames.ts';

/** Peers whose server and connection are known. */
const MAX_KNOWN = 50_000;

/** A peer as a server of drachtio reaches it. */
interface Way {
  readonly server: DrachtioConnection;
  /** As its URI names it. */
  readonly transport: SipTransportName;
  readonly address: string;
  readonly port: number;
}

/** Where messages come from and go to, in the words of the user agent: a peer over a server, which holds the connection. */
export class Flows {
  readonly #servers: readonly DrachtioConnection[];
  /** The server over which a peer was heard last. */
  readonly #datagrams = new RecentMap<DrachtioConnection>(MAX_KNOWN);
  readonly #ids = new RecentMap<number>(MAX_KNOWN);
  readonly #ways = new RecentMap<Way>(MAX_KNOWN);
  #lastId = 0;
  #turn = 0;

  constructor(servers: readonly DrachtioConnection[]) {
    this.#servers = servers;
  }

  /** One that is connected, each in its turn. */
  any(): DrachtioConnection | undefined {
    const up = this.#servers.filter(({ isUp }) => isUp);
    this.#turn += 1;
    return up[this.#turn % Math.max(1, up.length)];
  }

  /** Of a message that a server brought; `via`: transport in its top Via. */
  heard(server: DrachtioConnection, meta: MessageMeta, via: string | undefined): Flow {
    const { address, port } = meta;
    const told = toldTransport(meta.protocol, via);
    if (told === 'udp') {
      this.#datagrams.set(`${address} ${port}`, server);
      return flowOf(server, { transport: 'udp', address, port }, undefined);
    }
    // What a Via says of encryption is not believed: a WebSocket may have it, and counts as if it had none.
    const named = told === 'ws' && via === 'WSS' ? 'wss' : told;
    const id = this.#idOf({ server, transport: named, address, port });
    return flowOf(server, { transport: told, address, port }, id);
  }

  /** To somebody who is not connected yet: whichever server opens the connection. */
  to({ transport, address, port }: Target): Flow | undefined {
    const server = this.any();
    if (server === undefined) return undefined;
    const id = this.#idOf({ server, transport, address, port });
    return flowOf(server, { transport, address, port }, id);
  }

  /** The server that a request is for, and where it is to send it; undefined: none is connected. */
  wayOf(flow: Flow): { readonly server: DrachtioConnection; readonly uri: string } | undefined {
    const { remoteAddress: address, remotePort: port, connectionId } = flow;
    const way =
      connectionId === undefined
        ? {
            server: this.#datagrams.get(`${address} ${port}`),
            transport: flow.transport,
            address,
            port,
          }
        : this.#ways.get(String(connectionId));
    // A datagram may leave from any of them; a connection is where it is.
    const isOpen = connectionId === undefined && way?.server?.isUp !== true;
    const server = isOpen ? this.any() : way?.server;
    if (way === undefined || server?.isUp !== true) return undefined;
    const { transport } = way;
    const uri = `sip:${bracketed(way.address)}:${way.port};transport=${transport}`;
    return { server, uri };
  }

  #idOf(way: Way): number {
    const key = `${way.server.name} ${way.transport} ${way.address} ${way.port}`;
    let id = this.#ids.get(key);
    if (id === undefined || this.#ways.get(String(id)) === undefined) {
      this.#lastId += 1;
      id = this.#lastId;
      this.#ids.set(key, id);
      this.#ways.set(String(id), way);
    }
    return id;
  }
}

/** drachtio calls a WebSocket tcp, and does not say what an ACK came over. */
function toldTransport(protocol: string, via: string | undefined): SipTransportName {
  if (protocol === 'udp' || protocol === 'tls') return protocol;
  if (protocol === '' && via === 'UDP') return 'udp';
  return via === 'WS' || via === 'WSS' ? 'ws' : 'tcp';
}

const flowOf = (
  server: DrachtioConnection,
  { transport, address, port }: Omit<Way, 'server'>,
  connectionId: number | undefined,
): Flow => ({
  transport,
  ...{ localAddress: server.host, localPort: 0 },
  ...{ remoteAddress: address, remotePort: port, connectionId },
});
