import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { RecentMap } from '../../base/recent-map.ts';
import type { UnreadableRowStore } from './repositories.ts';
import type { UnreadableRow } from './unreadable.ts';

/** Interval after which the same row is logged and recorded again, milliseconds. */
const REPEAT_MS = 600_000;
/** Maximum number of rows remembered as logged. */
const REMEMBERED = 10_000;

interface Needs {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Logs unreadable rows and records them in the store. */
export class UnreadableLog {
  readonly #needs: Needs;
  readonly #logged = new RecentMap<number>(REMEMBERED);
  #store: UnreadableRowStore | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Sets the store in which rows are recorded. */
  recordIn(store: UnreadableRowStore): void {
    this.#store = store;
  }

  note(rows: readonly UnreadableRow[]): void {
    const { clock, logger } = this.#needs;
    const nowMs = clock.monotonicMs();
    const fresh = rows.filter(({ table, key }) => {
      const loggedMs = this.#logged.get(`${table} ${key}`);
      return loggedMs === undefined || nowMs - loggedMs >= REPEAT_MS;
    });
    if (fresh.length === 0) return;
    for (const { table, key, reason } of fresh) {
      this.#logged.set(`${table} ${key}`, nowMs);
      logger.error({ table, key, reason }, 'a row of the database cannot be read and is skipped');
    }
    this.#store?.put(fresh).catch((error: unknown) => {
      logger.error({ error }, 'unreadable rows were not recorded');
    });
  }
}
