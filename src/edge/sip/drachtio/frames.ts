/**
 * Control protocol of drachtio-server (0.9; compatible with drachtio-srf 5): text over TCP, each message as
 * `<bytes>#<payload>`. A payload is a line of words separated by bars. A SIP message follows after a line break, if
 * there is one.
 */

/** Maximum size of a received payload in bytes. */
const MAX_RECEIVED_BYTES = 256 * 1024;
/**
 * Maximum size of a sent payload in bytes. The server's ring buffer has 12,228 bytes, and a longer payload would
 * overwrite itself.
 */
export const MAX_SENT_BYTES = 12_000;
const MOST_DIGITS = 6;
const HASH = 0x23;
const NONE = Buffer.alloc(0);

/** Splits a byte stream into payloads. Throws if the stream is not this protocol. */
export class FrameReader {
  #pending: Buffer = NONE;

  read(chunk: Buffer): readonly Buffer[] {
    const payloads: Buffer[] = [];
    let rest = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    for (;;) {
      const hash = rest.subarray(0, MOST_DIGITS + 1).indexOf(HASH);
      if (hash === -1 && rest.length <= MOST_DIGITS) break;
      const length = lengthOf(rest, hash);
      if (rest.length < hash + 1 + length) break;
      payloads.push(rest.subarray(hash + 1, hash + 1 + length));
      rest = rest.subarray(hash + 1 + length);
    }
    this.#pending = rest;
    return payloads;
  }
}

function lengthOf(bytes: Buffer, hash: number): number {
  const digits = hash === -1 ? '' : bytes.toString('latin1', 0, hash);
  const length = /^\d{1,6}$/.test(digits) ? Number(digits) : 0;
  if (length === 0 || length > MAX_RECEIVED_BYTES) throw new Error('not the protocol of drachtio');
  return length;
}

export function frame(words: readonly string[], message?: Uint8Array): Buffer {
  const line = words.join('|');
  const head = message === undefined ? line : `${line}\r\n`;
  const length = Buffer.byteLength(head) + (message?.length ?? 0);
  return Buffer.concat([Buffer.from(`${length}#${head}`), message ?? NONE]);
}

/** Sender of a message, and the server's IDs of its transaction and dialog. */
export interface MessageMeta {
  /** Source; `application` means the server itself. */
  readonly source: string;
  readonly protocol: string;
  readonly address: string;
  readonly port: number;
  readonly transactionId: string;
  /** Dialog ID, or empty if there is none. */
  readonly dialogId: string;
}

export interface Reply {
  readonly isOk: boolean;
  /** Words after OK or NO. */
  readonly words: readonly string[];
  /** Transaction ID of a sent SIP message. */
  readonly transactionId: string;
  readonly dialogId: string;
}

export type ServerMessage =
  | { readonly kind: 'reply'; readonly to: string; readonly reply: Reply }
  | { readonly kind: 'sip'; readonly meta: MessageMeta; readonly bytes: Buffer };

/** 0 for text that is no port. */
function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port > 65_535 ? 0 : port;
}

/** Returns undefined for other kinds of messages (call records). */
export function readPayload(payload: Buffer): ServerMessage | undefined {
  const lineEnd = payload.indexOf('\r\n');
  const line = payload.toString('utf8', 0, lineEnd === -1 ? payload.length : lineEnd);
  const words = line.split('|');
  const word = (at: number): string => words[at] ?? '';
  if (word(1) === 'response') {
    const reply = {
      isOk: word(3) === 'OK',
      words: words.slice(4),
      transactionId: word(10),
      dialogId: word(11),
    };
    return { kind: 'reply', to: word(2), reply };
  }
  if (word(1) !== 'sip' || lineEnd === -1) return undefined;
  const meta = {
    source: word(2),
    protocol: word(4),
    address: word(5),
    port: portOf(word(6)),
    transactionId: word(8),
    dialogId: word(9),
  };
  return { kind: 'sip', meta, bytes: payload.subarray(lineEnd + 2) };
}
