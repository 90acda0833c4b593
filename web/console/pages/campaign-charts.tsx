/** Funnel, calls per minute and settings of a campaign. */
import { useMemo } from 'preact/hooks';
import { get, number, type Row, rows, text } from '../api.ts';
import { count, percent, words } from '../format.ts';
import { useLoad } from '../hooks.ts';
import { t } from '../text.ts';
import { Chart } from '../ui/chart.tsx';
import { At, Card, Facts } from '../ui/parts.tsx';
import { doneOf } from './campaign-parts.tsx';

/** Contacts by the stage that they reached. */
export function Funnel({ row }: { readonly row: Row }) {
  const total = number(row['total_contacts']);
  const called = doneOf(row) + number(row['dialling']) + number(row['retry_pending']);
  const stages = [
    [t('Uploaded'), total, 'info'],
    [t('Called'), called, 'info'],
    [t('Answered'), number(row['answered']), 'good'],
    [t('No answer'), number(row['no_answer']), 'fair'],
    [t('Busy'), number(row['busy']), 'fair'],
    [t('Failed'), number(row['failed']), 'bad'],
    [t('Expired'), number(row['expired']), 'bad'],
  ] as const;
  return (
    <ol class="funnel">
      {stages.map(([name, value, tone]) => (
        <li key={name}>
          <span>{name}</span>
          <span class="bar">
            <span class={tone} style={{ width: `${total === 0 ? 0 : (100 * value) / total}%` }} />
          </span>
          <span class="num">
            {count(value)} <span class="muted">{total === 0 ? '' : percent(value / total)}</span>
          </span>
        </li>
      ))}
    </ol>
  );
}

const MINUTE_MS = 60_000;
const MINUTES_MAX = 60;

/** Calls per minute by outcome, of the latest 200 calls. */
export function PerMinute({ path, last }: { readonly path: string; readonly last: string }) {
  const found = useLoad(`${path} ${last}`, () => get(`${path}/calls?per_page=200`));
  const data = useMemo(() => {
    const list = rows(found.value?.['objects']);
    const minuteOf = (one: Row) => Math.floor(Date.parse(text(one['placed_at'])) / MINUTE_MS);
    const latest = Math.max(...list.map(minuteOf));
    const first = Math.max(Math.min(...list.map(minuteOf)), latest - MINUTES_MAX);
    const minutes = Array.from({ length: latest - first + 1 }, (_, at) => first + at);
    const of = (name: string, fits: (status: string) => boolean) => ({
      name,
      values: minutes.map(
        (minute) =>
          list.filter((one) => minuteOf(one) === minute && fits(text(one['status']))).length,
      ),
    });
    return list.length === 0
      ? undefined
      : {
          times: minutes.map((minute) => minute * 60),
          series: [
            of(t('Calls'), () => true),
            of(t('Answered'), (status) => status === 'answered'),
          ],
        };
  }, [found.value]);
  return (
    <Card title={t('Calls per minute')} unit={t('calls')}>
      {data === undefined ? (
        <p class="muted">{t('No calls yet.')}</p>
      ) : (
        <Chart isBars title={t('Calls per minute')} unit={t('calls')} {...data} />
      )}
    </Card>
  );
}

export function Plan({ row }: { readonly row: Row }) {
  const limit = (value: unknown) => (value == null ? t('No limit') : count(value));
  const strategy = text(row['caller_id_strategy']);
  return (
    <Facts
      of={[
        [t('Caller ID'), strategy === 'fixed' ? text(row['fixed_caller_id']) : words(strategy)],
        ...(strategy === 'pool'
          ? ([
              [t('Order of the pool'), words(row['pool_rotation_strategy'])],
              [t('Calls per number'), limit(row['pool_max_calls_per_number'])],
              [t('Calls per number and day'), limit(row['pool_max_calls_per_day'])],
              [t('Pause of a number'), `${text(row['pool_cooldown_seconds'])} s`],
            ] as const)
          : []),
        [t('Concurrent calls'), text(row['max_concurrent'])],
        [
          t('Retries'),
          t('{n} on {causes}', {
            n: text(row['retry_attempts']),
            causes: [row['retry_on']].flat().map(words).join(', '),
          }),
        ],
        [
          t('Abandoned calls'),
          row['max_abandoned_percent'] == null
            ? t('No limit')
            : `${text(row['max_abandoned_percent'])} %`,
        ],
        [t('Webhook URL'), text(row['notify_url'])],
        [
          t('Started'),
          row['started_at'] == null ? '' : <At key="started" value={row['started_at']} />,
        ],
        [
          t('Completed'),
          row['completed_at'] == null ? '' : <At key="done" value={row['completed_at']} />,
        ],
        [
          t('Expires'),
          row['expires_at'] == null ? '' : <At key="expires" value={row['expires_at']} />,
        ],
        [t('Campaign ID'), <code key="id">{text(row['id'])}</code>],
      ]}
    />
  );
}
