/** Each kind has a row in docs/operate/troubleshooting.md. */
export const ALARM_KINDS = [
  'carrier_down',
  'answer_ratio',
  'one_way_audio',
  'poor_audio',
  'spend',
  'new_country',
  'short_calls',
  'low_balance',
  'disk',
  'certificate',
  'unreadable_rows',
  'not_serving',
  'spool',
  'object_backlog',
] as const;
export type AlarmKind = (typeof ALARM_KINDS)[number];

/** A problem that holds now. */
export interface Condition {
  readonly kind: AlarmKind;
  /** Carrier name, account ID or path. Empty for the node. */
  readonly subject: string;
  /** A sentence that includes the measured values. */
  readonly detail: string;
}

export interface Alarm extends Condition {
  /** Start of the alarm, microseconds UTC. */
  readonly sinceUs: number;
}

/** An alarm as stored, with its node and acknowledgement. */
export interface AlarmRecord extends Alarm {
  readonly nodeId: string;
  /** End of the alarm, microseconds UTC. Undefined while it is active. */
  readonly clearedUs: number | undefined;
  /** First acknowledgement, microseconds UTC. */
  readonly acknowledgedUs: number | undefined;
  readonly acknowledgedBy: string | undefined;
}

export interface EndedAlarmFilter {
  readonly kind?: string | undefined;
  /** Part of subject or detail. */
  readonly search?: string | undefined;
}

export interface AlarmChange extends Alarm {
  readonly state: 'raised' | 'cleared';
}

export interface AlarmTimes {
  /** Time for which a carrier must be unreachable before an alarm is raised, in milliseconds. */
  readonly carrierDownMs: number;
  /**
   * Time for which a condition must be gone before its alarm clears, in milliseconds. Prevents repeated reports of a
   * flapping condition.
   */
  readonly clearMs: number;
}

export interface AlarmLimits {
  /**
   * Answer ratio in percent below which `answer_ratio` is raised. 0: raised only when the ratio drops to half of its
   * earlier value.
   */
  readonly answerRatioPercent: number;
  /** Maximum spend as a multiple of the account's usual hour. 0: no limit. */
  readonly spendFactor: number;
  /** Hourly spend below which no alarm is raised, in currency units. */
  readonly spendFloor: number;
}
