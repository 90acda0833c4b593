/** Capacity that a partner transfers to its customers and reclaims from them. */
import { useState } from 'preact/hooks';
import { call, get, type Row, text } from '../api.ts';
import { count, words } from '../format.ts';
import { useLoad, useSettled } from '../hooks.ts';
import { may } from '../may.ts';
import { t } from '../text.ts';
import { Editor, type FieldSpec } from '../ui/editor.tsx';
import { Input } from '../ui/form.tsx';
import { At, Card, Facts, LoadProblem } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import type { Column } from '../ui/table.tsx';

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

const FIELDS: readonly FieldSpec[] = [
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
];

export function Capacity() {
  const [open, setOpen] = useState<'transfer' | 'reclaim'>();
  const [round, setRound] = useState(0);
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
      <Allocation />
      <Resource
        key={round}
        title={t('Transfers of capacity')}
        noun={t('transfer')}
        path="/api/v1/partner/concurrency/transfers"
        member="transfers"
        deletes={false}
        idOf={(row) => text(row['transfer_reference'])}
        nameOf={(row) => text(row['transfer_reference'])}
        emptyTitle={t('No transfers yet.')}
        emptyDetail={t('Transfer capacity to give a customer concurrent calls.')}
        columns={COLUMNS}
      />
      <Editor
        isOpen={open !== undefined}
        close={() => setOpen(undefined)}
        row={undefined}
        noun={t('transfer')}
        title={title}
        doneText={t('The limits of both accounts have changed.')}
        fields={FIELDS}
        request={() => ({ method: 'POST', path: pathOf('CUSTOMER') })}
        save={(body) => {
          const { customer, ...sent } = body as Row;
          return call('POST', pathOf(encodeURIComponent(text(customer))), sent);
        }}
        done={() => setRound(round + 1)}
      />
    </Card>
  );
}

/** Capacity that one customer has received. */
function Allocation() {
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
