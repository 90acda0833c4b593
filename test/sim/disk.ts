/** The disk below the store: it can be full for a while. */
import type { Clock } from '../../src/base/clock.ts';
import { ServiceError } from '../../src/base/errors.ts';
import { LANES } from '../../src/edge/store/rooms.ts';
import type { Store } from '../../src/edge/store/store.ts';

/** Rooms that calls write to. */
const WRITTEN = ['calls', 'callLogs', 'notifications', 'recordings', 'ledger'] as const;

type Verbs = Record<string, (...given: unknown[]) => Promise<unknown>>;

export class SimDisk {
  #isFull = false;
  /** Since when writes succeed, monotonic milliseconds. */
  roomSinceMs = -1;
  readonly #clock: Clock;
  /** The store, as the service sees it. */
  readonly store: Store;

  constructor(store: Store, clock: Clock) {
    this.#clock = clock;
    this.store = { ...store };
    for (const room of WRITTEN) {
      const verbs = { ...store[room] } as unknown as Verbs;
      for (const [verb, lane] of Object.entries<string>(LANES[room])) {
        if (lane === 'write') verbs[verb] = this.#guarded(verbs[verb]);
      }
      Object.assign(this.store, { [room]: verbs });
    }
  }

  /** Writes fail. */
  get isFull(): boolean {
    return this.#isFull;
  }

  set isFull(isFull: boolean) {
    this.#isFull = isFull;
    this.roomSinceMs = this.#clock.monotonicMs();
  }

  #guarded(verb: Verbs[string] | undefined): Verbs[string] {
    return (...given) =>
      this.isFull || verb === undefined
        ? Promise.reject(new ServiceError('STORE_FULL', 'database or disk is full'))
        : verb(...given);
  }
}
