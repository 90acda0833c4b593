/** Numbers, times and money in the language of the browser and the selected time zone. */
import { text } from './api.ts';
import { secondIn } from './dates.ts';
import { t } from './text.ts';

const KEPT_ZONE = 'console.zone';
const BROWSER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

let selected = localStorage.getItem(KEPT_ZONE) ?? BROWSER_ZONE;

export const zone = (): string => selected;
/** Sets the time zone of all times. The page must draw again. */
export const setZone = (next: string): void => {
  selected = next;
  localStorage.setItem(KEPT_ZONE, next);
};
export const zones = (): readonly string[] => [
  ...new Set(['UTC', BROWSER_ZONE, ...Intl.supportedValuesOf('timeZone')]),
];

/** Returns the first or last second of a date (YYYY-MM-DD) in the selected zone. Other texts stay unchanged. */
export const secondOf = (date: string, bound: 'first' | 'last'): string =>
  secondIn(selected, date, bound);

const at = (value: unknown): Date | undefined => {
  if (value === null || value === undefined || value === '') return undefined;
  const moment = new Date(typeof value === 'number' ? value : text(value));
  return Number.isNaN(moment.getTime()) ? undefined : moment;
};

/** Formatters by style and time zone, because creating one takes longer than its use. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function shown(value: unknown, options: Intl.DateTimeFormatOptions): string {
  const moment = at(value);
  if (moment === undefined) return '';
  const key = `${options.dateStyle} ${options.timeStyle} ${options.month} ${selected}`;
  let formatter = formatters.get(key);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat(undefined, { timeZone: selected, ...options });
    formatters.set(key, formatter);
  }
  return formatter.format(moment);
}

export const dateTime = (value: unknown): string =>
  shown(value, { dateStyle: 'medium', timeStyle: 'medium' });
export const dayMonth = (value: unknown): string =>
  shown(value, { day: 'numeric', month: 'short' });
export const timeOfDay = (value: unknown): string => shown(value, { timeStyle: 'medium' });
/** Time of a log line, with milliseconds. */
export const preciseTime = (value: unknown): string =>
  shown(value, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    hourCycle: 'h23',
  });
export const hourMinute = (value: unknown): string => shown(value, { timeStyle: 'short' });

const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** Returns a time relative to now, for example "3 min ago". */
export function ago(value: unknown, nowMs = Date.now()): string {
  const moment = at(value);
  if (moment === undefined) return '';
  const seconds = (moment.getTime() - nowMs) / 1000;
  const [unit, length] = UNITS.find(([, one]) => Math.abs(seconds) >= one) ?? ['second', 1];
  return RELATIVE.format(Math.round(seconds / length), unit);
}

export const count = (value: unknown): string =>
  typeof value === 'number' ? value.toLocaleString() : text(value);

export const percent = (ratio: number): string =>
  Number.isFinite(ratio)
    ? ratio.toLocaleString(undefined, { style: 'percent', maximumFractionDigits: 1 })
    : '—';

/** Formats seconds as m:ss or h:mm:ss. */
export const clock = (seconds: number): string => {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return hours > 0
    ? `${hours}:${two(minutes)}:${two(whole % 60)}`
    : `${minutes}:${two(whole % 60)}`;
};

export const money = (value: unknown, currency: unknown): string => {
  const amount = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof amount !== 'number' || Number.isNaN(amount)) return '';
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 6 };
  return `${amount.toLocaleString(undefined, digits)} ${text(currency)}`.trim();
};

/** Formats the words of the API, for example `in-progress` and `no_answer`, as visible text. */
export const words = (value: unknown): string => {
  const spaced = text(value).replaceAll(/[_-]+/g, ' ').trim();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1).toLowerCase();
};

/** Begins a text with a capital letter. Names such as `playAudio` stay unchanged. */
export const sentence = (value: unknown): string => {
  const said = text(value);
  if (/^[a-z]+[A-Z]/.test(said)) return said;
  return said.charAt(0).toUpperCase() + said.slice(1);
};

/** Returns the first sentence of a text, without its period. */
export const firstSentence = (value: unknown): string => text(value).split('. ', 1)[0] ?? '';

/** Returns the text for one, or that for any other number. */
export const counted = (n: number, one: string, other: string): string => (n === 1 ? one : other);

/** Removes the scheme and host of a SIP address: `sip:alice@example.com` is `alice`. Numbers stay unchanged. */
export const party = (value: unknown): string => text(value).replace(/^sips?:([^@;]+)@.*$/, '$1');

const SOURCES: Readonly<Record<string, string>> = {
  cdr: t('Calls'),
  stream_cdr: t('Audio streams'),
  recording: t('Recordings'),
  transcription: t('Transcriptions'),
  manual_adjustment: t('Adjustments'),
};

/** Name of the source of a ledger entry. */
export const sourceName = (value: unknown): string => SOURCES[text(value)] ?? words(value);
