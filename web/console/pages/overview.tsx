import { useMemo } from 'preact/hooks';
import { get, number, type Row, rows, text } from '../api.ts';
import { clock, count, firstSentence, money, percent, timeOfDay } from '../format.ts';
import { useLive, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { Chart } from '../ui/chart.tsx';
import { Ago, Badge, Card, Head, LoadProblem, Mos, RecordLink, Tiles } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';
import { endTone } from './call-end.ts';
import { FirstSteps } from './first-steps.tsx';

const EVERY_MS = 30_000;
const HOUR_S = 3600;
const HOURS = 24;

/** Counts of the last 24 hours, by hour. */
function useHours(account: string) {
  const found = useLoad(
    account,
    () => get(`/api/v1/Account/${account}/cdr/hourly?hours=${HOURS}`),
    EVERY_MS,
  );
  const hours = useMemo(() => rows(found.value?.['hours']), [found.value]);
  const sum = (name: string) => hours.reduce((total, one) => total + number(one[name]), 0);
  return { found, hours, sum };
}

/** Number of running calls of the account. The feed has a part of the calls of a busy service. */
function useRunning(account: string, isStaff: boolean): number {
  const { calls, total } = useLive();
  const isPart = isStaff && total > calls.length;
  const found = useLoad(
    `${account} ${isPart}`,
    (): Promise<Row> =>
      isPart ? get(`/console/api/live-calls?account_id=${account}&limit=1`) : Promise.resolve({}),
    isPart ? EVERY_MS : undefined,
  );
  if (isPart) return number(found.value?.['running']);
  return isStaff ? calls.filter((one) => one['account_id'] === account).length : total;
}

/** Calls of the last 24 hours for the chart. Hours without calls have the value 0. */
function chartOf(hours: readonly Row[]) {
  const now = Math.floor(Date.now() / 1000 / HOUR_S) * HOUR_S;
  const times = Array.from({ length: HOURS }, (_, at) => now - (HOURS - 1 - at) * HOUR_S);
  const at = new Map(hours.map((one) => [Date.parse(text(one['hour'])) / 1000, one]));
  const values = (name: string) => times.map((time) => number(at.get(time)?.[name]));
  return {
    times,
    series: [
      { name: t('Calls'), values: values('calls') },
      { name: t('Answered'), values: values('answered') },
    ],
  };
}

/** State of the account at a glance, and the next steps of a new account. */
export function Overview({ account, me, isStaff }: PageProps) {
  const root = `/api/v1/Account/${account}`;
  const live = useLive();
  const day = useHours(account);
  const owner = useLoad(`${account} owner`, () => get(`${root}/`), EVERY_MS);
  const chart = useMemo(() => chartOf(day.hours), [day.hours]);
  const running = useRunning(account, isStaff);
  return (
    <>
      <Head
        title={t('Overview')}
        about={t('The last 24 hours of {name}.', {
          name: text(owner.value?.['name']) || account,
        })}
      >
        <span class="muted small">{t('Updated {time}', { time: timeOfDay(Date.now()) })}</span>
      </Head>
      <LoadProblem of={day.found} />
      <Figures root={root} day={day} running={running} currency={text(owner.value?.['currency'])} />
      {may('change') && <FirstSteps account={account} hasCalls={day.sum('calls') > 0} />}
      <div class="columns wide">
        <Card title={t('Calls per hour')} unit={t('calls')}>
          <Chart isBars title={t('Calls per hour')} unit={t('calls')} {...chart} />
        </Card>
        <LatestCalls account={account} tick={live.ended} />
      </div>
      <div class="columns">
        {isStaff && <ActiveAlarms />}
        {me.role !== 'billing' && <Changes />}
      </div>
    </>
  );
}

interface FiguresProps {
  /** Path of the account in the API. */
  readonly root: string;
  readonly day: ReturnType<typeof useHours>;
  /** Number of running calls. */
  readonly running: number;
  /** '' until the account is loaded. */
  readonly currency: string;
}

/** Running calls, figures of the last 24 hours, and the balance. */
function Figures({ root, day: { found, sum }, running, currency }: FiguresProps) {
  const balance = useLoad(
    `${root} ${currency} balance`,
    (): Promise<Row> =>
      currency === '' ? Promise.resolve({}) : get(`${root}/balance/${currency}`),
    EVERY_MS,
  );
  const [calls, answered] = [sum('calls'), sum('answered')];
  return (
    <Tiles
      of={[
        {
          name: t('Running calls'),
          value: <a href={href('calls', { state: 'live' })}>{count(running)}</a>,
        },
        { name: t('Calls'), value: count(calls), note: t('last 24 hours') },
        {
          name: t('Answer-seizure ratio'),
          value: calls === 0 ? '' : percent(answered / calls),
        },
        {
          name: t('Average duration'),
          value: answered === 0 ? '' : clock(sum('answered_seconds') / answered),
        },
        {
          name: t('Average MOS'),
          value: found.value?.['mos'] == null ? '' : <Mos value={found.value['mos']} />,
        },
        {
          name: t('Spending'),
          value: money(sum('cost'), ''),
          note: t('{currency}, last 24 hours', { currency }),
        },
        {
          name: t('Available balance'),
          value: money(balance.value?.['available_balance'], ''),
          note: currency,
        },
      ]}
    />
  );
}

function LatestCalls({ account, tick }: { readonly account: string; readonly tick: number }) {
  const found = useLoad(`${account} ${tick}`, () =>
    get(`/api/v1/Account/${account}/cdr/recent?limit=6`),
  );
  return (
    <Card
      title={t('Latest calls')}
      flush
      actions={
        <a class="btn" href={href('calls')}>
          {t('Show all calls')}
        </a>
      }
    >
      <LoadProblem of={found} />
      <Table
        name={t('Latest calls')}
        rows={found.value && rows(found.value['data'])}
        problem={found.problem}
        empty={t('No calls yet.')}
        columns={[
          {
            title: t('Call'),
            value: (row) => <RecordLink row={row} />,
          },
          {
            title: t('End'),
            value: (row) => <Badge tone={endTone(row)}>{text(row['hangup_cause_name'])}</Badge>,
          },
          { title: t('Time'), value: (row) => <Ago value={row['start_time']} />, isMinor: true },
        ]}
      />
    </Card>
  );
}

const ALARMS_MS = 15_000;

function ActiveAlarms() {
  const found = useLoad('alarms', () => get('/admin/v1/alarms'), ALARMS_MS);
  const list = rows(found.value?.['alarms']);
  return (
    <Card
      title={t('Alarms')}
      actions={
        <a class="btn" href={href('alarms')}>
          {t('Show alarms')}
        </a>
      }
    >
      <LoadProblem of={found} />
      {found.value === undefined ? null : list.length === 0 ? (
        <p>
          <Badge tone="good">{t('No active alarms')}</Badge>
        </p>
      ) : (
        list.slice(0, 5).map((one: Row) => (
          <div class="callout bad" key={`${text(one['kind'])} ${text(one['subject'])}`}>
            <strong>{text(one['detail'])}</strong>
            <span class="muted small">
              <Ago value={one['since']} />
            </span>
          </div>
        ))
      )}
    </Card>
  );
}

function Changes() {
  const found = useLoad('changes', () => get('/console/api/audit?limit=6&offset=0'));
  return (
    <Card
      title={t('Recent changes')}
      flush
      actions={
        <a class="btn" href={href('audit')}>
          {t('Show audit log')}
        </a>
      }
    >
      <LoadProblem of={found} />
      <Table
        name={t('Recent changes')}
        rows={found.value && rows(found.value['entries'])}
        problem={found.problem}
        empty={t('No changes yet.')}
        columns={[
          { title: t('Change'), value: (row) => firstSentence(row['what']) },
          { title: t('User'), value: (row) => text(row['who']) },
          { title: t('Time'), value: (row) => <Ago value={row['at']} />, isMinor: true },
        ]}
      />
    </Card>
  );
}
