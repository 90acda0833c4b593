/**
 * A TCP connection of a node to PostgreSQL or Redis, through a proxy that a test can disturb. While a direction is cut, its
 * data waits, as TCP retransmits it; the connections stay open. Lost packets delay the data after them.
 */
import { once } from 'node:events';
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Share of chunks that wait for a retransmission, and its duration, ms. */
const LOST = 0.1;
const RETRANSMISSION_MS = [200, 900] as const;

export interface Weather {
  /** The server does not receive data of the node. */
  isSendingCut: boolean;
  /** The node does not receive data of the server. */
  isReceivingCut: boolean;
  isLossy: boolean;
}

export class Link {
  readonly weather: Weather = { isSendingCut: false, isReceivingCut: false, isLossy: false };
  readonly #server: Server;
  readonly #random: () => number;
  /** Server behind the proxy. Set before the first connection. */
  to: NetConnectOpts = { port: 0 };
  #changed = Promise.withResolvers<void>();

  private constructor(server: Server, random: () => number) {
    this.#server = server;
    this.#random = random;
    server.on('connection', (near) => this.#join(near));
  }

  static async open(random: () => number): Promise<Link> {
    const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Link(server, random);
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port;
  }

  /** Changes the weather for all connections. */
  set(weather: Partial<Weather>): void {
    Object.assign(this.weather, weather);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  close(): void {
    this.#server.close();
  }

  #join(near: Socket): void {
    const far = connect(this.to);
    // A failure also ends the iteration below.
    for (const socket of [near, far]) socket.on('error', () => undefined);
    const sending = this.#carry(near, far, () => this.weather.isSendingCut);
    const receiving = this.#carry(far, near, () => this.weather.isReceivingCut);
    void Promise.all([sending, receiving]);
  }

  async #carry(from: Socket, to: Socket, isCut: () => boolean): Promise<void> {
    from.setNoDelay(true);
    try {
      for await (const chunk of from) {
        while (isCut()) await this.#changed.promise;
        if (this.weather.isLossy && this.#random() < LOST) {
          const [least, most] = RETRANSMISSION_MS;
          await pause(least + this.#random() * (most - least));
        }
        if (!to.write(chunk as Buffer)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
      }
      to.end();
    } catch {
      to.destroy();
    }
  }
}
