import { useState } from 'preact/hooks';
import { get, type Row, rows, text } from '../api.ts';
import { useFields, useLive, useLoad } from '../hooks.ts';
import {
  At,
  type Column,
  clock,
  Input,
  Mos,
  money,
  onSubmit,
  Problem,
  Save,
  Select,
  Since,
  State,
  Table,
} from '../parts.tsx';
import { whyEnded } from '../reasons.ts';
import { Exports } from './exports.tsx';

interface Props {
  readonly account: string;
  readonly isStaff: boolean;
}

const LIVE: readonly Column[] = [
  {
    title: 'State',
    value: (row) => (
      <State good={row['call_status'] === 'in-progress' || undefined}>
        {text(row['call_status'])}
      </State>
    ),
  },
  {
    title: 'From',
    value: (row) => <a href={`#/calls/${text(row['call_uuid'])}`}>{text(row['from'])}</a>,
  },
  { title: 'To', value: (row) => text(row['to']) },
  { title: 'Direction', value: (row) => text(row['direction']), isMinor: true },
  {
    title: 'Stream',
    value: ({ bots }) => (Array.isArray(bots) ? bots.join(', ') : ''),
    isMinor: true,
  },
  { title: 'MOS', value: (row) => <Mos value={row['mos']} />, isMinor: true },
  { title: 'For', value: (row) => <Since value={row['start_time']} />, isNumber: true },
];

const RECORDS: readonly Column[] = [
  {
    title: 'When',
    value: (row) => (
      <a href={`#/calls/${text(row['uuid'])}`}>
        <At value={row['start_time']} />
      </a>
    ),
  },
  { title: 'From', value: (row) => text(row['caller_id_number']) },
  { title: 'To', value: (row) => text(row['destination_number']) },
  { title: 'Talk', value: (row) => clock(Number(row['billsec'] ?? 0)), isNumber: true },
  {
    title: 'End',
    value: (row) => <span title={whyEnded(row)}>{text(row['hangup_cause_name'])}</span>,
    isMinor: true,
  },
  { title: 'MOS', value: (row) => <Mos value={row['mos']} />, isMinor: true },
  {
    title: 'Cost',
    value: (row) => money(row['total_cost'], row['currency']),
    isNumber: true,
    isMinor: true,
  },
];

const STATES = [
  ['', 'any'],
  ['ringing', 'ringing'],
  ['in-progress', 'in progress'],
] as const;
const BOTS = [
  ['', 'any'],
  ['yes', 'with a stream'],
  ['no', 'without a stream'],
] as const;

const emptyOf = ({ length }: readonly Row[]): string =>
  length === 0 ? 'No active calls.' : 'No active call matches.';

function fits(
  one: Row,
  { party, state, bot }: { readonly party: string; readonly state: string; readonly bot: string },
): boolean {
  const hasBot = Array.isArray(one['bots']) && one['bots'].length > 0;
  return (
    (state === '' || one['call_status'] === state) &&
    (bot === '' || hasBot === (bot === 'yes')) &&
    `${text(one['from'])} ${text(one['to'])}`.toLowerCase().includes(party.trim().toLowerCase())
  );
}

export function Calls({ account, isStaff }: Props) {
  const live = useLive();
  const [everybody, setEverybody] = useState(false);
  const { fields: filter, set } = useFields({ party: '', state: '', bot: '' });
  const running = live.calls.filter(
    (one) => (isStaff && everybody) || one['account_id'] === account || !isStaff,
  );
  const shown = running.filter((one) => fits(one, filter));
  return (
    <>
      <h1>Calls</h1>
      <h2 id="live">
        Now{' '}
        <State good={live.state === 'live' || undefined}>
          {live.state === 'live' ? `${running.length} running` : 'connecting'}
        </State>
      </h2>
      <div class="row">
        <Input label="Search number" value={filter.party} set={set('party')} />
        <Select label="State" value={filter.state} set={set('state')} options={STATES} />
        <Select label="Stream" value={filter.bot} set={set('bot')} options={BOTS} />
      </div>
      {isStaff && (
        <label>
          <input
            type="checkbox"
            checked={everybody}
            onChange={({ currentTarget }) => setEverybody(currentTarget.checked)}
          />
          All accounts
        </label>
      )}
      <Table name="Active calls" columns={LIVE} rows={shown} empty={emptyOf(running)} />
      <Records account={account} running={live.total} />
      <Exports account={account} />
    </>
  );
}

function Records({ account, running }: { readonly account: string; readonly running: number }) {
  const [filter, setFilter] = useState({ from: '', to: '', direction: '' });
  const [asked, setAsked] = useState(filter);
  const [page, setPage] = useState(1);
  const query = new URLSearchParams({ page: String(page), per_page: '25' });
  if (asked.from !== '') query.set('from_number', asked.from);
  if (asked.to !== '') query.set('to_number', asked.to);
  if (asked.direction !== '') query.set('call_direction', asked.direction);
  const { value, problem, again } = useLoad(`${query} ${running}`, () =>
    get(`/api/v1/Account/${account}/cdr?${query}`),
  );
  const pages = (value?.['pagination'] ?? {}) as Row;
  return (
    <section>
      <h2>Finished</h2>
      <form
        class="row"
        onSubmit={onSubmit(() => {
          setPage(1);
          setAsked(filter);
          again();
        })}
      >
        <Input label="From" value={filter.from} set={(from) => setFilter({ ...filter, from })} />
        <Input label="To" value={filter.to} set={(to) => setFilter({ ...filter, to })} />
        <Select
          label="Direction"
          value={filter.direction}
          set={(direction) => setFilter({ ...filter, direction })}
          options={[
            ['', 'both'],
            ['inbound', 'inbound'],
            ['outbound', 'outbound'],
          ]}
        />
        <button type="submit">Show</button>
      </form>
      <Problem text={problem} />
      <Table
        name="Finished calls"
        columns={RECORDS}
        rows={value && rows(value['data'])}
        empty="No call matches."
      />
      <div class="row">
        <Save path={`/api/v1/Account/${account}/cdr/export`} name="calls.csv">
          Save as CSV
        </Save>
        <button type="button" class="small" disabled={page <= 1} onClick={() => setPage(page - 1)}>
          Newer
        </button>
        <span>
          Page {page} of {Math.max(1, Number(pages['pages'] ?? 1))}
        </span>
        <button
          type="button"
          class="small"
          disabled={pages['has_next'] !== true}
          onClick={() => setPage(page + 1)}
        >
          Older
        </button>
      </div>
    </section>
  );
}
