/** An operator's servers: transcription and speech over HTTP, and streaming recognition with the vosk-server protocol. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export interface Received {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Buffer;
}

export class SpeechServer {
  readonly received: Received[] = [];
  /** Text messages of streaming clients. */
  readonly texts: string[] = [];
  /** Bytes of audio received over WebSocket. */
  streamed = 0;
  readonly #server: Server;
  readonly #sockets: WebSocketServer;

  private constructor(
    server: Server,
    stream: ((socket: WebSocket, message: Buffer | string) => void) | undefined,
  ) {
    this.#server = server;
    this.#sockets = new WebSocketServer({ server });
    this.#sockets.on('connection', (socket) =>
      socket.on('message', (data: Buffer, isBinary) => {
        if (isBinary) this.streamed += data.length;
        else this.texts.push(String(data));
        stream?.(socket, isBinary ? data : String(data));
      }),
    );
  }

  static async listen(on: {
    readonly reply?: (received: Received, response: ServerResponse) => void;
    readonly stream?: (socket: WebSocket, message: Buffer | string) => void;
  }): Promise<SpeechServer> {
    const server = createServer((request: IncomingMessage, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const received = {
          path: request.url ?? '',
          authorization: request.headers.authorization,
          body: Buffer.concat(parts),
        };
        made.received.push(received);
        on.reply?.(received, response);
      });
    });
    const made = new SpeechServer(server, on.stream);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Parses a multipart body into fields by name; file contents as latin1. */
export function formOf(body: Buffer): Record<string, string> {
  const text = body.toString('latin1');
  const boundary = text.slice(0, text.indexOf('\r\n'));
  const fields: Record<string, string> = {};
  for (const part of text.split(boundary)) {
    const name = /name="([^"]+)"/.exec(part)?.[1];
    const at = part.indexOf('\r\n\r\n');
    if (name !== undefined && at > 0) fields[name] = part.slice(at + 4, -2);
  }
  return fields;
}
