import {
  type Flow,
  mapTransports,
  type SipTransportName,
  TRANSPORT_NAMES,
} from '../../protocol/sip/sip.ts';

/** Number of messages by direction and by method or status. */
export interface MessageCount {
  readonly direction: 'in' | 'out';
  readonly transport: SipTransportName;
  /** Method of a request; empty for a response. */
  readonly method: string;
  /** Status of a response; empty for a request. */
  readonly code: string;
  readonly count: number;
}

const METHODS = [
  ...['INVITE', 'ACK', 'CANCEL', 'BYE', 'OPTIONS', 'INFO', 'UPDATE', 'REGISTER'],
  ...['PRACK', 'REFER', 'NOTIFY', 'SUBSCRIBE', 'MESSAGE'],
].map((name) => ({ name, start: Buffer.from(`${name} `) }));

type Counts = Map<string | number, number>;

const countsByTransport = () => mapTransports((): Counts => new Map());

/** Messages to and from one carrier. */
export interface CarrierMessageCount extends Omit<MessageCount, 'transport'> {
  readonly carrier: string;
}

/** Maximum number of peers counted by name. Messages of further peers are counted together. */
const MOST_PEERS = 4096;

/** Messages to and from named peers. */
export class MessagesByPeer {
  readonly #counts = new Map<string, { readonly in: Counts; readonly out: Counts }>();

  note(peer: string, direction: 'in' | 'out', name: string | number): void {
    const key = this.#counts.has(peer) || this.#counts.size < MOST_PEERS ? peer : 'other';
    let counts = this.#counts.get(key);
    if (counts === undefined) {
      counts = { in: new Map(), out: new Map() };
      this.#counts.set(key, counts);
    }
    addTo(counts[direction], name);
  }

  rows() {
    return [...this.#counts].flatMap(([peer, counts]) =>
      (['in', 'out'] as const).flatMap((direction) =>
        [...counts[direction]].map((count) => ({ peer, direction, ...countOf(count) })),
      ),
    );
  }
}

/** Counts messages. The number of labels is bounded, whatever unknown peers send. */
export class MessageCounter {
  readonly #counts = { in: countsByTransport(), out: countsByTransport() };
  readonly #byCarrier = new MessagesByPeer();
  readonly #carrierOf: (flow: Flow) => string | undefined;

  constructor(carrierOf: (flow: Flow) => string | undefined = () => undefined) {
    this.#carrierOf = carrierOf;
  }

  note(direction: 'in' | 'out', flow: Flow, bytes: Uint8Array): void {
    const name = nameOf(bytes);
    addTo(this.#counts[direction][flow.transport], name);
    const carrier = this.#carrierOf(flow);
    if (carrier !== undefined) this.#byCarrier.note(carrier, direction, name);
  }

  carrierRows(): readonly CarrierMessageCount[] {
    return this.#byCarrier.rows().map(({ peer: carrier, ...count }) => ({ carrier, ...count }));
  }

  rows(): readonly MessageCount[] {
    return (['in', 'out'] as const).flatMap((direction) =>
      TRANSPORT_NAMES.flatMap((transport) =>
        [...this.#counts[direction][transport]].map((count) => ({
          direction,
          transport,
          ...countOf(count),
        })),
      ),
    );
  }
}

const addTo = (counts: Counts, name: string | number): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1);
};

const countOf = ([name, count]: readonly [string | number, number]) => ({
  method: typeof name === 'string' ? name : '',
  code: typeof name === 'number' ? String(name) : '',
  count,
});

/** Method of a request, or status of a response. */
export const nameOf = (bytes: Uint8Array): string | number => statusOf(bytes) ?? methodOf(bytes);

const STATUS_LINE = Buffer.from('SIP/2.0 ');
const ZERO = 48;

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  for (let at = 0; at < start.length; at += 1) if (bytes[at] !== start[at]) return false;
  return true;
}

/** Status 100…699 of a response, otherwise undefined. */
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
