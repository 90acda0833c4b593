import type { Clock } from '../base/clock.ts';
import { ServiceError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { RepeatedTask } from '../base/repeated-task.ts';
import type { PartState } from '../edge/rest/server.ts';
import type { Store } from '../edge/store/store.ts';

export interface StoreWatchNeeds {
  readonly store: Pick<Store, 'check' | 'renew'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The store is a database server: it is checked twice a second, and counts as down after 1 s without an answer. */
  readonly isRemote?: boolean;
  /** A call runs, whose record is to be written. */
  readonly inUse: () => boolean;
  /** Told of each change: why no call may be taken, or undefined when all is well again. */
  readonly onChange: (problem: string | undefined) => void;
}

const PAUSE_MS = 2000;
/** While no calls are taken: they are again a moment after the store is back. */
const PAUSE_AWAY_MS = 200;
/** Pause between two checks of a database server, and the time for an answer. */
const PAUSE_REMOTE_MS = 500;
const PATIENCE_REMOTE_MS = 1000;
/** Without a call: a try makes the disk write and several threads wake, on a machine that has nothing else to do. */
const PAUSE_UNUSED_MS = 10_000;
/** The result of a check is used again for this time. */
const FRESH_MS = 500;
/** After this time without an answer the disk counts as hanging. */
const PATIENCE_MS = 3000;

/**
 * Tries a real write every two seconds, every ten without a call, five times a second while there is a problem: a service that
 * cannot record calls takes none, and says so.
 */
export class StoreWatch {
  readonly #needs: StoreWatchNeeds;
  #problem: string | undefined;
  #checkedMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;
  #cancelNext: () => void = () => undefined;
  readonly #rounds: RepeatedTask;

  constructor(needs: StoreWatchNeeds) {
    this.#needs = needs;
    this.#rounds = new RepeatedTask({
      clock: needs.clock,
      everyMs: needs.isRemote === true ? PAUSE_REMOTE_MS : PAUSE_MS,
      round: async () => {
        if (this.#isDue()) await this.#look();
      },
    });
  }

  start(): void {
    this.#rounds.start();
  }

  stop(): Promise<void> {
    this.#cancelNext();
    return this.#rounds.stop();
  }

  /** At most one check at a time and two in a second, however often it is asked for. */
  async state(): Promise<PartState> {
    const { clock } = this.#needs;
    if (clock.monotonicMs() - this.#checkedMs >= FRESH_MS) await this.#look();
    return {
      part: 'store',
      ready: this.#problem === undefined,
      detail: this.#problem ?? 'takes writes',
    };
  }

  #isDue(): boolean {
    if (this.#needs.isRemote === true || this.#needs.inUse()) return true;
    return this.#needs.clock.monotonicMs() - this.#checkedMs >= PAUSE_UNUSED_MS;
  }

  /** Resolves when there is an answer, or when there has been none for too long. */
  async #look(): Promise<void> {
    const { clock, isRemote } = this.#needs;
    this.#running ??= this.#check().finally(() => {
      this.#running = undefined;
    });
    const waiting = new AbortController();
    const patienceMs = isRemote === true ? PATIENCE_REMOTE_MS : PATIENCE_MS;
    const late = clock.sleep(patienceMs, waiting.signal).then(
      () => this.#found('the store does not answer'),
      () => undefined, // there was an answer
    );
    await Promise.race([this.#running, late]);
    waiting.abort();
  }

  async #check(): Promise<void> {
    const { store } = this.#needs;
    try {
      await store.check().catch(async (error: unknown) => {
        if (!(error instanceof ServiceError) || error.code !== 'STORE_GONE') throw error;
        this.#found(error.message);
        await store.renew();
        await store.check();
      });
      this.#found(undefined);
    } catch (error) {
      this.#found(error instanceof Error ? error.message : String(error));
    }
  }

  #found(problem: string | undefined): void {
    const { clock, logger, onChange } = this.#needs;
    this.#checkedMs = clock.monotonicMs();
    this.#cancelNext();
    if (problem !== undefined && !this.#rounds.stopping.aborted)
      this.#cancelNext = clock.at(this.#checkedMs + PAUSE_AWAY_MS, () => void this.#look());
    if (problem === this.#problem) return;
    const before = this.#problem;
    this.#problem = problem;
    if (problem === undefined) logger.warn({ before }, 'the store takes writes again');
    else logger.error({ problem }, 'no new calls: they could not be recorded');
    onChange(problem);
  }
}
