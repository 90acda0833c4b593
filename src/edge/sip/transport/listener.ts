import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import type { SipTransportName } from '../../../protocol/sip/sip.ts';
import type { ConnectionTable, Place } from './connection-table.ts';
import { portError } from './udp-transport.ts';

export interface ListenerOptions {
  /** Transport name in messages to the operator. */
  readonly transport: SipTransportName;
  readonly host: string;
  readonly clock: Clock;
  readonly table: ConnectionTable;
  /** Time limit in milliseconds from accepting to the end of the handshake. */
  readonly handshakeMs: number;
  /** Returns whether its source may begin a handshake now. Default: true. */
  readonly mayBegin?: (address: string) => boolean;
  readonly accepted: (raw: Socket, place: Place) => void;
  readonly failed: (error: Error) => void;
}

/** A listening port. Each connection counts from its first packet, and its handshake has a time limit. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #server: Server;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#server = createServer((raw) => this.#accept(raw));
  }

  /** Rejects with PORT_IN_USE. Resolves to the bound port. */
  start(port: number): Promise<number> {
    const { host, transport, failed } = this.#options;
    return new Promise((resolve, reject) => {
      const refused = (error: Error): void => reject(portError(error, transport, host, port));
      this.#server.once('error', refused);
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', refused);
        // Earlier errors reject the promise of `start`.
        this.#server.on('error', (error) => failed(error));
        const address = this.#server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      });
    });
  }

  /** Stops accepting connections. Existing ones belong to the table. */
  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #accept(raw: Socket): void {
    const { table, clock, handshakeMs, mayBegin, accepted } = this.#options;
    const host = raw.remoteAddress;
    const place =
      host === undefined || mayBegin?.(host) === false
        ? undefined
        : table.enter(host, () => raw.destroy());
    if (place === undefined) {
      raw.on('error', () => undefined);
      raw.destroy();
      return;
    }
    const cancel = clock.at(clock.monotonicMs() + handshakeMs, () => {
      if (place.connection === undefined) place.close('no handshake in time');
    });
    raw.on('error', () => undefined);
    raw.once('close', () => {
      cancel();
      // An established connection releases its place itself.
      if (place.connection === undefined) table.leave(place);
    });
    accepted(raw, place);
  }
}
