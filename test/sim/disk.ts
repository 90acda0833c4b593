/** The disk below the store, which can be full for some time. */
import type { Clock } from '../../src/base/clock.ts';
import { ServiceError } from '../../src/base/errors.ts';
import { ACCESS } from '../../src/edge/store/repository-set.ts';
import type { Store } from '../../src/edge/store/store.ts';

/** Repositories to which calls write. */
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
  /** Monotonic time in milliseconds since which writes succeed. */
  spaceSinceMs = -1;
  readonly #clock: Clock;
  #isDead = false;
  /** Store used by the service. */
  readonly store: Store;
  /** Store used by the next process. */
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

  /** Ends the process: its last writes succeed or fail without a result. */
  die(): void {
    this.#isDead = true;
  }

  /** True while writes fail. */
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
