import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import type { CallUuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Settlement } from '../../domain/cdr/needs.ts';
import type { Access } from './repositories.ts';
import type { Spool } from './spool.ts';
import type { SpooledOperation } from './sql/stored-write.ts';
import type { Unit } from './unit.ts';
import type { UnreadableRow } from './unreadable.ts';

export type Submit = (unit: Unit, access: Access) => Promise<unknown>;

/**
 * Operations that may wait on the local disk, and the answer that callers receive for each. Calls, their ends and their
 * callbacks make these writes. They may be repeated because calls and notifications have IDs.
 */
const ANSWERS: Readonly<Record<SpooledOperation, unknown>> = {
  'calls.update': undefined,
  'calls.settle': true,
  'calls.discard': undefined,
  'callLogs.put': undefined,
  'notifications.put': undefined,
  'notifications.recordAttempt': undefined,
  'notifications.remove': undefined,
};
const SPOOLED: ReadonlyMap<string, unknown> = new Map(Object.entries(ANSWERS));

/** Pause between two attempts while the database is unavailable (milliseconds), and units per attempt. */
const RETRY_MS = 500;
const BATCH = 200;

export interface SpoolingNeeds {
  readonly spool: Pick<
    Spool,
    'size' | 'add' | 'batchWritten' | 'next' | 'setAside' | 'done' | 'close'
  >;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Runs units of work in order. */
  readonly inOrder: Submit;
  /** Reports units that can never be written. */
  readonly onUnreadable: (rows: readonly UnreadableRow[]) => void;
}

/**
 * Lets calls end while the database is unavailable. Their final writes wait on the local disk. When the database returns, they
 * are written in the same order, before any newer write of their kind.
 */
export class Spooling {
  readonly #needs: SpoolingNeeds;
  readonly #stopping = new AbortController();
  /** Settlements on the disk, by call UUID: called with whether the database accepted them. */
  readonly #settlements = new Map<CallUuid, PromiseWithResolvers<boolean>>();
  #draining: Promise<void> | undefined;

  constructor(needs: SpoolingNeeds) {
    this.#needs = needs;
  }

  /** Runs a unit through `submit`, or stores it on the disk. */
  async submit(unit: Unit, access: Access, submit: Submit): Promise<unknown> {
    const name = `${unit.repository}.${unit.operation}`;
    const { spool, logger } = this.#needs;
    if (!SPOOLED.has(name)) return submit(unit, access);
    if (spool.size === 0) {
      try {
        return await submit(unit, access);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        if (spool.size === 0)
          logger.warn(
            { error },
            'database unavailable: ends of calls are queued on the local disk',
          );
      }
    }
    await spool.add(unit);
    const callUuid = settledBy(unit);
    if (callUuid !== undefined && !this.#settlements.has(callUuid))
      this.#settlements.set(callUuid, Promise.withResolvers());
    this.#begin();
    return SPOOLED.get(name);
  }

  /**
   * Resolves with whether the database has the settlement of this node for the call. False: another node declared this one
   * dead and settled the call. Waits while the settlement is on the disk.
   */
  inDatabase(callUuid: CallUuid): Promise<boolean> {
    return this.#settlements.get(callUuid)?.promise ?? Promise.resolve(true);
  }

  /** Writes all units of an earlier process before any other unit is submitted. Rejects if the database does. */
  async drainNow(): Promise<void> {
    while (this.#needs.spool.size > 0) await this.#round(withoutOwner);
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
    const retained = spool.size;
    while (spool.size > 0 && !signal.aborted) {
      try {
        await this.#round();
      } catch (error) {
        if (!isUnavailable(error)) logger.error({ error }, 'queued writes failed');
        await clock.sleep(RETRY_MS, signal).catch(() => undefined); // stopped
      }
    }
    if (spool.size === 0) logger.warn({ retained }, 'all queued writes are in the database');
  }

  async #round(prepare = (unit: Unit): Unit => unit): Promise<void> {
    const { spool, inOrder, onUnreadable } = this.#needs;
    const units = spool.next(BATCH);
    // All waiting units are still being written. Repeating without I/O would block the event loop.
    if (units.length === 0) return spool.batchWritten();
    const results = await Promise.allSettled(
      units.map(async (unit) => {
        if ('reason' in unit) throw new Error(unit.reason);
        return inOrder(prepare(unit), 'write');
      }),
    );
    const unavailable = results.findIndex(
      (one) => one.status === 'rejected' && isUnavailable(one.reason),
    );
    const done = unavailable < 0 ? results.length : unavailable;
    // A unit that can never be written must not block the others. Its call is still open in the store.
    const failed = results
      .slice(0, done)
      .flatMap((result, index) =>
        result.status === 'rejected' ? [[index, result.reason] as const] : [],
      );
    for (const [index, unit] of units.slice(0, done).entries())
      this.#answered(unit, results[index]);
    if (failed.length > 0) onUnreadable(spool.setAside(new Map(failed)));
    if (done > 0) spool.done(done);
    if (unavailable >= 0) throw (results[unavailable] as PromiseRejectedResult).reason;
  }

  #answered(unit: Unit | UnreadableRow, result: PromiseSettledResult<unknown> | undefined): void {
    const callUuid = 'reason' in unit ? undefined : settledBy(unit);
    if (callUuid === undefined) return;
    this.#settlements
      .get(callUuid)
      ?.resolve(result?.status === 'fulfilled' && result.value === true);
    this.#settlements.delete(callUuid);
  }
}

/** Returns the call that the unit settles. */
function settledBy({ repository, operation, given }: Unit): CallUuid | undefined {
  if (repository !== 'calls' || operation !== 'settle') return undefined;
  return (given[0] as Settlement).cdr.callUuid;
}

/**
 * Lets a notification of an earlier process belong to no node, so that any node adopts it. The store would remove one of a node
 * that was declared dead, because that node itself delivers what it has in memory.
 */
function withoutOwner(unit: Unit): Unit {
  if (unit.repository !== 'notifications' || unit.operation !== 'put') return unit;
  const { node, ...rest } = unit;
  return { ...rest, given: [...unit.given, node] };
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof ServiceError && error.code !== 'STORE_CLOSED';
