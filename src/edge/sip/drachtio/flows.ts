import { bracketed } from '../../../base/host.ts';
import { RecentMap } from '../../../base/recent-map.ts';
import type { Flow, SipTransportName, Target } from '../../../protocol/sip/sip.ts';
import type { DrachtioConnection } from './connection.ts';
import type { MessageMeta } from './frames.ts';

/** Maximum number of peers with a known server and connection. */
const MAX_KNOWN = 50_000;

/** Route to a peer over a drachtio-server. */
interface Way {
  readonly server: DrachtioConnection;
  /** Transport as named in its URI. */
  readonly transport: SipTransportName;
  readonly address: string;
  readonly port: number;
}

/** Maps flows of the user agent to peers behind a server, which holds the connection. */
export class Flows {
  readonly #servers: readonly DrachtioConnection[];
  /** Server over which a peer was last received. */
  readonly #datagrams = new RecentMap<DrachtioConnection>(MAX_KNOWN);
  readonly #ids = new RecentMap<number>(MAX_KNOWN);
  readonly #ways = new RecentMap<Way>(MAX_KNOWN);
  #lastId = 0;
  #turn = 0;

  constructor(servers: readonly DrachtioConnection[]) {
    this.#servers = servers;
  }

  /** Next connected server in round-robin order. */
  any(): DrachtioConnection | undefined {
    const up = this.#servers.filter(({ isUp }) => isUp);
    this.#turn += 1;
    return up[this.#turn % Math.max(1, up.length)];
  }

  /** Flow of a message from a server. `via` is the transport in its top Via. */
  received(server: DrachtioConnection, meta: MessageMeta, via: string | undefined): Flow {
    const { address, port } = meta;
    const reported = toldTransport(meta.protocol, via);
    if (reported === 'udp') {
      this.#datagrams.set(`${address} ${port}`, server);
      return flowOf(server, { transport: 'udp', address, port }, undefined);
    }
    // The Via is not trusted for encryption, so a WebSocket always counts as unencrypted, except in its name.
    const named = reported === 'ws' && via === 'WSS' ? 'wss' : reported;
    const id = this.#idOf({ server, transport: named, address, port });
    return flowOf(server, { transport: reported, address, port }, id);
  }

  /** Flow to a peer without a connection; any server may open it. */
  to({ transport, address, port }: Target): Flow | undefined {
    const server = this.any();
    if (server === undefined) return undefined;
    const id = this.#idOf({ server, transport, address, port });
    return flowOf(server, { transport, address, port }, id);
  }

  /** Server and destination of a request, or undefined if no server is connected. */
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
    // Any server can send a datagram, but a connection belongs to one server.
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

/** Transport of a message. drachtio reports a WebSocket as tcp and omits the transport of an ACK. */
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
  localAddress: server.host,
  localPort: 0,
  remoteAddress: address,
  remotePort: port,
  connectionId,
});
