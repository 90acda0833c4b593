import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';

export interface ConnectionLimits {
  /** Maximum number of connections per address. */
  readonly perAddress: number;
  readonly total: number;
  /** Addresses or CIDR ranges of proxies. Only the total limit applies to them. */
  readonly proxies: readonly string[];
}

/**
 * A connection, identified by the peer's address and port: with TLS, the socket of a request differs from the accepted socket.
 */
interface Connection {
  readonly address: string;
  readonly socket: Socket;
  /** Number of requests in progress. */
  busy: number;
}

/**
 * Limits the connections per address. When an address reaches its limit, its longest-idle connection is closed in favor of the
 * new one, so that idle connections do not block its other clients. The new connection is closed only if all others have
 * requests in progress.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #proxies: BlockList;
  readonly #all = new Map<string, Connection>();
  /** Keys of idle connections, longest idle first. */
  readonly #idle = new Set<string>();
  readonly #byAddress = new Map<string, { count: number; readonly idle: Set<string> }>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
    this.#proxies = blockListOf(limits.proxies);
  }

  /** Current number of connections. */
  get size(): number {
    return this.#all.size;
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#accepted(socket));
    // The handler of an upgraded connection counts it.
    server.on('upgrade', ({ socket: { remoteAddress = '', remotePort } }) =>
      this.#closed(nameOf(remoteAddress, remotePort), remoteAddress),
    );
    server.on('request', (request: IncomingMessage, response: ServerResponse) =>
      this.#requested(request, response),
    );
  }

  #accepted(socket: Socket): void {
    const address = socket.remoteAddress;
    if (address === undefined) return;
    const name = nameOf(address, socket.remotePort);
    const known = this.#byAddress.get(address) ?? { count: 0, idle: new Set() };
    this.#byAddress.set(address, known);
    known.count += 1;
    this.#all.set(name, { address, socket, busy: 0 });
    this.#rest(name);
    socket.once('close', () => this.#closed(name, address));
    if (known.count > this.#limits.perAddress && !this.#isProxy(address)) {
      this.#closeOldest(known.idle);
    } else if (this.#all.size > this.#limits.total) this.#closeOldest(this.#idle);
  }

  #requested(request: IncomingMessage, response: ServerResponse): void {
    const { remoteAddress, remotePort } = request.socket;
    const name = nameOf(remoteAddress ?? '', remotePort);
    const connection = this.#all.get(name);
    if (connection === undefined) return;
    connection.busy += 1;
    this.#idle.delete(name);
    this.#byAddress.get(connection.address)?.idle.delete(name);
    response.once('close', () => {
      connection.busy -= 1;
      if (connection.busy === 0 && this.#all.get(name) === connection) this.#rest(name);
    });
  }

  #rest(name: string): void {
    this.#idle.add(name);
    const address = this.#all.get(name)?.address ?? '';
    this.#byAddress.get(address)?.idle.add(name);
  }

  /** Closes the longest-idle connection. The new connection is last in the list, so it is closed only if no other is idle. */
  #closeOldest(idle: ReadonlySet<string>): void {
    for (const name of idle) {
      const connection = this.#all.get(name);
      if (connection === undefined) continue;
      connection.socket.destroy();
      this.#closed(name, connection.address);
      return;
    }
  }

  #closed(name: string, address: string): void {
    if (!this.#all.delete(name)) return;
    this.#idle.delete(name);
    const known = this.#byAddress.get(address);
    if (known === undefined) return;
    known.count -= 1;
    known.idle.delete(name);
    if (known.count <= 0) this.#byAddress.delete(address);
  }

  #isProxy(address: string): boolean {
    return holds(this.#proxies, address);
  }
}

const nameOf = (address: string, port: number | undefined): string => `${address} ${port}`;

export function holds(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

export function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address);
    if (family === 0) continue;
    const kind = family === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, kind);
    else list.addSubnet(address, Number(bits), kind);
  }
  return list;
}
