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
  /** True for a database server. It is checked twice per second, and counts as down after 1 s without an answer. */
  readonly isRemote?: boolean;
  /** Returns whether a call is running whose record must be written. */
  readonly inUse: () => boolean;
  /** Called after each change with the reason to refuse calls, or undefined when the store works again. */
  readonly onChange: (problem: string | undefined) => void;
}

const PAUSE_MS = 2000;
/** Pause while calls are refused, so that they are accepted soon after the store recovers. */
const PAUSE_AWAY_MS = 200;
/** Pause between two checks of a database server, and the timeout of a check. */
const PAUSE_REMOTE_MS = 500;
const PATIENCE_REMOTE_MS = 1000;
/** Pause without calls, in milliseconds. Longer, because a check causes a disk write and wakes several threads. */
const PAUSE_UNUSED_MS = 10_000;
/** Time for which the result of a check is reused, in milliseconds. */
const FRESH_MS = 500;
/** Timeout after which the disk counts as hanging, in milliseconds. */
const TIMEOUT_MS = 3000;

/**
 * Tests a real write every 2 s, every 10 s without calls, and 5 times per second during a problem. A service that
 * cannot record calls refuses them and reports the reason.
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

  /** Returns the state. Runs at most one check at a time and two per second. */
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

  /** Resolves when the check has an answer or has timed out. */
  async #look(): Promise<void> {
    const { clock, isRemote } = this.#needs;
    this.#running ??= this.#check().finally(() => {
      this.#running = undefined;
    });
    const waiting = new AbortController();
    const timeoutMs = isRemote === true ? PATIENCE_REMOTE_MS : TIMEOUT_MS;
    const late = clock.sleep(timeoutMs, waiting.signal).then(
      () => this.#found('the store does not answer'),
      () => undefined, // the check has answered
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
    if (problem === undefined) logger.warn({ before }, 'the store accepts writes again');
    else logger.error({ problem }, 'refusing new calls: they cannot be recorded');
    onChange(problem);
  }
}
