/** Tracks active alarms. Each alarm is reported once when it is raised and once when it is cleared. */
import type { Alarm, AlarmChange, AlarmKind, AlarmTimes, Condition } from './types.ts';

export { CallTrends } from './call-trends.ts';
export { CalledCountries } from './countries.ts';
export { ALARM_KINDS } from './types.ts';

/** Time after which an alarm about a single event clears. */
const CLEAR_MOMENT_MS = 24 * 3_600_000;
/** Maximum number of tracked alarms. */
const ALARMS_MAX = 500;

interface Held extends Condition {
  readonly firstMs: number;
  lastMs: number;
  sinceUs: number | undefined;
  detail: string;
}

export class AlarmBook {
  readonly #held = new Map<string, Held>();
  readonly #holdMs: Readonly<Partial<Record<AlarmKind, number>>>;
  readonly #clearMs: number;

  constructor({ carrierDownMs, clearMs }: AlarmTimes) {
    this.#holdMs = { carrier_down: carrierDownMs };
    this.#clearMs = clearMs;
  }

  /** Restores the alarms that were reported before a restart. They are not reported again, but their end is. */
  restore(alarms: readonly Alarm[], nowMs: number): void {
    for (const alarm of alarms.slice(0, ALARMS_MAX)) {
      this.#held.set(keyOf(alarm), { ...alarm, firstMs: nowMs, lastMs: nowMs });
    }
  }

  /**
   * Applies all conditions that hold at `nowMs` (monotonic) and returns the changes to report. `nowUs` is the same
   * moment by the wall clock.
   */
  update(conditions: readonly Condition[], nowMs: number, nowUs: number): readonly AlarmChange[] {
    const changes: AlarmChange[] = [];
    for (const condition of conditions) {
      const held = this.#hold(condition, nowMs);
      if (held === undefined || held.sinceUs !== undefined) continue;
      if (nowMs - held.firstMs < (this.#holdMs[held.kind] ?? 0)) continue;
      held.sinceUs = nowUs;
      changes.push({ ...condition, sinceUs: nowUs, state: 'raised' });
    }
    for (const [key, held] of this.#held) {
      const clearMs = held.kind === 'new_country' ? CLEAR_MOMENT_MS : this.#clearMs;
      const quietMs = nowMs - held.lastMs;
      if (quietMs === 0 || (held.sinceUs !== undefined && quietMs < clearMs)) continue;
      this.#held.delete(key);
      const { kind, subject, detail, sinceUs } = held;
      if (sinceUs === undefined) continue;
      changes.push({ kind, subject, detail, sinceUs, state: 'cleared' });
    }
    return changes;
  }

  /** Returns the active alarms, oldest first. */
  list(): readonly Alarm[] {
    return [...this.#held.values()].flatMap(({ kind, subject, detail, sinceUs }) =>
      sinceUs === undefined ? [] : [{ kind, subject, detail, sinceUs }],
    );
  }

  #hold(condition: Condition, nowMs: number): Held | undefined {
    const key = keyOf(condition);
    const known = this.#held.get(key);
    if (known !== undefined) {
      known.lastMs = nowMs;
      known.detail = condition.detail;
      return known;
    }
    if (this.#held.size >= ALARMS_MAX) return undefined;
    const held = { ...condition, firstMs: nowMs, lastMs: nowMs, sinceUs: undefined };
    this.#held.set(key, held);
    return held;
  }
}

const keyOf = ({ kind, subject }: Condition): string => `${kind} ${subject}`;
