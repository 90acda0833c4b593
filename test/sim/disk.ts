/** The disk below the store: it can be full for a while. */
import type { Clock } from '../../src/base/clock.ts';
import { ServiceError } from '../../src/base/errors.ts';
import { ACCESS } from '../../src/edge/store/repositories.ts';
import type { Store } from '../../src/edge/store/store.ts';

/** Repositories that calls write to. */
const WRITTEN: ReadonlySet<string> = new Set([
  'calls',
  'callLogs',
  'notifications',
  'recordings',
  'ledger',
]);

type Operations = Record<string, (...given: unknown[]) => Promise<unknown>>;

export class SimDisk {
  #isFull = false;
  /** Since when writes succeed, monotonic milliseconds. */
  spaceSinceMs = -1;
  readonly #clock: Clock;
  #isDead = false;
  /** The store, as the service sees it. */
  readonly store: Store;
  /** The same, as the next process finds it. */
  readonly rescued: Store;

  constructor(store: Store, clock: Clock) {
    this.#clock = clock;
    this.rescued = store;
    this.store = { ...store };
    for (const [repository, lanes] of Object.entries<Readonly<Record<string, string>>>(ACCESS)) {
      const operations: Operations = {};
      const real = store[repository as keyof typeof ACCESS] as unknown as Operations;
      for (const [operation, lane] of Object.entries(lanes)) {
        operations[operation] = this.#guarded(
          real[operation],
          lane !== 'point' && lane !== 'report' && WRITTEN.has(repository),
        );
      }
      Object.assign(this.store, { [repository]: operations });
    }
  }

  /** The process is gone: what it asked for last is done or not, and it hears of neither. */
  die(): void {
    this.#isDead = true;
  }

  /** Writes fail. */
  get isFull(): boolean {
    return this.#isFull;
  }

  set isFull(isFull: boolean) {
    this.#isFull = isFull;
    this.spaceSinceMs = this.#clock.monotonicMs();
  }

  #guarded(operation: Operations[string] | undefined, isWrite: boolean): Operations[string] {
    return (...given) => {
      if (this.#isDead || operation === undefined) return new Promise(() => undefined);
      return this.isFull && isWrite
        ? Promise.reject(new ServiceError('STORE_FULL', 'database or disk is full'))
        : operation(...given);
    };
  }
}
