/** Splits a byte stream into SIP messages (RFC 3261 §18.3, RFC 5626 §3.5.1), independent of how the stream is divided. */
import { headerKey } from '../header/names.ts';
import { parseDecimal, trimmed } from '../header/text.ts';
import { asBuffer, endOfHead, MAX_MESSAGE_BYTES } from '../parse.ts';

/** Maximum size of start line and headers, in bytes. */
export const MAX_HEAD_BYTES = 65_535;

const INITIAL_CAPACITY = 4_096;
/** Start line of a request or response, of any version. */
const IS_SIP = /^[^\n]*SIP\//i;
const CR = 13;
const LF = 10;

export type FramerEvent =
  /** One complete message, copied from the stream. */
  | { readonly kind: 'message'; readonly bytes: Uint8Array }
  /** Keep-alive CRLFCRLF; answer with CRLF. */
  | { readonly kind: 'ping' }
  /** Keep-alive CRLF that answers our ping. */
  | { readonly kind: 'pong' }
  /** Framing is lost. If `bytes` can be parsed, answer with `status`, then close. Later bytes are ignored. */
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly reason: string;
      readonly bytes: Uint8Array;
    };

export class StreamFramer {
  #buffer: Buffer = Buffer.allocUnsafe(INITIAL_CAPACITY);
  #length = 0;
  /** Offset at which the search for the end of the head resumes. */
  #searched = 0;
  /** Length of the message that begins the buffer, in bytes; 0 until its head is complete. */
  #expected = 0;
  #pongsExpected = 0;
  #failed = false;

  /** Bytes of an incomplete message; 0 between messages, also after a line break that may begin a ping. */
  get pendingBytes(): number {
    const [first] = this.#buffer;
    const isBreak = this.#expected === 0 && (first === CR || first === LF);
    return isBreak ? 0 : this.#length;
  }

  /** Records that CRLFCRLF was sent, so the next lone CRLF is its answer. */
  pingSent(): void {
    this.#pongsExpected += 1;
  }

  push(chunk: Uint8Array): readonly FramerEvent[] {
    const events: FramerEvent[] = [];
    if (this.#failed) return events;
    this.#append(chunk);
    let at = 0;
    for (;;) {
      const next = this.#next(at, events);
      if (next === undefined) break;
      at = next;
    }
    if (this.#failed) this.#length = 0;
    else this.#discard(at);
    return events;
  }

  #append(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.#buffer.length));
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = needed;
  }

  /** Drops the first `count` bytes and releases the memory of a large message. */
  #discard(count: number): void {
    if (count === 0) return;
    const rest = this.#length - count;
    if (rest === 0 && this.#buffer.length > 16 * INITIAL_CAPACITY) {
      this.#buffer = Buffer.allocUnsafe(INITIAL_CAPACITY);
    } else {
      this.#buffer.copy(this.#buffer, 0, count, this.#length);
    }
    this.#length = rest;
    this.#searched = Math.max(0, this.#searched - count);
  }

  /** Reads one event at `at`. Returns the offset of the next, or undefined if more bytes are needed. */
  #next(at: number, events: FramerEvent[]): number | undefined {
    const pending = this.#buffer.subarray(0, this.#length);
    if (at >= pending.length) return undefined;
    if (this.#expected > 0) return this.#whole(pending, at, events);
    if (pending[at] === CR || pending[at] === LF) return this.#lineBreak(pending, at, events);
    // Start three bytes earlier, because the empty line may be split.
    const bodyAt = endOfHead(pending, Math.max(at, this.#searched - 3));
    if (bodyAt === undefined) {
      this.#searched = pending.length;
      if (pending.length - at > MAX_HEAD_BYTES) {
        this.#fail(events, 513, 'Message Too Large', pending.subarray(at, at + MAX_HEAD_BYTES));
      }
      return undefined;
    }
    const text = pending.toString('latin1', at, bodyAt);
    const head = pending.subarray(at, bodyAt);
    // A web page can send an HTTP request here, whose body it chooses. Nothing after it may be read as SIP.
    if (!IS_SIP.test(text)) return this.#fail(events, 400, 'Not SIP', head);
    const length = contentLength(text);
    if (typeof length === 'string') return this.#fail(events, 400, length, head);
    if (bodyAt - at + length > MAX_MESSAGE_BYTES) {
      return this.#fail(events, 513, 'Message Too Large', head);
    }
    this.#expected = bodyAt - at + length;
    return this.#whole(pending, at, events);
  }

  /** Reads the message at `at`. Its head was read before, and only once, however its body is divided. */
  #whole(pending: Buffer, at: number, events: FramerEvent[]): number | undefined {
    const end = at + this.#expected;
    if (end > pending.length) return undefined;
    events.push({ kind: 'message', bytes: Buffer.from(pending.subarray(at, end)) });
    this.#expected = 0;
    this.#searched = end;
    return end;
  }

  /** Handles line breaks between messages: CRLFCRLF is a ping, CRLF after our ping a pong, others are skipped. */
  #lineBreak(pending: Buffer, at: number, events: FramerEvent[]): number | undefined {
    if (pending[at] === LF) return at + 1;
    if (at + 1 >= pending.length) return undefined;
    if (pending[at + 1] !== LF) return at + 1;
    if (this.#pongsExpected > 0) {
      this.#pongsExpected -= 1;
      events.push({ kind: 'pong' });
      return at + 2;
    }
    if (at + 2 >= pending.length) return undefined;
    if (pending[at + 2] !== CR) return at + 2;
    if (at + 3 >= pending.length) return undefined;
    if (pending[at + 3] !== LF) return at + 2;
    events.push({ kind: 'ping' });
    return at + 4;
  }

  #fail(events: FramerEvent[], status: number, reason: string, bytes: Uint8Array): undefined {
    this.#failed = true;
    events.push({ kind: 'error', status, reason, bytes: Buffer.from(bytes) });
    return undefined;
  }
}

/** Body length, which is mandatory on a stream, or an error text. */
function contentLength(head: string): number | string {
  let length: number | undefined;
  for (const line of head.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0 || headerKey(line.slice(0, colon).trimEnd()) !== 'content-length') continue;
    const text = line.replace('\r', '');
    const value = parseDecimal(trimmed(text, colon + 1, text.length), 2 ** 32);
    if (value === undefined) return 'Malformed Content-Length';
    if (length !== undefined && length !== value) return 'Multiple Content-Length Values';
    length = value;
  }
  return length ?? 'Missing Content-Length';
}

/** Answer to a ping (RFC 5626 §4.4.1). */
export const PONG: Uint8Array = asBuffer(Uint8Array.of(CR, LF));

export const PING: Uint8Array = asBuffer(Uint8Array.of(CR, LF, CR, LF));
