/** Capacity that a partner transfers to its customers and reclaims from them. */
import { useState } from 'preact/hooks';
import { call, get, number, type Row, rows, text } from '../api.ts';
import { count, words } from '../format.ts';
import { useLoad, useSettled } from '../hooks.ts';
import { may } from '../may.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Editor } from '../ui/editor.tsx';
import { Input } from '../ui/form.tsx';
import { At, Card, Facts, LoadProblem } from '../ui/parts.tsx';
import { type Column, Pager, Table } from '../ui/table.tsx';

const PER_PAGE = 25;
const ACCOUNT = /^MA_[A-Z0-9]+$/;
const resourceOf = (value: unknown) =>
  value === 'cps' ? t('Calls per second') : t('Concurrent calls');

const COLUMNS: readonly Column[] = [
  { title: t('Time'), value: (row) => <At value={row['created_at']} /> },
  { title: t('Operation'), value: (row) => words(row['operation']) },
  { title: t('Resource'), value: (row) => resourceOf(row['resource']) },
  { title: t('Slots'), value: (row) => count(row['slots']), isNumber: true },
  {
    title: t('Customer'),
    value: (row) => (
      <code>{text(row[row['operation'] === 'transfer' ? 'to_account' : 'from_account'])}</code>
    ),
  },
  { title: t('Description'), value: (row) => text(row['description']), isMinor: true },
  {
    title: t('Left for the partner'),
    value: (row) => count(row['partner_remaining']),
    isNumber: true,
    isMinor: true,
  },
];

export function Capacity() {
  const { fields, setAll } = useQuery({ page: '1' });
  const page = Math.max(1, Number(fields.page) || 1);
  const found = useLoad(`transfers ${page}`, () =>
    get(`/api/v1/partner/concurrency/transfers?limit=${PER_PAGE}&offset=${(page - 1) * PER_PAGE}`),
  );
  const [open, setOpen] = useState<'transfer' | 'reclaim'>();
  const list = found.value && rows(found.value['transfers']);
  const customers = [
    ...new Set(list?.flatMap((one) => [text(one['from_account']), text(one['to_account'])])),
  ].filter((one) => one !== text(list?.[0]?.['partner_auth_id']));
  const title = open === 'reclaim' ? t('Reclaim capacity') : t('Transfer capacity');
  const pathOf = (customer: string) =>
    `/api/v1/partner/accounts/${customer}/concurrency/${open ?? 'transfer'}`;
  return (
    <Card
      title={t('Capacity of customers')}
      flush
      actions={
        may('change') && (
          <>
            <button type="button" class="btn" onClick={() => setOpen('reclaim')}>
              {t('Reclaim capacity')}
            </button>
            <button type="button" class="btn primary" onClick={() => setOpen('transfer')}>
              {t('Transfer capacity')}
            </button>
          </>
        )
      }
    >
      <Allocation customers={customers} />
      <LoadProblem of={found} />
      <Table
        name={t('Transfers of capacity')}
        rows={list}
        problem={found.problem}
        keyOf={(row) => text(row['transfer_reference'])}
        empty={t('No transfers yet. Transfer capacity to give a customer concurrent calls.')}
        columns={COLUMNS}
      />
      <Pager
        page={page}
        set={(next) => setAll({ page: String(next) })}
        perPage={PER_PAGE}
        shown={list?.length ?? 0}
        total={number(found.value?.['total'])}
      />
      <Editor
        isOpen={open !== undefined}
        close={() => setOpen(undefined)}
        row={undefined}
        noun={t('transfer')}
        title={title}
        doneText={t('The limits of both accounts have changed.')}
        fields={[
          {
            name: 'customer',
            label: t('Customer'),
            hint: t('Auth ID of a customer of this partner'),
            required: true,
          },
          {
            name: 'resource',
            label: t('Resource'),
            kind: 'select',
            initial: 'concurrent_calls',
            options: [
              ['concurrent_calls', t('Concurrent calls')],
              ['cps', t('Calls per second')],
            ],
          },
          { name: 'slots', label: t('Slots'), kind: 'number', required: true },
          { name: 'description', label: t('Description') },
        ]}
        request={() => ({ method: 'POST', path: pathOf('CUSTOMER') })}
        save={(body) => {
          const { customer, ...sent } = body as Row;
          return call('POST', pathOf(encodeURIComponent(text(customer))), sent);
        }}
        done={found.again}
      />
    </Card>
  );
}

/** Capacity that one customer has received. */
function Allocation({ customers }: { readonly customers: readonly string[] }) {
  const [customer, setCustomer] = useState('');
  const asked = useSettled(customer.trim());
  const isComplete = ACCOUNT.test(asked);
  const found = useLoad(`allocation ${asked}`, () =>
    isComplete
      ? get(`/api/v1/partner/accounts/${asked}/concurrency`)
      : Promise.resolve<Row | undefined>(undefined),
  );
  const { value } = found;
  const pair = (calls: string, cps: string) =>
    t('{calls} concurrent calls, {cps} calls per second', {
      calls: count(value?.[calls]),
      cps: count(value?.[cps]),
    });
  return (
    <div class="pad stack">
      <div class="filters">
        <Input
          label={t('Show the capacity of a customer')}
          placeholder="MA_…"
          value={customer}
          set={setCustomer}
          list={customers}
          wider
        />
      </div>
      {isComplete && <LoadProblem of={found} />}
      {value && (
        <Facts
          of={[
            [t('Received'), pair('net_concurrent_calls_allocated', 'net_cps_allocated')],
            [
              t('Limit of the customer'),
              pair('customer_concurrent_calls_limit', 'customer_cps_limit'),
            ],
            [
              t('Limit of the partner'),
              pair('partner_concurrent_calls_limit', 'partner_cps_limit'),
            ],
          ]}
        />
      )}
    </div>
  );
}
