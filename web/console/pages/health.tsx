import { useEffect, useState } from 'preact/hooks';
import { call, get, rows, text } from '../api.ts';
import { Chart } from '../chart.tsx';
import { useAction, useLive, useLoad } from '../hooks.ts';
import { At, Problem, State, Table, Tiles } from '../parts.tsx';

const EVERY_MS = 5000;
const KEPT = 360;

export function Health() {
  const status = useLoad('status', () => get('/admin/v1/status'));
  const alarms = useLoad('alarms', () => get('/admin/v1/alarms'));
  const phones = useLoad('phones', () => get('/admin/v1/registrations'));
  const { problem, run } = useAction();
  const live = useLive();
  const [seen, setSeen] = useState<{
    readonly times: readonly number[];
    readonly calls: readonly number[];
  }>({ times: [], calls: [] });
  useEffect(() => {
    const timer = setInterval(() => {
      status.again();
      alarms.again();
      phones.again();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [status.again, alarms.again, phones.again]);
  useEffect(() => {
    setSeen(({ times, calls }) => ({
      times: [...times, Date.now() / 1000].slice(-KEPT),
      calls: [...calls, live.total].slice(-KEPT),
    }));
  }, [live.total, status.value]);
  const state = status.value;
  const isDraining = state?.['draining'] === true;
  return (
    <>
      <h1>Health</h1>
      <Problem text={status.problem ?? problem} />
      <Tiles
        of={[
          ['Calls', `${live.total} of ${text(state?.['calls_limit'])}`],
          ['Registered phones', text(state?.['registrations'])],
          ['Alarms', text(rows(alarms.value?.['alarms']).length)],
          ['Up since', <At key="up" value={state?.['started_at']} />],
          ['Version', text(state?.['version'])],
          [
            'New calls',
            <State key="d" good={!isDraining}>
              {isDraining ? 'drained' : 'taken'}
            </State>,
          ],
        ]}
      />
      <Chart
        label={`Running calls: ${live.total} now`}
        times={seen.times}
        series={[{ name: 'Running calls', values: seen.calls }]}
      />
      <h2>Parts</h2>
      <Table
        name="Parts of the service"
        rows={state && rows(state['parts'])}
        empty=""
        columns={[
          { title: 'Part', value: (row) => text(row['part']) },
          {
            title: 'State',
            value: (row) => (
              <State good={row['ready'] === true}>{row['ready'] ? 'ready' : 'not ready'}</State>
            ),
          },
          { title: 'Detail', value: (row) => text(row['detail']) },
        ]}
      />
      <h2>Alarms</h2>
      <Table
        name="Alarms"
        rows={alarms.value && rows(alarms.value['alarms'])}
        empty="Nothing is wrong."
        columns={[
          { title: 'Since', value: (row) => <At value={row['since']} /> },
          { title: 'What', value: (row) => text(row['kind']) },
          { title: 'Of', value: (row) => text(row['subject']) },
          { title: 'Detail', value: (row) => text(row['detail']) },
        ]}
      />
      <h2>Registered phones</h2>
      <Table
        name="Registered phones"
        rows={phones.value && rows(phones.value['registrations']).slice(0, 200)}
        empty="No phone is registered."
        columns={[
          { title: 'User', value: (row) => text(row['username']) },
          {
            title: 'From',
            value: (row) =>
              `${text(row['transport'])} ${text(row['address'])}:${text(row['port'])}`,
          },
          { title: 'Software', value: (row) => text(row['user_agent']), isMinor: true },
          { title: 'Until', value: (row) => <At value={row['expires_at']} />, isMinor: true },
        ]}
      />
      <h2>Maintenance</h2>
      <p>
        Draining takes no new calls; running ones go on. Only a restart takes calls again. All
        figures for a monitoring system are at <a href="/metrics">/metrics</a>.
      </p>
      <button
        type="button"
        class="stop"
        disabled={isDraining}
        onClick={() =>
          confirm('Take no new calls until the service is started again?') &&
          void run(() => call('POST', '/admin/v1/drain').then(status.again))
        }
      >
        Drain this node
      </button>
    </>
  );
}
