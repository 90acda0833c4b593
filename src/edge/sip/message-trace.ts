import type { Flow, SipTransportName } from '../../protocol/sip/sip.ts';

/** One message as it crossed the wire, for a call's timeline. Whoever shows it masks its credentials (`masked`). */
export interface MessageTrace {
  readonly direction: 'in' | 'out';
  readonly flow: Flow;
  readonly text: string;
  readonly callId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

/** Messages that have been counted by direction and by method or status. */
export interface MessageCount {
  readonly direction: 'in' | 'out';
  readonly transport: SipTransportName;
  /** Method of a request; empty for a response. */
  readonly method: string;
  /** Status of a response; empty for a request. */
  readonly code: string;
  readonly count: number;
}

const CREDENTIALS = /^((?:proxy-)?authorization[ \t]*:[ \t]*\S+)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim;
const CALL_ID = /^(?:call-id|i)[ \t]*:[ \t]*(\S+)/im;
const USUAL_CALL_ID = '\nCall-ID: ';
const END_OF_HEAD = '\n\r\n';
const BLANK = /\s/;
const METHODS = ['INVITE', 'ACK', 'CANCEL', 'BYE', 'OPTIONS', 'INFO', 'UPDATE', 'REGISTER'].map(
  (name) => ({ name, start: Buffer.from(`${name} `) }),
);

/** The usual spelling first: a search for a text costs a tenth of one for a pattern. */
export function callIdOf(text: string): string | undefined {
  const at = text.indexOf(USUAL_CALL_ID);
  const start = at + USUAL_CALL_ID.length;
  const end = text.indexOf('\r', start);
  const callId = text.slice(start, end);
  const isUsual = at !== -1 && end > start && at < text.indexOf(END_OF_HEAD);
  return isUsual && !BLANK.test(callId) ? callId : CALL_ID.exec(text)?.[1];
}

/** The message without what would let its reader log in. */
export const masked = (text: string): string => text.replace(CREDENTIALS, '$1 (masked)');

const TRANSPORTS: readonly SipTransportName[] = ['udp', 'tcp', 'tls', 'ws', 'wss'];

type Counts = Map<string | number, number>;

const countsByTransport = (): Readonly<Record<SipTransportName, Counts>> => ({
  udp: new Map(),
  tcp: new Map(),
  tls: new Map(),
  ws: new Map(),
  wss: new Map(),
});

/** Counts messages; the names are few, whatever unknown peers send. */
export class MessageCounter {
  readonly #counts = { in: countsByTransport(), out: countsByTransport() };

  note(direction: 'in' | 'out', transport: SipTransportName, bytes: Uint8Array): void {
    const counts = this.#counts[direction][transport];
    const name = statusOf(bytes) ?? methodOf(bytes);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  rows(): readonly MessageCount[] {
    return (['in', 'out'] as const).flatMap((direction) =>
      TRANSPORTS.flatMap((transport) =>
        [...this.#counts[direction][transport]].map(([name, count]) => ({
          direction,
          transport,
          method: typeof name === 'string' ? name : '',
          code: typeof name === 'number' ? String(name) : '',
          count,
        })),
      ),
    );
  }
}

const STATUS_LINE = Buffer.from('SIP/2.0 ');
const ZERO = 48;

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  for (let at = 0; at < start.length; at += 1) if (bytes[at] !== start[at]) return false;
  return true;
}

/** 100…699 of a response. */
function statusOf(bytes: Uint8Array): number | undefined {
  if (!startsWith(bytes, STATUS_LINE)) return undefined;
  let status = 0;
  for (let at = STATUS_LINE.length; at < STATUS_LINE.length + 3; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    status = 10 * status + digit;
  }
  return status >= 100 && status < 700 ? status : undefined;
}

const methodOf = (bytes: Uint8Array): string =>
  METHODS.find(({ start }) => startsWith(bytes, start))?.name ?? 'other';
