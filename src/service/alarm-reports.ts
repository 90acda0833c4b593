/** Reports changes of alarms to the operator, in order, and then stores them. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { AlarmStore } from '../domain/alarm/needs.ts';
import type { Alarm, AlarmChange, AlarmRecord } from '../domain/alarm/types.ts';
import { AlarmNotifier, type AlarmNotifierParts } from './alarm-notifier.ts';

/** Maximum number of queued reports. Further alarms appear only in the log. */
const WAITING_MAX = 100;
/** Time for queued reports at the stop of the service, in milliseconds. */
const STOP_MS = 5000;

export interface AlarmReportsParts extends AlarmNotifierParts {
  /** ID of this node, unchanged by a restart. */
  readonly nodeId: string;
  readonly records: Pick<AlarmStore, 'put'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class AlarmReports {
  readonly #parts: AlarmReportsParts;
  readonly #notifier: AlarmNotifier;
  readonly #stopped = new AbortController();
  #reporting: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(parts: AlarmReportsParts) {
    this.#parts = parts;
    this.#notifier = new AlarmNotifier(parts);
  }

  /** Queues the changes of a check at `nowUs`. */
  add(changes: readonly AlarmChange[], nowUs: number): void {
    const { logger } = this.#parts;
    if (this.#waiting >= WAITING_MAX) {
      logger.error({ changes: changes.length }, 'alarms not sent or stored: too many are queued');
      return;
    }
    this.#waiting += 1;
    this.#reporting = this.#reporting
      .then(() => this.#report(changes, nowUs))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  /**
   * Waits for the queued reports, up to `STOP_MS`: each may take half a minute if no server answers. Those that remain are not
   * stored, so that the next start reports them.
   */
  async stop(): Promise<void> {
    const done = new AbortController();
    const late = this.#parts.clock.sleep(STOP_MS, done.signal).catch(() => undefined); // done before
    await Promise.race([this.#reporting, late]);
    done.abort();
    this.#stopped.abort(new Error('the service stops'));
  }

  /** Sends the changes, then stores them: a crash in between sends twice instead of never. Never rejects. */
  async #report(changes: readonly AlarmChange[], nowUs: number): Promise<void> {
    const { logger } = this.#parts;
    const { signal } = this.#stopped;
    if (signal.aborted) return;
    try {
      await this.#notifier.notify(changes, signal);
    } catch (error) {
      logger.error({ error }, 'failed to send alarms');
      if (signal.aborted) return;
    }
    try {
      await this.#keep(changes, nowUs);
    } catch (error) {
      logger.error({ error }, 'failed to store the alarms');
    }
  }

  /** Stores the changed alarms with their start or end at `nowUs`. */
  async #keep(changes: readonly AlarmChange[], nowUs: number): Promise<void> {
    const { records, nodeId } = this.#parts;
    await records.put(
      changes.map(({ state, ...alarm }) => ({
        ...recordOf(alarm, nodeId),
        clearedUs: state === 'cleared' ? nowUs : undefined,
      })),
    );
  }
}

export const recordOf = (
  { kind, subject, detail, sinceUs }: Alarm,
  nodeId: string,
): AlarmRecord => ({
  nodeId,
  kind,
  subject,
  detail,
  sinceUs,
  clearedUs: undefined,
  acknowledgedUs: undefined,
  acknowledgedBy: undefined,
});
