/** A customer's servers, written without code of this project: HTTP for answer XML and callbacks, and a WebSocket bot. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Json } from './service.ts';

export interface Posted {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly form: Readonly<Record<string, string>>;
  /** Path and query as received. */
  readonly url: string;
}

export type Page = (response: ServerResponse, posted: Posted) => void;
export type Bot = (socket: WebSocket, request: IncomingMessage) => void;

export class Customer {
  readonly posted: Posted[] = [];
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #pages = new Map<string, Page>();
  readonly #bots = new Map<string, Bot>();
  readonly #connections = new Set<Duplex>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => void this.#serve(request, response));
    server.on('connection', (socket) => {
      this.#connections.add(socket);
      socket.on('close', () => this.#connections.delete(socket));
      socket.on('error', () => undefined);
    });
    server.on('upgrade', (request, socket, head) => {
      const bot = this.#bots.get(request.url ?? '');
      if (bot === undefined) socket.destroy();
      else
        this.#sockets.handleUpgrade(request, socket, head, (opened) => {
          opened.on('error', () => undefined);
          bot(opened, request);
        });
    });
  }

  static async listen(): Promise<Customer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Customer(server);
  }

  get authority(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Serves requests for `path` and returns the URL. */
  page(path: string, page: Page): string {
    this.#pages.set(path, page);
    return `http://${this.authority}${path}`;
  }

  xml(path: string, body: string): string {
    return this.page(path, (response) => {
      response.writeHead(200, { 'content-type': 'application/xml' }).end(body);
    });
  }

  bot(path: string, bot: Bot): string {
    this.#bots.set(path, bot);
    return `ws://${this.authority}${path}`;
  }

  at(path: string): Posted[] {
    return this.posted.filter((posted) => posted.path === path);
  }

  async close(): Promise<void> {
    for (const socket of this.#connections) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    await once(request, 'end').catch(() => undefined);
    const posted = {
      path,
      headers: request.headers,
      body: text,
      form: Object.fromEntries(new URLSearchParams(text)),
      url: request.url ?? '/',
    };
    this.posted.push(posted);
    const page = this.#pages.get(path);
    if (page === undefined) response.writeHead(200).end();
    else page(response, posted);
  }
}

/** A bot that returns the audio it receives. */
export const echoBot: Bot = (socket) => {
  let format: Json = {};
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.event === 'start') format = message.start.mediaFormat;
    if (message.event !== 'media') return;
    const { encoding: contentType, sampleRate } = format;
    socket.send(
      JSON.stringify({
        event: 'playAudio',
        media: { contentType, sampleRate, payload: message.media.payload },
      }),
    );
  });
};

export const streamXml = (url: string, attributes = ''): string =>
  `<Response><Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000" ${attributes}>${url}</Stream></Response>`;
