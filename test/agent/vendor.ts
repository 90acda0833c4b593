/** Stand-in for the WebSocket API of a model vendor. Tests script its events. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export type Event = Readonly<Record<string, unknown>>;

export class Vendor {
  readonly received: Event[] = [];
  /** Bytes of binary messages. */
  receivedBytes = 0;
  readonly upgrades: IncomingMessage[] = [];
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly #waiting = new Set<() => void>();
  readonly #pinged = Promise.withResolvers<void>();
  respondsToPings = true;
  /** Reacts to an event of the client. */
  react: (event: Event, vendor: Vendor) => void = () => undefined;

  private constructor(server: Server) {
    this.#server = server;
    this.#sockets = new WebSocketServer({ server, autoPong: false });
    this.#sockets.on('connection', (socket, request) => {
      socket.on('ping', () => {
        this.#pinged.resolve();
        if (this.respondsToPings) socket.pong();
      });
      this.upgrades.push(request);
      socket.on('error', () => undefined);
      socket.on('message', (data, isBinary) => {
        if (isBinary) {
          this.receivedBytes += (data as Buffer).length;
          return;
        }
        const event = JSON.parse(String(data)) as Event;
        this.received.push(event);
        this.react(event, this);
        for (const check of [...this.#waiting]) check();
      });
      for (const check of [...this.#waiting]) check();
    });
  }

  static async listen(): Promise<Vendor> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Vendor(server);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Resolves at the first ping. */
  pinged(): Promise<void> {
    return this.#pinged.promise;
  }

  get sockets(): readonly WebSocket[] {
    return [...this.#sockets.clients];
  }

  send(...events: readonly Event[]): void {
    for (const event of events) this.sendText(JSON.stringify(event));
  }

  sendText(text: string): void {
    for (const socket of this.sockets) socket.send(text);
  }

  sendBinary(text: string): void {
    for (const socket of this.sockets) socket.send(Buffer.from(text), { binary: true });
  }

  /** Resolves with the first received event that matches. */
  async got(matches: (event: Event) => boolean): Promise<Event> {
    return new Promise((resolve) => {
      const check = (): void => {
        const found = this.received.find(matches);
        if (found === undefined) return;
        this.#waiting.delete(check);
        resolve(found);
      };
      this.#waiting.add(check);
      check();
    });
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.terminate();
    this.#sockets.close();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** `ms` of audio: signed 16-bit samples at 24 kHz, base64. */
export const audio24k = (ms: number): string => Buffer.alloc(ms * 48, 1).toString('base64');
