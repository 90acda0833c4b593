import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Access } from './repositories.ts';
import type { Spool } from './spool.ts';
import type { Unit } from './unit.ts';

export type Submit = (unit: Unit, access: Access) => Promise<unknown>;

/**
 * What a running call and its end write, and what its callbacks do: it may be repeated (call and notification have ids), nobody
 * needs what it answers but that it is kept. The value is that answer.
 */
const SPOOLED: ReadonlyMap<string, unknown> = new Map([
  ['calls.update', undefined],
  ['calls.settle', true],
  ['calls.discard', undefined],
  ['callLogs.put', undefined],
  ['notifications.put', undefined],
  ['notifications.recordAttempt', undefined],
  ['notifications.remove', undefined],
]);

/** Time between two attempts while the database is away, and units of one attempt. */
const RETRY_MS = 500;
const BATCH = 200;

export interface SpoolingNeeds {
  readonly spool: Pick<Spool, 'size' | 'add' | 'next' | 'done' | 'close'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Runs units of work in the order in which they are given. */
  readonly inOrder: Submit;
}

/**
 * Lets calls end while the database is away: what their ends write waits on the local disk, and is written in the same order
 * once it is back, before anything newer of its kind.
 */
export class Spooling {
  readonly #needs: SpoolingNeeds;
  readonly #stopping = new AbortController();
  #draining: Promise<void> | undefined;

  constructor(needs: SpoolingNeeds) {
    this.#needs = needs;
  }

  /** Runs a unit by `submit`, or keeps it. */
  async submit(unit: Unit, access: Access, submit: Submit): Promise<unknown> {
    const name = `${unit.repository}.${unit.operation}`;
    const { spool, logger } = this.#needs;
    if (!SPOOLED.has(name)) return submit(unit, access);
    if (spool.size === 0) {
      try {
        return await submit(unit, access);
      } catch (error) {
        if (!isAway(error)) throw error;
        if (spool.size === 0)
          logger.warn({ error }, 'the database is away: ends of calls wait on the disk');
      }
    }
    await spool.add(unit);
    this.#begin();
    return SPOOLED.get(name);
  }

  /** Everything that waits, or rejects as the database does. Before anything else is asked for. */
  async drainNow(): Promise<void> {
    while (this.#needs.spool.size > 0) await this.#round();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#draining;
    await this.#needs.spool.close();
  }

  #begin(): void {
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined;
    });
  }

  async #drain(): Promise<void> {
    const { spool, clock, logger } = this.#needs;
    const { signal } = this.#stopping;
    const kept = spool.size;
    while (spool.size > 0 && !signal.aborted) {
      try {
        await this.#round();
      } catch (error) {
        if (!isAway(error)) logger.error({ error }, 'what waits for the database was not written');
        await clock.sleep(RETRY_MS, signal).catch(() => undefined); // stopped
      }
    }
    if (spool.size === 0) logger.warn({ kept }, 'what waited for the database is written');
  }

  async #round(): Promise<void> {
    const { spool, inOrder, logger } = this.#needs;
    const units = spool.next(BATCH);
    const results = await Promise.allSettled(units.map((unit) => inOrder(unit, 'write')));
    const away = results.findIndex((one) => one.status === 'rejected' && isAway(one.reason));
    const done = away < 0 ? results.length : away;
    for (const [index, result] of results.slice(0, done).entries()) {
      if (result.status === 'fulfilled') continue;
      const { repository, operation } = units[index] as Unit;
      // A fault of ours, or of who wrote the line: the rest must not wait for it for ever. The call is still open in the store.
      logger.error({ error: result.reason, repository, operation }, 'cannot be written');
    }
    if (done > 0) spool.done(done);
    if (away >= 0) throw (results[away] as PromiseRejectedResult).reason;
  }
}

const isAway = (error: unknown): boolean =>
  error instanceof ServiceError && error.code !== 'STORE_CLOSED';
