import { useState } from 'preact/hooks';
import { call, get, number, type Row, rows, text } from '../api.ts';
import { count, money, percent, words, zones } from '../format.ts';
import { useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { t } from '../text.ts';
import { numberColumn, textColumn } from '../ui/columns.tsx';
import { Editor, type FieldSpec } from '../ui/editor.tsx';
import { optionsOf } from '../ui/form.tsx';
import { Actions } from '../ui/overlay.tsx';
import { At, Badge, Card, CopyText, Facts, Head, LoadProblem, Tiles } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Capacity } from './capacity.tsx';

const EVERY_MS = 5000;

/** Name, time zone, limits and use of the account. Staff also see its balances, and partners the capacity of customers. */
export function Account({ account, isStaff }: PageProps) {
  const path = `/api/v1/Account/${account}/`;
  const found = useLoad(`${account} ${isStaff}`, () =>
    get(isStaff ? `/admin/v1/accounts/${account}` : '/api/v1/auth/me'),
  );
  const use = useLoad(account, () => get(`${path}concurrency`), EVERY_MS);
  const [isOpen, setOpen] = useState(false);
  const own = found.value;
  const isSub = account.startsWith('SA_');
  return (
    <>
      <Head
        title={t('Account')}
        about={t('Name, time zone and limits of the account, and how much of them is in use.')}
      >
        {may('change') && !isSub && own && (
          <button type="button" class="btn primary" onClick={() => setOpen(true)}>
            {t('Edit account')}
          </button>
        )}
      </Head>
      <LoadProblem of={found} />
      <LoadProblem of={use} />
      <Use of={use.value} own={own} />
      {own && <Details account={account} own={own} />}
      {isStaff && own && !isSub && (
        <Balances account={account} list={rows(own['balances'])} done={found.again} />
      )}
      {own?.['customer_type'] === 'partner' && <Capacity />}
      <Editor
        isOpen={isOpen}
        close={() => setOpen(false)}
        row={own}
        noun={t('account')}
        fields={accountFields()}
        request={() => ({ method: 'POST', path })}
        save={(body) => call('POST', path, body)}
        done={found.again}
      />
    </>
  );
}

interface UseProps {
  /** Calls and limits of the account; undefined while loading. */
  readonly of: Row | undefined;
  readonly own: Row | undefined;
}

const Use = ({ of: use, own }: UseProps) => (
  <Tiles
    of={[
      {
        name: t('Running calls'),
        value: count(use?.['concurrent_calls']),
        note: t('of {n}', { n: count(use?.['max_concurrent']) }),
      },
      {
        name: t('Capacity in use'),
        value: use && percent(number(use['utilization_pct']) / 100),
      },
      {
        name: t('New calls'),
        value: own && count(own['cps_limit']),
        note: t('per second at most'),
      },
    ]}
  />
);

function Details({ account, own }: { readonly account: string; readonly own: Row }) {
  const isActive = own['status'] === 'active' || own['is_active'] === true;
  return (
    <Card title={t('Details')}>
      <Facts
        of={[
          [t('Name'), text(own['name'])],
          [t('Auth ID'), <CopyText key="id" value={account} />],
          [
            t('State'),
            <Badge key="state" tone={isActive ? 'good' : 'bad'}>
              {isActive ? t('Active') : words(own['status'])}
            </Badge>,
          ],
          [t('Country'), text(own['country'])],
          [t('Time zone'), text(own['timezone'])],
          [t('E-mail'), text(own['email'])],
          [t('Created'), <At key="created" value={own['created_at']} />],
        ]}
      />
      <p class="small muted">
        {t(
          'The API reports this time zone to clients. The times in this console use the zone at the end of the sidebar.',
        )}
      </p>
    </Card>
  );
}

/** A function, because the list of time zones is long and only this form needs it. */
const accountFields = (): readonly FieldSpec[] => [
  { name: 'name', label: t('Name'), required: true },
  {
    name: 'timezone',
    label: t('Time zone'),
    hint: t('For example Europe/Berlin'),
    options: optionsOf(zones()),
    required: true,
  },
];

interface BalancesProps {
  readonly account: string;
  readonly list: readonly Row[];
  readonly done: () => void;
}

/** Balances by currency with their credit terms, for the operator. */
function Balances({ account, list, done }: BalancesProps) {
  const [open, setOpen] = useState<OpenBalance>();
  return (
    <Card
      title={t('Balances')}
      flush
      actions={
        may('money') && (
          <button type="button" class="btn" onClick={() => setOpen({ row: undefined })}>
            {t('Add currency')}
          </button>
        )
      }
    >
      <Table
        name={t('Balances')}
        rows={list}
        keyOf={(one) => text(one['currency'])}
        empty={t('No balances.')}
        columns={balanceColumns((row) => setOpen({ row }))}
      />
      <BalanceEditor account={account} open={open} close={() => setOpen(undefined)} done={done} />
    </Card>
  );
}

const balanceColumns = (edit: (row: Row) => void): readonly Column[] => [
  textColumn(t('Currency'), 'currency'),
  numberColumn(t('Balance'), 'balance', { value: (one) => money(one['balance'], '') }),
  numberColumn(t('Available'), 'available_balance', {
    value: (one) => money(one['available_balance'], ''),
  }),
  {
    title: t('Credit limit'),
    value: (one) =>
      `${money(one['credit_limit'], '')} (${one['is_postpaid'] === true ? t('postpaid') : t('prepaid')}, ${text(one['credit_limit_type'])})`,
    sort: (one) => number(one['credit_limit']),
    isMinor: true,
  },
  numberColumn(t('Alert below'), 'low_balance_threshold', {
    value: (one) => money(one['low_balance_threshold'], ''),
    isMinor: true,
  }),
  {
    title: t('Actions'),
    isActions: true,
    need: 'money',
    value: (one) => (
      <Actions
        name={text(one['currency'])}
        of={[{ label: t('Edit credit terms'), act: () => edit(one) }]}
      />
    ),
  },
];

/** The open form: `row` is undefined for a new currency. */
interface OpenBalance {
  readonly row: Row | undefined;
}

interface BalanceEditorProps {
  readonly account: string;
  /** undefined while the form is closed. */
  readonly open: OpenBalance | undefined;
  readonly close: () => void;
  readonly done: () => void;
}

/** Adds a currency, or edits the credit terms of a balance. */
function BalanceEditor({ account, open, close, done }: BalanceEditorProps) {
  const row = open?.row;
  const isNew = row === undefined;
  const root = `/admin/v1/accounts/${account}/balances`;
  const method = isNew ? 'POST' : 'PATCH';
  const path = isNew ? root : `${root}/${text(row['currency'])}`;
  return (
    <Editor
      isOpen={open !== undefined}
      close={close}
      row={row}
      noun={t('balance')}
      title={isNew ? t('Add currency') : t('Edit credit terms')}
      fields={isNew ? CURRENCY : TERMS}
      request={() => ({ method, path })}
      save={(body) => call(method, path, body)}
      done={done}
    />
  );
}

const CURRENCY: readonly FieldSpec[] = [
  {
    name: 'currency',
    label: t('Currency'),
    hint: t('ISO 4217 code, for example EUR'),
    required: true,
  },
];

const TERMS: readonly FieldSpec[] = [
  { name: 'is_postpaid', label: t('Postpaid'), kind: 'flag' },
  {
    name: 'credit_limit',
    label: t('Credit limit'),
    kind: 'number',
    hint: t('How far below 0 the balance of a postpaid account may go'),
  },
  {
    name: 'credit_limit_type',
    label: t('At the limit'),
    kind: 'select',
    options: [
      ['hard', t('Hard: refuse what the balance does not cover')],
      ['soft', t('Soft: only send alerts')],
    ],
  },
  {
    name: 'low_balance_threshold',
    label: t('Alert below'),
    kind: 'number',
    hint: t('0: no alert'),
  },
];
