import { useState } from 'preact/hooks';
import { call, get, number, type Row, rows, text } from '../api.ts';
import { Chart } from '../chart.tsx';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { At, Input, money, onSubmit, Problem, Save, Select, Table, Tiles } from '../parts.tsx';
import { Rates } from './rates.tsx';

interface Props {
  readonly account: string;
  readonly isStaff: boolean;
}

export function Money({ account, isStaff }: Props) {
  const owner = useLoad(account, () => get(`/api/v1/Account/${account}/`));
  const currency = text(owner.value?.['currency']) || 'USD';
  const balance = useLoad(`${account} ${currency}`, () =>
    get(`/api/v1/Account/${account}/balance/${currency}`),
  );
  const { value } = balance;
  return (
    <>
      <h1>Money</h1>
      <Problem text={balance.problem} />
      {value && (
        <Tiles
          of={[
            ['Available', money(value['available_balance'], currency)],
            ['Balance', money(value['balance'], currency)],
            ['Reserved for active calls', money(value['reserved_funds'], currency)],
            ['Credit limit', money(value['credit_limit'], currency)],
            ['Alert below', money(value['low_balance_threshold'], currency)],
          ]}
        />
      )}
      <Spending account={account} currency={currency} />
      {isStaff && may('money') && (
        <Credit account={account} currency={currency} done={balance.again} />
      )}
      <Alert account={account} currency={currency} done={balance.again} />
      {owner.value && <Rates account={account} country={text(owner.value['country'])} />}
      <Ledger account={account} />
    </>
  );
}

function Spending({ account, currency }: { readonly account: string; readonly currency: string }) {
  const { value, problem } = useLoad(account, () => get(`/api/v1/Account/${account}/usage`));
  const days = rows(value?.['usage']);
  const sources = [
    ...new Set(days.flatMap((day) => rows(day['amounts']).map(({ source }) => text(source)))),
  ];
  const charged = (day: Row, source: string): number =>
    rows(day['amounts'])
      .filter((one) => one['source'] === source && one['currency'] === currency)
      .reduce((sum, one) => sum + number(one['charged']), 0);
  const spent = sources.filter((source) => days.some((day) => charged(day, source) > 0));
  return (
    <>
      <h2>Spending by day</h2>
      <Problem text={problem} />
      {days.length > 0 && spent.length > 0 ? (
        <Chart
          isBars
          label={`Spending of ${days.length} days by reference type`}
          times={days.map((day) => Date.parse(text(day['period'])) / 1000)}
          series={spent.map((name) => ({ name, values: days.map((day) => charged(day, name)) }))}
        />
      ) : (
        <p>No spending yet.</p>
      )}
    </>
  );
}

interface Booking {
  readonly account: string;
  readonly currency: string;
  readonly done: () => void;
}

function Credit({ account, currency, done }: Booking) {
  const [amount, setAmount] = useState('');
  const [description, setDescription] = useState('');
  const { problem, run } = useAction();
  const book = () =>
    run(async () => {
      const value = Number(amount);
      if (!Number.isFinite(value) || value === 0) {
        throw new Error('Enter an amount other than 0, for example 25 or -2.50.');
      }
      const verb = value < 0 ? 'Debit' : 'Credit';
      if (!confirm(`${verb} ${money(Math.abs(value), currency)} (account ${account})?`)) return;
      await call('POST', `/admin/v1/accounts/${account}/credit`, {
        amount: value,
        currency,
        description,
      });
      setAmount('');
      done();
    });
  return (
    <>
      <h2>Credit</h2>
      <Problem text={problem} />
      <form class="row" onSubmit={onSubmit(() => void book())}>
        <Input
          label={`Amount, ${currency} (negative: debit)`}
          value={amount}
          set={setAmount}
          required
        />
        <Input label="Description" value={description} set={setDescription} required wider />
        <button type="submit">Add credit</button>
      </form>
    </>
  );
}

function Alert({ account, currency, done }: Booking) {
  const {
    value,
    problem: unread,
    again,
  } = useLoad(account, () => get(`/api/v1/Account/${account}/low-balance-alert`));
  const [threshold, setThreshold] = useState<string>();
  const [email, setEmail] = useState<string>();
  const { problem, run } = useAction();
  if (value === undefined) return <Problem text={unread} />;
  const thresholds = (value['thresholds'] ?? {}) as Row;
  const emails = Array.isArray(value['emails']) ? value['emails'].join(', ') : '';
  const save = () =>
    run(async () => {
      await call('POST', `/api/v1/Account/${account}/low-balance-alert`, {
        emails: (email ?? emails)
          .split(',')
          .map((one) => one.trim())
          .filter((one) => one !== ''),
        thresholds: { [currency]: Number(threshold ?? thresholds[currency] ?? 0) },
      });
      again();
      done();
    });
  return (
    <>
      <h2>Low balance</h2>
      <Problem text={problem} />
      {may('money') && (
        <form class="row" onSubmit={onSubmit(() => void save())}>
          <Input
            label={`Alert below (${currency})`}
            value={threshold ?? text(thresholds[currency])}
            set={setThreshold}
          />
          <Input label="Email addresses" value={email ?? emails} set={setEmail} wider />
          <button type="submit">Save</button>
        </form>
      )}
    </>
  );
}

function Ledger({ account }: { readonly account: string }) {
  const [filter, setFilter] = useState({
    type: '',
    reference_type: '',
    description: '',
    from_date: '',
    to_date: '',
  });
  const [page, setPage] = useState(1);
  const query = new URLSearchParams({ page: String(page), per_page: '25' });
  for (const [name, one] of Object.entries(filter)) if (one !== '') query.set(name, one);
  const types = useLoad(account, () =>
    get(`/api/v1/Account/${account}/transactions/reference-types`),
  );
  const { value, problem } = useLoad(`${account} ${query}`, () =>
    get(`/api/v1/Account/${account}/transactions?${query}`),
  );
  const summary = (value?.['summary'] ?? {}) as Row;
  const set = (name: keyof typeof filter) => (next: string) => {
    setPage(1);
    setFilter({ ...filter, [name]: next });
  };
  const found = types.value?.['reference_types'];
  const names = Array.isArray(found) ? found.map(text) : [];
  const entries = rows(value?.['transactions']);
  return (
    <>
      <h2>Ledger</h2>
      <div class="row">
        <Select
          label="Type"
          value={filter.type}
          set={set('type')}
          options={[
            ['', 'all'],
            ['credit', 'credit'],
            ['debit', 'debit'],
          ]}
        />
        <Select
          label="Reference type"
          value={filter.reference_type}
          set={set('reference_type')}
          options={[['', 'all'], ...names.map((one) => [one, one] as const)]}
        />
        <Input label="From" type="date" value={filter.from_date} set={set('from_date')} />
        <Input label="To" type="date" value={filter.to_date} set={set('to_date')} />
        <Input label="Search description" value={filter.description} set={set('description')} />
      </div>
      <Problem text={problem} />
      <p>
        {text(summary['total_transactions'])} entries · debit {text(summary['total_debit'])} ·
        credit {text(summary['total_credit'])} · net {text(summary['net_amount'])}
      </p>
      <Table
        name="Ledger"
        rows={value && entries}
        empty="No entry matches."
        columns={[
          { title: 'When', value: (row) => <At value={row['created_at']} /> },
          { title: 'Description', value: (row) => text(row['description']) },
          { title: 'Reference', value: (row) => text(row['reference_type']), isMinor: true },
          {
            title: 'Amount',
            value: (row) =>
              `${row['type'] === 'debit' ? '−' : '+'}${money(row['amount'], row['currency'])}`,
            isNumber: true,
          },
        ]}
      />
      <div class="row">
        <Save
          path={`/api/v1/Account/${account}/transactions/export${exported(filter)}`}
          name="ledger.csv"
        >
          Save as CSV
        </Save>
        <button type="button" class="small" disabled={page <= 1} onClick={() => setPage(page - 1)}>
          Newer
        </button>
        <span>Page {page}</span>
        <button
          type="button"
          class="small"
          disabled={entries.length < 25}
          onClick={() => setPage(page + 1)}
        >
          Older
        </button>
      </div>
    </>
  );
}

/** Returns the filter parameters that the export supports. */
function exported(filter: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams();
  for (const name of ['type', 'reference_type', 'from_date', 'to_date']) {
    if (filter[name]) query.set(name, filter[name]);
  }
  return query.size === 0 ? '' : `?${query}`;
}
