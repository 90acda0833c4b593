import type { TcpConnection } from './tcp-connection.ts';

/**
 * Accepted connections of unknown peers, oldest first. When a limit is reached, the oldest is closed in favour of a new
 * one, so that idle connections keep nobody out. Connections of known peers and carriers stay.
 */
export class UnknownTcpPeers {
  readonly #isKnown: (connection: TcpConnection) => boolean;
  readonly #all = new Set<TcpConnection>();
  readonly #byHost = new Map<string, Set<TcpConnection>>();

  constructor(isKnown: (connection: TcpConnection) => boolean) {
    this.#isKnown = isKnown;
  }

  add(connection: TcpConnection, host: string): void {
    this.#all.add(connection);
    const siblings = this.#byHost.get(host) ?? new Set();
    this.#byHost.set(host, siblings.add(connection));
  }

  remove(connection: TcpConnection, host: string): void {
    this.#all.delete(connection);
    const siblings = this.#byHost.get(host);
    siblings?.delete(connection);
    if (siblings?.size === 0) this.#byHost.delete(host);
  }

  /** Of that host, or of all. False: there is none. */
  closeOldest(why: string, host?: string): boolean {
    const among = host === undefined ? this.#all : (this.#byHost.get(host) ?? []);
    for (const connection of among) {
      if (this.#isKnown(connection)) {
        this.remove(connection, host ?? connection.host);
        continue;
      }
      connection.close(why);
      return true;
    }
    return false;
  }
}
