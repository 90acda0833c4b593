import { useMemo, useState } from 'preact/hooks';
import { get, number, part, type Row, rows, text } from '../api.ts';
import { TRIAL } from '../browser-phone.ts';
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

const EVERY_MS = 30_000;
const HOUR_S = 3600;
const HOURS = 24;

/** State of the account at a glance, and the next steps of a new account. */
export function Overview({ account, me, isStaff }: PageProps) {
  const root = `/api/v1/Account/${account}`;
  const live = useLive();
  const running = live.calls.filter((one) => !isStaff || one['account_id'] === account).length;
  const hourly = useLoad(account, () => get(`${root}/cdr/hourly?hours=${HOURS}`), EVERY_MS);
  const owner = useLoad(`${account} owner`, () => get(`${root}/`), EVERY_MS);
  const currency = text(owner.value?.['currency']) || 'USD';
  const balance = useLoad(
    `${account} ${currency} balance`,
    () => get(`${root}/balance/${currency}`),
    EVERY_MS,
  );
  const hours = useMemo(() => rows(hourly.value?.['hours']), [hourly.value]);
  const sum = (name: string) => hours.reduce((total, one) => total + number(one[name]), 0);
  const [calls, answered] = [sum('calls'), sum('answered')];
  const chart = useMemo(() => {
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
  }, [hours]);
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
      <LoadProblem of={hourly} />
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
            value: hourly.value?.['mos'] == null ? '' : <Mos value={hourly.value['mos']} />,
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
      {may('change') && <Onboarding account={account} hasCalls={calls > 0} />}
      <div class="columns wide">
        <Card title={t('Calls per hour')} unit={t('calls')}>
          <Chart isBars title={t('Calls per hour')} unit={t('calls')} {...chart} />
        </Card>
        <LatestCalls account={account} tick={live.total} />
      </div>
      <div class="columns">
        {isStaff && <ActiveAlarms />}
        {me.role !== 'billing' && <Changes />}
      </div>
    </>
  );
}

interface StepProps {
  readonly account: string;
  readonly hasCalls: boolean;
}

/** Steps of a new account. Each is done when its event has happened. */
function Onboarding({ account, hasCalls }: StepProps) {
  const root = `/api/v1/Account/${account}`;
  const { total } = useLive();
  const found = useLoad(`${account} ${hasCalls} ${total}`, async () => {
    const [endpoints, apps, numbers, calls] = await Promise.all([
      get(`${root}/Endpoint/?limit=1`),
      get(`${root}/Application/?limit=2`),
      get(`${root}/numbers?per_page=1`),
      get(`${root}/cdr/recent?limit=50`),
    ]);
    const latest = rows(calls['data']);
    return {
      endpoint: number(part(endpoints['meta'])['total_count']) > 0,
      // The first test call creates an application for unsaved documents.
      application: rows(apps['objects']).some((one) => one['app_name'] !== TRIAL),
      number: number(numbers['total']) > 0,
      call: latest.some((one) => one['answer_time'] != null),
      bot: latest.some((one) => rows(one['stream_cdrs']).length > 0),
    };
  });
  const done = found.value;
  const kept = `console.steps.${account}`;
  const [isHidden, setHidden] = useState(false);
  if (done === undefined || isHidden) return null;
  const isComplete = Object.values(done).every(Boolean);
  // The completed list is shown to those who have seen it incomplete.
  if (!isComplete) localStorage.setItem(kept, 'begun');
  else if (localStorage.getItem(kept) === null) return null;
  const hide = () => {
    localStorage.removeItem(kept);
    setHidden(true);
  };
  const steps = [
    [
      done.endpoint,
      t('Create an endpoint'),
      t('A SIP user for a softphone or the browser phone.'),
      t('Create endpoint'),
      'endpoints',
    ],
    [
      done.call,
      t('Call the echo bot'),
      t('Open the browser phone of the endpoint, and call the application.'),
      t('Open endpoints'),
      'endpoints',
    ],
    [
      done.application,
      t('Create an application'),
      t('Save a document of the playground, or enter the URL of your server.'),
      t('Open playground'),
      'playground',
    ],
    [
      done.bot,
      t('Connect a bot'),
      t('Run a Stream element with the WebSocket URL of your bot, and call it.'),
      t('Open playground'),
      'playground',
    ],
    [
      done.number,
      t('Buy a number'),
      t('People can then call your bot from any phone.'),
      t('Buy number'),
      'numbers',
    ],
  ] as const;
  const count_ = steps.filter(([isDone]) => isDone).length;
  return (
    <Card
      title={t('First steps')}
      unit={t('{done} of {all}', { done: count_, all: steps.length })}
      actions={
        isComplete && (
          <button type="button" class="btn" onClick={hide}>
            {t('Hide first steps')}
          </button>
        )
      }
    >
      <ol class="steps">
        {steps.map(([isDone, name, about, action, to]) => (
          <li key={name} class={isDone ? 'done' : ''}>
            <span class="mark">
              {isDone ? '✓' : ''}
              <span class="sr">{isDone ? t('Done') : t('Not done')}</span>
            </span>
            <span>
              <strong>{name}</strong>
              <br />
              <span class="muted small">{about}</span>
            </span>
            {!isDone && (
              <a class="btn" href={href(to)}>
                {action}
              </a>
            )}
          </li>
        ))}
      </ol>
    </Card>
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
