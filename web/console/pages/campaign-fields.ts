/** Fields of a campaign. */
import { type Row, text } from '../api.ts';
import { zone, zones } from '../format.ts';
import { t } from '../text.ts';
import type { FieldSpec, Values } from '../ui/editor.tsx';
import { optionsOf } from '../ui/form.tsx';

export const INITIAL: Values = { timezone: zone() };

const isPool = (values: Values): boolean => values['caller_id_strategy'] === 'pool';
const hasWindow = (values: Values): boolean => values['window_enabled'] === 'true';

export const WEEKDAYS: ReadonlyArray<readonly [number, string]> = [
  [1, t('Mon')],
  [2, t('Tue')],
  [3, t('Wed')],
  [4, t('Thu')],
  [5, t('Fri')],
  [6, t('Sat')],
  [7, t('Sun')],
];

const CALLER_ID: readonly FieldSpec[] = [
  {
    name: 'caller_id_strategy',
    label: t('Caller ID'),
    kind: 'select',
    group: t('Caller ID'),
    initial: 'fixed',
    options: [
      ['fixed', t('One number')],
      ['per_contact', t('Column “from” of the contacts')],
      ['pool', t('Pool of numbers')],
    ],
  },
  {
    name: 'fixed_caller_id',
    label: t('Number'),
    isNullable: true,
    when: (values) => values['caller_id_strategy'] === 'fixed',
  },
  {
    name: 'pool_rotation_strategy',
    label: t('Order of the pool'),
    kind: 'select',
    initial: 'round_robin',
    options: [
      ['round_robin', t('In turn')],
      ['least_used', t('Least used first')],
      ['random', t('Random')],
    ],
    when: isPool,
  },
  {
    name: 'pool_max_calls_per_number',
    label: t('Calls per number'),
    kind: 'number',
    hint: t('Empty: no limit'),
    when: isPool,
  },
  {
    name: 'pool_max_calls_per_day',
    label: t('Calls per number and day'),
    kind: 'number',
    hint: t('Empty: no limit'),
    when: isPool,
  },
  {
    name: 'pool_cooldown_seconds',
    label: t('Pause of a number after a call, seconds'),
    kind: 'number',
    initial: '0',
    when: isPool,
  },
];

const callingWindow = (): readonly FieldSpec[] => [
  {
    name: 'timezone',
    label: t('Time zone'),
    group: t('Calling window'),
    required: true,
    options: optionsOf(zones()),
  },
  {
    name: 'contact_timezone',
    label: t('Time zone of the window'),
    kind: 'select',
    initial: 'campaign',
    options: [
      ['campaign', t('Time zone of the campaign')],
      ['number', t('Time zone of the called number')],
    ],
  },
  { name: 'window_enabled', label: t('Call only within hours'), kind: 'flag', initial: 'false' },
  {
    name: 'window_start_time',
    label: t('First call'),
    kind: 'time',
    isNullable: true,
    when: hasWindow,
  },
  {
    name: 'window_end_time',
    label: t('Last call'),
    kind: 'time',
    isNullable: true,
    when: hasWindow,
  },
  {
    name: 'window_days',
    label: t('Weekdays'),
    hint: t('1 Monday to 7 Sunday, separated by commas. Empty: all days'),
    kind: 'list',
    when: hasWindow,
  },
  {
    name: 'holidays',
    label: t('Dates without calls'),
    hint: t('One date per line, for example 2026-12-25'),
    kind: 'list',
    when: hasWindow,
  },
];

const PACE: readonly FieldSpec[] = [
  {
    name: 'retry_attempts',
    label: t('Retries per contact'),
    kind: 'number',
    group: t('Retries'),
    initial: '0',
  },
  {
    name: 'retry_delays',
    label: t('Minutes before each retry'),
    kind: 'list',
    hint: t('One value per line. Further retries use the last value'),
    when: (values) => Number(values['retry_attempts']) > 0,
  },
  {
    name: 'max_abandoned_percent',
    label: t('Maximum abandoned calls, %'),
    kind: 'number',
    hint: t('Empty: no limit. Above it, the service dials more slowly'),
  },
  {
    name: 'notify_url',
    label: t('Webhook URL for campaign events'),
    kind: 'url',
    isNullable: true,
  },
];

export const campaignFields = (agents: readonly Row[]): readonly FieldSpec[] => [
  { name: 'name', label: t('Name'), required: true },
  {
    name: 'agent_id',
    label: t('Agent'),
    kind: 'select',
    required: true,
    hint: t('The agent has the answer URL and the call settings'),
    options: [
      ['', t('Select an agent')],
      ...agents.map((one) => [text(one['id']), text(one['name'])] as const),
    ],
  },
  {
    name: 'max_concurrent',
    label: t('Concurrent calls'),
    kind: 'number',
    required: true,
    initial: '10',
  },
  ...CALLER_ID,
  ...callingWindow(),
  ...PACE,
];

/** Lists of numbers are text in the form. */
export function campaignBody(body: Record<string, unknown>): Record<string, unknown> {
  const next = { ...body };
  for (const name of ['window_days', 'retry_delays']) {
    if (Array.isArray(next[name])) next[name] = (next[name] as string[]).map(Number);
  }
  if (Array.isArray(next['window_days']) && (next['window_days'] as unknown[]).length === 0) {
    next['window_days'] = WEEKDAYS.map(([day]) => day);
  }
  return next;
}
