/** The port that clients of drachtio-server connect to: one client at a time. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

export interface ControlEvents {
  /** `text`: the whole payload. */
  command(id: string, words: readonly string[], text: string): void;
  /** Text after OK. */
  welcome(): readonly string[];
}

export class ControlPort {
  /** Methods that the client wants. */
  readonly routes = new Set<string>();
  readonly #secret: string;
  readonly #events: ControlEvents;
  #server: Server | undefined;
  #client: Socket | undefined;
  #count = 0;

  constructor(secret: string, events: ControlEvents) {
    this.#secret = secret;
    this.#events = events;
  }

  get hasClient(): boolean {
    return this.#client !== undefined;
  }

  get port(): number {
    const address = this.#server?.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async open(port: number): Promise<void> {
    this.#server = createServer((socket) => this.#came(socket));
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  close(): void {
    this.#server?.close();
    this.#client?.destroy();
    this.#client = undefined;
  }

  reply(to: string, words: readonly string[], message?: Uint8Array): void {
    this.write(['response', to, ...words], message);
  }

  write(words: readonly string[], message?: Uint8Array, socket = this.#client): void {
    this.#count += 1;
    const line = [`msg-${this.#count}`, ...words].join('|');
    const head = Buffer.from(`${line}${message === undefined ? '' : '\r\n'}`);
    const bytes = Buffer.concat([head, message ?? Buffer.alloc(0)]);
    socket?.write(Buffer.concat([Buffer.from(`${bytes.length}#`), bytes]));
  }

  #came(socket: Socket): void {
    let pending = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      for (;;) {
        const hash = pending.indexOf('#');
        const length = Number(pending.toString('latin1', 0, Math.max(0, hash)));
        if (hash < 1 || pending.length < hash + 1 + length) return;
        this.#take(pending.toString('utf8', hash + 1, hash + 1 + length), socket);
        pending = pending.subarray(hash + 1 + length);
      }
    });
  }

  #take(text: string, socket: Socket): void {
    const [id = '', verb = '', ...words] = (text.split('\r\n', 1)[0] ?? '').split('|');
    const [first = ''] = words;
    if (verb === 'authenticate') this.#authenticate(id, first, socket);
    else if (socket !== this.#client) socket.destroy();
    else if (verb === 'sip') this.#events.command(id, words, text);
    else {
      if (verb === 'route') this.routes.add(first);
      if (verb === 'remove_route') this.routes.delete(first);
      this.reply(id, ['OK', ...(verb === 'ping' ? ['pong'] : [])]);
    }
  }

  #authenticate(id: string, secret: string, socket: Socket): void {
    if (secret === this.#secret) {
      this.#client = socket;
      this.routes.clear();
      this.reply(id, ['OK', ...this.#events.welcome()]);
    } else {
      this.write(['response', id, 'NO', 'incorrect secret'], undefined, socket);
      socket.end();
    }
  }
}
