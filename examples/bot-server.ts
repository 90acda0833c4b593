/** Shared code of the TypeScript bots: an answer URL and a WebSocket on one port, and typed protocol messages. */
import { createServer } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';

export interface MediaFormat {
  readonly encoding: 'audio/x-l16' | 'audio/x-mulaw';
  readonly sampleRate: number;
}

/** Messages of the service that the examples use. */
export type ServiceMessage =
  | {
      readonly event: 'start';
      readonly start: {
        readonly callId: string;
        readonly streamId: string;
        readonly from: string;
        readonly mediaFormat: MediaFormat;
      };
    }
  | {
      readonly event: 'media';
      readonly media: { readonly track: string; readonly payload: string };
    }
  | { readonly event: 'dtmf'; readonly dtmf: { readonly digit: string } }
  | { readonly event: 'speechStarted' | 'speechStopped' }
  | { readonly event: 'playedStream'; readonly name: string; readonly playedMs?: number }
  | { readonly event: 'clearedAudio'; readonly reason?: string; readonly playedMs?: number }
  | {
      readonly event: 'transfer';
      readonly transfer: { readonly status: string; readonly detail?: string };
    }
  | { readonly event: 'stop'; readonly stop: { readonly reason: string } }
  | {
      readonly event: 'error';
      readonly error: { readonly code: string; readonly message: string };
    };

export interface BotSocket {
  /** Sends one message; `streamId` is added. */
  send(message: Readonly<Record<string, unknown>>): void;
  /** Ends the stream. With `keepCallAlive`, the document continues after it. */
  close(): void;
}

export interface Bot {
  message(message: ServiceMessage): void;
  closed(): void;
}

/** Attributes of the `Stream` element, besides `bidirectional` and `keepCallAlive`. */
export type StreamAttributes = Readonly<Record<string, string | number | boolean>>;

/** Public base URL of a program: PUBLIC_URL, or its port on this machine. */
export const publicUrl = (port: number): string =>
  process.env['PUBLIC_URL'] ?? `http://127.0.0.1:${port}`;

/** Port of a program: its first argument. */
export const portOr = (fallback: number): number => Number(process.argv[2] ?? fallback);

/** Serves `/answer` and `/stream` on 127.0.0.1 and creates one bot per call. `after`: elements behind the stream. */
export function serveBot(
  port: number,
  attributes: StreamAttributes,
  makeBot: (socket: BotSocket) => Bot,
  after = '',
): void {
  const base = publicUrl(port);
  const streamUrl = `${base.replace(/^http/, 'ws')}/stream`;
  const all = { bidirectional: true, keepCallAlive: true, ...attributes };
  const words = Object.entries(all).map(([name, value]) => `${name}="${value}"`);
  const server = createServer((request, response) => {
    request.resume();
    const path = new URL(request.url ?? '/', base).pathname;
    if (path === '/answer') {
      response.writeHead(200, { 'Content-Type': 'application/xml' });
      response.end(`<Response><Stream ${words.join(' ')}>${streamUrl}</Stream>${after}</Response>`);
    } else {
      response.writeHead(path === '/hangup' ? 200 : 404).end();
    }
  });
  new WebSocketServer({ server, path: '/stream' }).on('connection', (socket) =>
    attach(socket, makeBot),
  );
  server.listen(port, '127.0.0.1', () => {
    console.log(`answer URL  ${base}/answer`);
    console.log(`hangup URL  ${base}/hangup`);
    console.log(`stream URL  ${streamUrl}`);
  });
}

function attach(socket: WebSocket, makeBot: (socket: BotSocket) => Bot): void {
  let streamId: string | undefined;
  const bot = makeBot({
    send: (message) => {
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ ...message, streamId }));
    },
    close: () => socket.close(),
  });
  socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as ServiceMessage;
    if (message.event === 'start') {
      streamId = message.start.streamId;
      console.log(`call ${message.start.callId} began`);
    } else if (message.event === 'error') {
      console.log(`the service says: ${message.error.code}: ${message.error.message}`);
    } else if (message.event === 'stop') {
      console.log(`the stream stops: ${message.stop.reason}`);
    }
    bot.message(message);
  });
  socket.on('close', () => bot.closed());
  socket.on('error', (error) => console.log(`socket failed: ${error.message}`));
}
