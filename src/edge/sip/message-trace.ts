import type { Flow } from '../../protocol/sip/sip.ts';

/** One message as it crossed the wire, for a call's timeline. Credentials are masked. */
export interface MessageTrace {
  readonly direction: 'in' | 'out';
  readonly flow: Flow;
  readonly bytes: Uint8Array;
  readonly callId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

/** Messages that have been counted by direction and by method or status. */
export interface MessageCount {
  readonly direction: 'in' | 'out';
  /** Method of a request; empty for a response. */
  readonly method: string;
  /** Status of a response; empty for a request. */
  readonly code: string;
  readonly count: number;
}

const CREDENTIALS = /^((?:proxy-)?authorization[ \t]*:[ \t]*\S+)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim;
const CALL_ID = /^(?:call-id|i)[ \t]*:[ \t]*(\S+)/im;
const METHODS = new Set([
  'INVITE',
  'ACK',
  'CANCEL',
  'BYE',
  'OPTIONS',
  'INFO',
  'UPDATE',
  'REGISTER',
]);
const START_LINE_BYTES = 16;

export const callIdOf = (text: string): string | undefined => CALL_ID.exec(text)?.[1];

/** The message without what would let its reader log in. */
export const masked = (text: string): string => text.replace(CREDENTIALS, '$1 (masked)');

/** Counts messages; the names are few, whatever unknown peers send. */
export class MessageCounter {
  readonly #counts = new Map<
    string,
    { readonly row: Omit<MessageCount, 'count'>; count: number }
  >();

  note(direction: 'in' | 'out', bytes: Uint8Array): void {
    const start = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
      'latin1',
      0,
      Math.min(bytes.length, START_LINE_BYTES),
    );
    const status = /^SIP\/2\.0 ([1-6]\d\d)/.exec(start)?.[1];
    const method = start.slice(0, Math.max(0, start.indexOf(' ')));
    const name = status === undefined ? (METHODS.has(method) ? method : 'other') : '';
    const key = `${direction} ${name} ${status ?? ''}`;
    const known = this.#counts.get(key);
    if (known === undefined) {
      this.#counts.set(key, { row: { direction, method: name, code: status ?? '' }, count: 1 });
    } else known.count += 1;
  }

  rows(): readonly MessageCount[] {
    return [...this.#counts.values()].map(({ row, count }) => ({ ...row, count }));
  }
}
