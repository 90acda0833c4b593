import { useEffect, useState } from 'preact/hooks';
import { call, get, number, type Row, rows, text } from '../api.ts';
import { count } from '../format.ts';
import { useAction, useLive, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { t } from '../text.ts';
import { Chart } from '../ui/chart.tsx';
import { Select } from '../ui/form.tsx';
import { confirmed } from '../ui/overlay.tsx';
import { Ago, Badge, Card, Cut, Head, LoadProblem, Problem, Tiles } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { Figures } from './health-metrics.tsx';

const EVERY_MS = 5000;
/** Points in memory: one hour. */
const KEPT = 720;

interface Point {
  readonly atS: number;
  readonly calls: number;
  readonly rate: number;
}

/** Points since the console was opened, for all visits of the page. */
let points: readonly Point[] = [];

const PAST_EVERY_MS = 60_000;
/** Periods that the Prometheus server of the settings covers. */
const PAST = [
  ['6h', t('6 hours, all nodes')],
  ['24h', t('24 hours, all nodes')],
  ['7d', t('7 days, all nodes')],
  ['30d', t('30 days, all nodes')],
] as const;

const isPast = (period: string): boolean => PAST.some(([name]) => name === period);

function recentCharts(seen: readonly Point[], minutes: number) {
  const from = Date.now() / 1000 - minutes * 60;
  const shown = seen.filter(({ atS }) => atS >= from);
  const times = shown.map(({ atS }) => atS);
  return {
    calls: { times, values: shown.map(({ calls }) => calls) },
    rate: { times, values: shown.map(({ rate }) => rate) },
  };
}

function pastCharts(found: Row | undefined) {
  const line = (name: string) => {
    const points = rows(found?.[name]);
    return {
      times: points.map((one) => number(one['at'])),
      values: points.map((one) => number(one['value'])),
    };
  };
  return { calls: line('calls'), rate: line('calls_per_second') };
}

type Lines = ReturnType<typeof recentCharts>;
type Status = ReturnType<typeof useLoad<Row>>;

export function Health() {
  const status = useLoad('status', () => get('/admin/v1/status'), EVERY_MS);
  const { problem, run } = useAction();
  const live = useLive();
  const [minutes, setMinutes] = useState('15');
  const state = status.value;
  const history = useLoad('history', () => get('/admin/v1/history'));
  const { charts, past } = useCharts(minutes, live.total, state);
  return (
    <>
      <Head title={t('Health')} about={t('State and load of this node.')}>
        <Select
          label={t('Period')}
          value={minutes}
          set={setMinutes}
          options={[
            ['5', t('5 minutes')],
            ['15', t('15 minutes')],
            ['60', t('1 hour')],
            ...(history.value?.['available'] === true ? PAST : []),
          ]}
        />
        {may('change') && <NodeActions status={status} run={run} />}
      </Head>
      <LoadProblem of={status} />
      <Problem text={problem} />
      {isPast(minutes) && <LoadProblem of={past} />}
      <State state={state} calls={live.total} />
      <LoadCharts charts={charts} />
      <Parts status={status} />
      <Figures />
      <Phones />
      <p class="small muted">
        {t('All metrics for a monitoring system are at')} <a href="/metrics">/metrics</a>.
      </p>
    </>
  );
}

/** Curves of the period: the points seen since the console was opened, or those of the Prometheus server. */
function useCharts(minutes: string, calls: number, state: Row | undefined) {
  const [seen, setSeen] = useState(points);
  useEffect(() => {
    if (state === undefined) return;
    const point = { atS: Date.now() / 1000, calls, rate: number(state['calls_per_second']) };
    points = [...points, point].slice(-KEPT);
    setSeen(points);
  }, [calls, state]);
  const past = useLoad(
    `history ${minutes}`,
    (): Promise<Row> =>
      isPast(minutes) ? get(`/admin/v1/history?period=${minutes}`) : Promise.resolve({}),
    isPast(minutes) ? PAST_EVERY_MS : undefined,
  );
  const charts = isPast(minutes) ? pastCharts(past.value) : recentCharts(seen, Number(minutes));
  return { charts, past };
}

interface NodeActionsProps {
  readonly status: Status;
  readonly run: ReturnType<typeof useAction>['run'];
}

/** Buttons that reload the settings and drain the node. */
function NodeActions({ status, run }: NodeActionsProps) {
  const drain = async () => {
    const isSure = await confirmed({
      title: t('Drain this node?'),
      detail: t('It accepts no new calls until the service is restarted. Running calls continue.'),
      action: t('Drain node'),
    });
    if (isSure) await run(() => call('POST', '/admin/v1/drain').then(status.again));
  };
  const reload = () =>
    run(async () => {
      const done = await call('POST', '/admin/v1/reload');
      const changed = [done['changed']].flat().map(text).join(', ');
      const restart = [done['needs_restart']].flat().map(text).join(', ');
      toast(
        changed === '' && restart === ''
          ? t('No setting has changed.')
          : t('Reloaded: {changed}. Needs a restart: {restart}.', {
              changed: changed || t('none'),
              restart: restart || t('none'),
            }),
      );
    });
  return (
    <>
      <button type="button" class="btn" onClick={() => void reload()}>
        {t('Reload settings')}
      </button>
      <button
        type="button"
        class="btn danger"
        disabled={status.value?.['draining'] === true}
        onClick={() => void drain()}
      >
        {t('Drain node')}
      </button>
    </>
  );
}

function State({ state, calls }: { readonly state: Row | undefined; readonly calls: number }) {
  const isDraining = state?.['draining'] === true;
  return (
    <Tiles
      of={[
        {
          name: t('Running calls'),
          value: count(calls),
          note: t('of {n}', { n: text(state?.['calls_limit']) }),
        },
        {
          name: t('Calls per second'),
          value: state && number(state['calls_per_second']).toFixed(1),
        },
        { name: t('Registered phones'), value: count(state?.['registrations']) },
        { name: t('Up since'), value: state && <Ago value={state['started_at']} /> },
        { name: t('Version'), value: text(state?.['version']) },
        {
          name: t('New calls'),
          value: (
            <Badge tone={isDraining ? 'fair' : 'good'}>
              {isDraining ? t('Draining') : t('Accepted')}
            </Badge>
          ),
        },
      ]}
    />
  );
}

const LoadCharts = ({ charts }: { readonly charts: Lines }) => (
  <div class="columns">
    <Card title={t('Running calls')} unit={t('calls')}>
      <Chart
        title={t('Running calls')}
        unit={t('calls')}
        times={charts.calls.times}
        series={[{ name: t('Running calls'), values: charts.calls.values }]}
      />
    </Card>
    <Card title={t('New calls')} unit={t('per second')}>
      <Chart
        title={t('New calls')}
        unit={t('per second')}
        times={charts.rate.times}
        series={[{ name: t('New calls'), values: charts.rate.values }]}
      />
    </Card>
  </div>
);

const Parts = ({ status }: { readonly status: Status }) => (
  <Card title={t('Parts')} flush>
    <Table
      name={t('Parts of the service')}
      rows={status.value && rows(status.value['parts'])}
      problem={status.problem}
      keyOf={(row) => text(row['part'])}
      empty={t('No parts.')}
      columns={[
        {
          title: t('Part'),
          value: (row) => text(row['part']),
          sort: (row) => text(row['part']),
        },
        {
          title: t('State'),
          value: (row) => (
            <Badge tone={row['ready'] === true ? 'good' : 'bad'}>
              {row['ready'] === true ? t('Ready') : t('Not ready')}
            </Badge>
          ),
        },
        { title: t('Detail'), value: (row) => text(row['detail']) },
      ]}
    />
  </Card>
);

const PHONES_MAX = 200;

function Phones() {
  const phones = useLoad('phones', () => get('/admin/v1/registrations'), EVERY_MS);
  const all = phones.value && rows(phones.value['registrations']);
  return (
    <Card title={t('Registered phones')} flush>
      <LoadProblem of={phones} />
      <Cut name={t('Registered phones')} most={PHONES_MAX} total={all?.length} />
      <Table
        name={t('Registered phones')}
        rows={all?.slice(0, PHONES_MAX)}
        problem={phones.problem}
        keyOf={(row) => text(row['contact_uri'])}
        empty={t('No registered phones.')}
        columns={[
          {
            title: t('User'),
            value: (row) => text(row['username']),
            sort: (row) => text(row['username']),
          },
          {
            title: t('Address'),
            value: (row) => (
              <code>
                {text(row['transport'])} {text(row['address'])}:{text(row['port'])}
              </code>
            ),
          },
          { title: t('Software'), value: (row) => text(row['user_agent']), isMinor: true },
          {
            title: t('Expires'),
            value: (row) => <Ago value={row['expires_at']} />,
            isMinor: true,
          },
        ]}
      />
    </Card>
  );
}
