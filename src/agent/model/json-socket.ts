/** WebSocket client for JSON events of model vendors, with limits. */
import type { ClientRequestArgs, IncomingMessage } from 'node:http';
import WebSocket, { type ClientOptions } from 'ws';
import type { Clock } from '../../base/clock.ts';
import { isBase64 } from '../../base/text.ts';
import type { AgentNetwork } from '../network.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface JsonSocketOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connectMs: number;
  readonly clock: Clock;
  readonly network: Pick<AgentNetwork, 'guard'>;
}

export interface JsonSocketEvents {
  opened(): void;
  message(message: Json): void;
  malformed(why: string): void;
  /** The connection failed or was closed by the peer. Reported at most once, and not after `close`. */
  lost(cause: string): void;
}

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Maximum unsent bytes, about 30 s of audio. A vendor that reads more slowly is unusable. */
const MAX_WAITING_BYTES = 2 * 1024 * 1024;
/** Interval between pings, in ms. A peer that sends nothing during two intervals is lost. */
const PING_MS = 15_000;
/** Pings of the peer within one of our intervals that end the connection. Each one costs a reply. */
const MAX_PINGS = 300;
/** Bytes of a refusal's body that are read for its reason. */
const MAX_REFUSAL_BYTES = 4096;
/** Malformed messages that end the connection. */
const MAX_MALFORMED = 20;

/** Close code of a connection that ended without a close frame (RFC 6455 §7.1.5). */
const ABNORMAL = 1006;

export class JsonSocket {
  /** Undefined: the egress guard or the client refuses the URL. */
  readonly #socket: WebSocket | undefined;
  readonly #events: JsonSocketEvents;
  #waiting: string[] | undefined = [];
  #waitingBytes = 0;
  #malformed = 0;
  /** Pings of the peer since our last one. */
  #pings = 0;
  #over = false;
  readonly #clock: Clock;
  #isAlive = true;
  #cancelPing: () => void = () => undefined;

  constructor(options: JsonSocketOptions, events: JsonSocketEvents) {
    this.#events = events;
    this.#clock = options.clock;
    const { guard } = options.network;
    // The lookup is not called for addresses.
    let refusal = guard.refuses(options.url);
    try {
      if (refusal === undefined) this.#socket = this.#connect(options, guard.lookup);
    } catch (error) {
      // The client throws for URLs with a fragment, and for header values with control characters.
      refusal = error instanceof Error ? error.message : String(error);
    }
    if (refusal !== undefined) {
      const cause = `cannot be reached: ${refusal}`;
      queueMicrotask(() => this.#lost(cause));
    }
  }

  #connect(
    { url, headers, connectMs }: JsonSocketOptions,
    lookup: AgentNetwork['guard']['lookup'],
  ): WebSocket {
    const client: ClientOptions & ClientRequestArgs = {
      headers: { ...headers },
      handshakeTimeout: connectMs,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      lookup,
    };
    const socket = new WebSocket(url, client);
    socket.on('open', () => {
      if (this.#over) return;
      this.#events.opened();
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const text of waiting) socket.send(text);
      this.#ping();
    });
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    socket.on('ping', () => {
      this.#pings += 1;
      if (this.#pings > MAX_PINGS) this.#lost('sends too many pings');
    });
    socket.on('unexpected-response', (_, response) => {
      void refusalOf(response).then((why) => this.#lost(why));
    });
    socket.on('message', (data) => this.#read(String(data)));
    socket.on('error', (error) => {
      const isOpen = this.#waiting === undefined;
      // An error of several addresses has a code and no message.
      const why = error.message || String((error as { readonly code?: unknown }).code);
      this.#lost(`${isOpen ? 'lost the connection' : 'cannot be reached'}: ${why}`);
    });
    socket.on('close', (code, reason) => {
      const why = String(reason).slice(0, 200);
      if (code === ABNORMAL) this.#lost('lost the connection');
      else this.#lost(`closed the connection with ${code}${why === '' ? '' : ` (${why})`}`);
    });
    return socket;
  }

  /** Sends a message before those that wait for the connection. */
  sendFirst(message: Json): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  send(message: Json): void {
    if (this.#over) return;
    const text = JSON.stringify(message);
    if (this.#waiting === undefined) {
      if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
    } else {
      this.#waiting.push(text);
      this.#waitingBytes += text.length;
    }
    if (Math.max(this.#socket?.bufferedAmount ?? 0, this.#waitingBytes) > MAX_WAITING_BYTES)
      this.#lost('reads too slowly');
    if (this.#waiting === undefined) this.#waitingBytes = 0;
  }

  sendBytes(bytes: Uint8Array): void {
    if (this.#over || this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#socket.send(bytes);
    if (this.#socket.bufferedAmount > MAX_WAITING_BYTES) this.#lost('reads too slowly');
  }

  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#end();
  }

  #ping(): void {
    this.#cancelPing = this.#clock.at(this.#clock.monotonicMs() + PING_MS, () => {
      if (this.#over) return;
      if (!this.#isAlive) {
        this.#lost('does not respond');
        return;
      }
      this.#isAlive = false;
      this.#pings = 0;
      if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.ping();
      this.#ping();
    });
  }

  #read(text: string): void {
    if (this.#over) return;
    this.#isAlive = true;
    const value = readJson(text);
    if (value !== undefined) {
      this.#events.message(value);
      return;
    }
    this.#malformed += 1;
    this.#events.malformed('an event is not a JSON object');
    if (this.#malformed >= MAX_MALFORMED) this.#lost('sends malformed events');
  }

  #lost(cause: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#events.lost(cause);
    this.#end();
  }

  #end(): void {
    this.#cancelPing();
    this.#waiting = undefined;
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.close(1000);
    else this.#socket?.terminate();
  }
}

/** Describes the HTTP response that refused the WebSocket, with the reason and the wait that its server states. */
async function refusalOf(response: IncomingMessage): Promise<string> {
  const { statusCode, headers } = response;
  const wait = headers['retry-after'];
  const status = `responded with status ${statusCode}`;
  const head = wait === undefined ? status : `${status}, retry after ${wait.slice(0, 50)}`;
  let body = '';
  try {
    for await (const chunk of response) {
      body += String(chunk);
      if (body.length > MAX_REFUSAL_BYTES) break;
    }
    const error = part(JSON.parse(body), 'error');
    const why = textOf(error['message']).slice(0, 200);
    return why === '' ? head : `${head}: ${why}`;
  } catch {
    return head;
  }
}

/** Reads a JSON object. Returns undefined for other texts. */
export function readJson(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the object at `key`, or an empty object. */
export const part = (value: unknown, key: string): Json => {
  const found = isJson(value) ? value[key] : undefined;
  return isJson(found) ? found : {};
};

export const list = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? value.filter(isJson) : [];

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A count from a vendor. Invalid values count as 0. */
export const count = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;

/** Whether the value is base64 of whole 16-bit samples. */
export const isPcm = (value: unknown): value is string => {
  if (typeof value !== 'string' || value === '' || value.length % 4 !== 0) return false;
  if (!isBase64(value)) return false;
  const padding = value.endsWith('==') ? 2 : Number(value.endsWith('='));
  return ((value.length / 4) * 3 - padding) % 2 === 0;
};
