export type AlarmKind =
  | 'carrier_down'
  | 'answer_ratio'
  | 'one_way_audio'
  | 'poor_audio'
  | 'spend'
  | 'new_country'
  | 'short_calls'
  | 'low_balance'
  | 'disk'
  | 'certificate'
  | 'unreadable_rows'
  | 'not_serving'
  | 'spool'
  | 'object_backlog';

/** What is looked at, and whether it is bad now. */
export interface Condition {
  readonly kind: AlarmKind;
  /** A carrier's name, an account's id, a path; empty: the node. */
  readonly subject: string;
  /** A sentence with the figures. */
  readonly detail: string;
}

export interface Alarm extends Condition {
  /** Microseconds UTC. */
  readonly sinceUs: number;
}

export interface AlarmChange extends Alarm {
  readonly state: 'raised' | 'cleared';
}

export interface AlarmTimes {
  /** A carrier must be away for so long before that is told. */
  readonly carrierDownMs: number;
  /** A condition must be gone for so long before it is over: what flickers is told once. */
  readonly clearMs: number;
}

export interface AlarmLimits {
  /** Share of answered calls below which `answer_ratio` is raised, per cent; 0: only when it falls to half of what it was. */
  readonly answerRatioPercent: number;
  /** So many times its usual hour an account may spend; 0: no limit. */
  readonly spendFactor: number;
  /** Spend of an hour below which nobody is told, currency units. */
  readonly spendFloor: number;
}

export const ALARM_KINDS: readonly AlarmKind[] = [
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
];
