/** Calling window of a campaign as a week, in its time zone. */
import { type Row, rows, text } from '../api.ts';
import { t } from '../text.ts';
import { Drawing } from '../ui/drawing.tsx';
import { WEEKDAYS } from './campaign-fields.ts';

const ROW = 22;
const LEFT = 40;
const HOURS = [0, 6, 12, 18, 24];
const DAY_MINUTES = 1440;

interface Span {
  readonly day: number;
  readonly from: number;
  readonly to: number;
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

/** Returns the open spans of the week. A span over midnight becomes two. */
function spansOf(row: Row): readonly Span[] {
  if (row['window_enabled'] !== true)
    return WEEKDAYS.map(([day]) => ({ day, from: 0, to: DAY_MINUTES }));
  const each = rows(row['window_hours']);
  const days = Array.isArray(row['window_days']) ? row['window_days'].map(Number) : [];
  const used = days.length === 0 ? WEEKDAYS.map(([day]) => day) : days;
  const hours =
    each.length > 0
      ? each.map((one) => ({
          day: Number(one['weekday']),
          from: minuteOf(text(one['start_time'])),
          to: minuteOf(text(one['end_time'])),
        }))
      : used.map((day) => ({
          day,
          from: minuteOf(text(row['window_start_time']) || '00:00'),
          to: minuteOf(text(row['window_end_time']) || '24:00'),
        }));
  return hours.flatMap(({ day, from, to }) =>
    to > from
      ? [{ day, from, to }]
      : [
          { day, from, to: DAY_MINUTES },
          { day: (day % 7) + 1, from: 0, to },
        ],
  );
}

/** Weekday (1 Monday … 7 Sunday) and minute of now in a time zone. */
function nowIn(timeZone: string): { readonly day: number; readonly minute: number } | undefined {
  try {
    const parts = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }).formatToParts(new Date());
    const of = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
    const day = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(of('weekday')) + 1;
    return { day, minute: Number(of('hour')) * 60 + Number(of('minute')) };
  } catch {
    return undefined;
  }
}

const clockOf = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

const HEIGHT = WEEKDAYS.length * ROW + 22;

export function Week({ row }: { readonly row: Row }) {
  const spans = spansOf(row);
  const now = nowIn(text(row['timezone']));
  const holidays = Array.isArray(row['holidays']) ? row['holidays'].map(text) : [];
  return (
    <>
      <Drawing name={t('Calling window')} label={labelOf(spans)} height={HEIGHT} minWidth={280}>
        {(width) => {
          const x = (minute: number) => LEFT + ((width - LEFT - 18) * minute) / DAY_MINUTES;
          return (
            <g class="week">
              {WEEKDAYS.map(([day, name], at) => (
                <Day
                  key={day}
                  name={name}
                  y={at * ROW}
                  x={x}
                  spans={spans.filter((one) => one.day === day)}
                  nowMinute={now?.day === day ? now.minute : undefined}
                />
              ))}
              {HOURS.map((hour) => (
                <text
                  key={hour}
                  class="dim"
                  x={x(hour * 60)}
                  y={HEIGHT - 4}
                  text-anchor={hour === 24 ? 'end' : 'middle'}
                >
                  {`${hour}:00`}
                </text>
              ))}
            </g>
          );
        }}
      </Drawing>
      <p class="small muted">
        {row['contact_timezone'] === 'number'
          ? t('Hours apply in the time zone of the called number.')
          : t('Hours apply in {zone}. The red line is now.', { zone: text(row['timezone']) })}{' '}
        {holidays.length > 0 && t('No calls on {dates}.', { dates: holidays.join(', ') })}
      </p>
    </>
  );
}

const hoursOf = ({ from, to }: Span): string => `${clockOf(from)}–${clockOf(to)}`;

/** Text alternative of the drawing: the hours of each day. */
const labelOf = (spans: readonly Span[]): string =>
  WEEKDAYS.map(([day, name]) => {
    const own = spans.filter((one) => one.day === day);
    return `${name} ${own.map(hoursOf).join(', ') || t('closed')}`;
  }).join('; ');

interface DayProps {
  readonly name: string;
  /** Top of the row in pixels. */
  readonly y: number;
  /** Returns the horizontal position of a minute in pixels. */
  readonly x: (minute: number) => number;
  readonly spans: readonly Span[];
  /** Minute of now; undefined on other days. */
  readonly nowMinute: number | undefined;
}

/** One day of the week: its open spans, and a red line for now. */
const Day = ({ name, y, x, spans, nowMinute }: DayProps) => (
  <g>
    <text x={0} y={y + 14}>
      {name}
    </text>
    <rect
      x={x(0)}
      y={y + 3}
      width={x(DAY_MINUTES) - x(0)}
      height={ROW - 6}
      rx={3}
      fill="var(--surface-3)"
    />
    {spans.map((span) => (
      <rect
        key={span.from}
        x={x(span.from)}
        y={y + 3}
        width={x(span.to) - x(span.from)}
        height={ROW - 6}
        rx={3}
        fill="var(--chart-1)"
      >
        <title>{`${name} ${hoursOf(span)}`}</title>
      </rect>
    ))}
    {nowMinute !== undefined && (
      <rect x={x(nowMinute) - 1} y={y} width={2} height={ROW} fill="var(--bad)">
        <title>{t('Now: {time}', { time: clockOf(nowMinute) })}</title>
      </rect>
    )}
  </g>
);
