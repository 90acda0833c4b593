/** JSON messages over the WebSocket of a vendor. */
import { WebSocket } from 'ws';

export type Event = Readonly<Record<string, unknown>>;

/** Messages that wait for the connection, about 20 s of audio. Further ones are discarded. */
const MAX_WAITING = 1000;

export interface VendorEvents {
  opened?(): void;
  message(event: Event): void;
  /** The connection failed or was closed by the vendor. */
  lost(cause: string): void;
}

export class VendorSocket {
  readonly #socket: WebSocket;
  readonly #waiting: (string | Buffer)[] = [];
  #isClosed = false;

  constructor(url: string, headers: Readonly<Record<string, string>>, events: VendorEvents) {
    this.#socket = new WebSocket(url, { headers, handshakeTimeout: 5000 });
    this.#socket.on('open', () => {
      events.opened?.();
      for (const message of this.#waiting.splice(0)) this.#socket.send(message);
    });
    this.#socket.on('message', (data) => {
      const event = parsed(String(data));
      if (event === undefined) console.log('the vendor sent a malformed message');
      else events.message(event);
    });
    this.#socket.on('error', (error) => console.log(`vendor: ${error.message}`));
    this.#socket.on('close', (code) => {
      if (!this.#isClosed) events.lost(`the vendor closed the connection (${code})`);
    });
  }

  /** Sends an object as JSON, or bytes. Messages wait until the connection is open. */
  send(message: Event | Buffer): void {
    const frame = Buffer.isBuffer(message) ? message : JSON.stringify(message);
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(frame);
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(frame);
  }

  close(): void {
    this.#isClosed = true;
    this.#socket.close();
  }
}

/** Member of an event that is an object, or an empty object. */
export const part = (event: Event, name: string): Event => {
  const value = event[name];
  return typeof value === 'object' && value !== null ? (value as Event) : {};
};

function parsed(text: string): Event | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Event) : undefined;
  } catch {
    return undefined;
  }
}
