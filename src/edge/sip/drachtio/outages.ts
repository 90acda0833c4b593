import type { Clock } from '../../../base/clock.ts';
import { createRequest, serialize } from '../../../protocol/sip/sip.ts';
import type { DrachtioConnection } from './connection.ts';
import type { Dialogs, KnownDialog } from './dialogs.ts';

export interface OutagesParts {
  readonly clock: Clock;
  readonly graceMs: number;
  readonly dialogs: Dialogs;
  readonly cutOff: (callIds: readonly string[], why: string) => void;
}

const CHECK_MS = 15_000;

/**
 * Calls whose server connection is lost. They continue for the grace period, because their media does not use the
 * server. After a reconnect the server sends no requests of old dialogs, not even BYE. Therefore each dialog is probed
 * periodically.
 */
export class Outages {
  readonly #parts: OutagesParts;
  readonly #timers = new Map<DrachtioConnection, () => void>();

  constructor(parts: OutagesParts) {
    this.#parts = parts;
  }

  began(server: DrachtioConnection): void {
    this.#after(server, this.#parts.graceMs, () => {
      const calls = this.#parts.dialogs.callsOf(server);
      this.#parts.dialogs.forget(server);
      if (calls.length > 0) this.#cutOff(calls, 'drachtio-server is unavailable');
    });
  }

  over(server: DrachtioConnection): void {
    const calls = this.#parts.dialogs.callsOf(server);
    this.#cancel(server);
    if (calls.length > 0) this.#check(server, new Set(calls.map(({ id }) => id)));
  }

  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #check(server: DrachtioConnection, before: ReadonlySet<string>): void {
    const calls = this.#parts.dialogs.callsOf(server).filter(({ id }) => before.has(id));
    if (calls.length === 0) return;
    for (const dialog of calls) {
      server.send(['', dialog.id], ASKED, ({ isOk, words }) => {
        if (!isOk && server.isUp && (words[0] ?? '').includes('dialog'))
          this.#cutOff([dialog], 'drachtio-server has lost the dialog');
      });
    }
    this.#after(server, CHECK_MS, () => this.#check(server, before));
  }

  #cutOff(calls: readonly KnownDialog[], why: string): void {
    this.#parts.cutOff(
      calls.map(({ callId }) => callId),
      why,
    );
  }

  #after(server: DrachtioConnection, ms: number, act: () => void): void {
    const { clock } = this.#parts;
    this.#cancel(server);
    const cancel = clock.at(clock.monotonicMs() + ms, () => {
      this.#timers.delete(server);
      act();
    });
    this.#timers.set(server, cancel);
  }

  #cancel(server: DrachtioConnection): void {
    this.#timers.get(server)?.();
    this.#timers.delete(server);
  }
}

/** Probe request. The response status does not matter: a server without the dialog reports an error immediately. */
const ASKED = serialize(
  createRequest({ method: 'OPTIONS', requestUri: 'sip:placeholder', headers: [] }),
);
