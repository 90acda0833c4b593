/** Ledger with filters and the balance after each entry. */
import { get, number, part, type Row, rows, text } from '../api.ts';
import { count, money, secondOf, sourceName } from '../format.ts';
import { useLoad, useSettledFields } from '../hooks.ts';
import { href, useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Input, Save, Select } from '../ui/form.tsx';
import { At, LoadProblem } from '../ui/parts.tsx';
import { Snippets } from '../ui/snippets.tsx';
import { type Column, Pager, Table } from '../ui/table.tsx';

const PER_PAGE = 25;
const EMPTY = {
  type: '',
  reference_type: '',
  description: '',
  from_date: '',
  to_date: '',
  page: '1',
};

interface Props {
  readonly account: string;
  readonly currency: string;
  readonly balance: Row | undefined;
}

const signed = (row: Row): number =>
  (row['type'] === 'debit' ? -1 : 1) * Math.abs(number(row['amount']));

/** Entries that match the filters of the URL, with the balance after each if no filter is set. */
function useLedger({ account, currency, balance }: Props) {
  const { fields: filters, setAll } = useQuery(EMPTY);
  const { page, ...entered } = useSettledFields(filters);
  const others = {
    ...entered,
    from_date: secondOf(entered.from_date, 'first'),
    to_date: secondOf(entered.to_date, 'last'),
  };
  const query = new URLSearchParams({ page, per_page: String(PER_PAGE) });
  for (const [name, one] of Object.entries(others)) if (one !== '') query.set(name, one);
  const root = `/api/v1/Account/${account}/transactions`;
  const found = useLoad(`${account} ${query} ${text(balance?.['balance'])}`, () =>
    get(`${root}?${query}`),
  );
  const entries = found.value && rows(found.value['transactions']);
  const isWhole = Object.values(others).every((value) => value === '');
  const withBalance = useBalances(account, currency, balance, page, isWhole ? entries : undefined);
  // The list has entries of all currencies, whose amounts cannot be added.
  const own = new URLSearchParams({ ...Object.fromEntries(query), currency, per_page: '1' });
  const sums = useLoad(`${account} ${own} ${text(balance?.['balance'])}`, () =>
    get(`${root}?${own}`),
  );
  const exported = new URLSearchParams(Object.entries(others).filter(([, value]) => value !== ''));
  return {
    root,
    filters,
    setAll,
    found,
    sums,
    page: Number(page),
    entries,
    withBalance,
    request: `${root}?${query}`,
    exportPath: `${root}/export?${exported}`,
  };
}

/** Ledger of one currency of the account. */
export function Ledger(props: Props) {
  const { root, filters, setAll, found, page, entries, ...rest } = useLedger(props);
  const { withBalance, sums } = rest;
  return (
    <section class="stack">
      <div class="row between">
        <h2>{t('Ledger')}</h2>
        <Save path={rest.exportPath} name="ledger.csv">
          {t('Export CSV')}
        </Save>
      </div>
      <Filters
        account={props.account}
        root={root}
        fields={filters}
        set={(name) => (value) => setAll({ [name]: value, page: '1' })}
      />
      <LoadProblem of={found} />
      <LoadProblem of={sums} />
      <Summary of={part(sums.value?.['summary'])} currency={props.currency} />
      <Table
        name={t('Ledger')}
        rows={withBalance ?? entries}
        problem={found.problem}
        empty={t('No entry matches.')}
        columns={withBalance === undefined ? COLUMNS : COLUMNS_WITH_BALANCE}
      />
      <Pager
        page={page}
        set={(next) => setAll({ page: String(next) })}
        perPage={PER_PAGE}
        shown={entries?.length ?? 0}
        total={number(found.value?.['total'])}
      />
      <Snippets request={{ method: 'GET', path: rest.request }} />
    </section>
  );
}

interface FiltersProps {
  readonly account: string;
  /** Path of the ledger in the API. */
  readonly root: string;
  readonly fields: Readonly<typeof EMPTY>;
  readonly set: (name: keyof typeof EMPTY) => (value: string) => void;
}

function Filters({ account, root, fields, set }: FiltersProps) {
  const types = useLoad(`${account} types`, () => get(`${root}/reference-types`));
  const names = Array.isArray(types.value?.['reference_types'])
    ? types.value['reference_types'].map(text)
    : [];
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <Input
        label={t('Search description')}
        type="search"
        value={fields.description}
        set={set('description')}
        wider
      />
      <Select
        label={t('Type')}
        value={fields.type}
        set={set('type')}
        options={[
          ['', t('Any')],
          ['credit', t('Credit')],
          ['debit', t('Debit')],
        ]}
      />
      <Select
        label={t('Source')}
        value={fields.reference_type}
        set={set('reference_type')}
        options={[['', t('Any')], ...names.map((one) => [one, sourceName(one)] as const)]}
      />
      <Input label={t('From date')} type="date" value={fields.from_date} set={set('from_date')} />
      <Input label={t('To date')} type="date" value={fields.to_date} set={set('to_date')} />
    </form>
  );
}

interface SummaryProps {
  readonly of: Row;
  readonly currency: string;
}

/** Number and sums of the entries of one currency that match the filters. */
const Summary = ({ of: summary, currency }: SummaryProps) => (
  <p class="small muted">
    {t('{n} entries in {currency} · debit {debit} · credit {credit} · net {net}', {
      n: count(summary['total_transactions']),
      currency,
      debit: money(summary['total_debit'], currency),
      credit: money(summary['total_credit'], currency),
      net: money(summary['net_amount'], currency),
    })}
  </p>
);

const COLUMNS: readonly Column[] = [
  {
    title: t('Time'),
    value: (row) => <At value={row['created_at']} />,
    sort: (row) => text(row['created_at']),
  },
  { title: t('Description'), value: (row) => <Described row={row} /> },
  {
    title: t('Source'),
    value: (row) => sourceName(row['reference_type']),
    sort: (row) => sourceName(row['reference_type']),
    isMinor: true,
  },
  {
    title: t('Amount'),
    value: (row) => (
      <span class={signed(row) < 0 ? '' : 'text-good'}>
        {signed(row) < 0 ? '−' : '+'}
        {money(Math.abs(number(row['amount'])), row['currency'])}
      </span>
    ),
    sort: signed,
    isNumber: true,
  },
];

const COLUMNS_WITH_BALANCE: readonly Column[] = [
  ...COLUMNS,
  {
    title: t('Balance'),
    value: (row) => money(row['balance_after'], row['currency']),
    isNumber: true,
    isMinor: true,
  },
];

/** Description with a link to the call of the entry. */
function Described({ row }: { readonly row: Row }) {
  const [, uuid = ''] = /^cdr:([0-9a-f-]{36})$/.exec(text(row['reference'])) ?? [];
  const told = text(row['description']);
  return uuid === '' ? <span>{told}</span> : <a href={href(`calls/${uuid}`)}>{told}</a>;
}

/** Adds the balance after each entry: the current balance minus the later entries. Needs the whole ledger. */
function useBalances(
  account: string,
  currency: string,
  balance: Row | undefined,
  page: string,
  entries: readonly Row[] | undefined,
): readonly Row[] | undefined {
  const first = text(entries?.[0]?.['id']);
  const skipped = (Number(page) - 1) * PER_PAGE;
  const isOwn = (row: Row) => row['currency'] === currency && row['status'] === 'completed';
  const later = useLoad(`${account} ${page} ${first}`, async () => {
    if (skipped === 0 || entries === undefined) return 0;
    const path = `/api/v1/Account/${account}/transactions?per_page=1000`;
    let sum = 0;
    for (let at = 0; at < Math.min(skipped, 5000); at += 1000) {
      const reply = await get(`${path}&page=${at / 1000 + 1}`);
      sum += rows(reply['transactions'])
        .slice(0, skipped - at)
        .filter(isOwn)
        .reduce((total, row) => total + signed(row), 0);
    }
    return sum;
  });
  if (entries === undefined || balance === undefined || later.value === undefined) return undefined;
  if (skipped > 5000) return undefined;
  let after = number(balance['balance']) - later.value;
  return entries.map((row) => {
    const own = { ...row, balance_after: isOwn(row) ? after : undefined };
    if (isOwn(row)) after -= signed(row);
    return own;
  });
}
