import { useState } from 'preact/hooks';
import { call, get, number, type Row, rows, text } from '../api.ts';
import { count, money, percent, words, zones } from '../format.ts';
import { useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { t } from '../text.ts';
import { Editor } from '../ui/editor.tsx';
import { optionsOf } from '../ui/form.tsx';
import { Actions } from '../ui/overlay.tsx';
import { At, Badge, Card, CopyText, Facts, Head, LoadProblem, Tiles } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';
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
  const isActive = own?.['status'] === 'active' || own?.['is_active'] === true;
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
      <Tiles
        of={[
          {
            name: t('Running calls'),
            value: count(use.value?.['concurrent_calls']),
            note: t('of {n}', { n: count(use.value?.['max_concurrent']) }),
          },
          {
            name: t('Capacity in use'),
            value: use.value && percent(number(use.value['utilization_pct']) / 100),
          },
          {
            name: t('New calls'),
            value: own && count(own['cps_limit']),
            note: t('per second at most'),
          },
        ]}
      />
      {own && (
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
      )}
      {isStaff && own && !isSub && (
        <Balances account={account} list={rows(own['balances'])} done={found.again} />
      )}
      {own?.['customer_type'] === 'partner' && <Capacity />}
      <Editor
        isOpen={isOpen}
        close={() => setOpen(false)}
        row={own}
        noun={t('account')}
        fields={[
          { name: 'name', label: t('Name'), required: true },
          {
            name: 'timezone',
            label: t('Time zone'),
            hint: t('For example Europe/Berlin'),
            options: optionsOf(zones()),
            required: true,
          },
        ]}
        request={() => ({ method: 'POST', path })}
        save={(body) => call('POST', path, body)}
        done={found.again}
      />
    </>
  );
}

interface BalancesProps {
  readonly account: string;
  readonly list: readonly Row[];
  readonly done: () => void;
}

/** Balances by currency with their credit terms, for the operator. */
function Balances({ account, list, done }: BalancesProps) {
  const path = `/admin/v1/accounts/${account}/balances`;
  const [open, setOpen] = useState<{ readonly row: Row | undefined }>();
  const row = open?.row;
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
        columns={[
          {
            title: t('Currency'),
            value: (one) => text(one['currency']),
            sort: (one) => text(one['currency']),
          },
          {
            title: t('Balance'),
            value: (one) => money(one['balance'], ''),
            sort: (one) => number(one['balance']),
            isNumber: true,
          },
          {
            title: t('Available'),
            value: (one) => money(one['available_balance'], ''),
            sort: (one) => number(one['available_balance']),
            isNumber: true,
          },
          {
            title: t('Credit limit'),
            value: (one) =>
              `${money(one['credit_limit'], '')} (${one['is_postpaid'] === true ? t('postpaid') : t('prepaid')}, ${text(one['credit_limit_type'])})`,
            sort: (one) => number(one['credit_limit']),
            isMinor: true,
          },
          {
            title: t('Alert below'),
            value: (one) => money(one['low_balance_threshold'], ''),
            sort: (one) => number(one['low_balance_threshold']),
            isNumber: true,
            isMinor: true,
          },
          {
            title: t('Actions'),
            isActions: true,
            need: 'money',
            value: (one) => (
              <Actions
                name={text(one['currency'])}
                of={[{ label: t('Edit credit terms'), act: () => setOpen({ row: one }) }]}
              />
            ),
          },
        ]}
      />
      <Editor
        isOpen={open !== undefined}
        close={() => setOpen(undefined)}
        row={row}
        noun={t('balance')}
        title={row === undefined ? t('Add currency') : t('Edit credit terms')}
        fields={
          row === undefined
            ? [
                {
                  name: 'currency',
                  label: t('Currency'),
                  hint: t('ISO 4217 code, for example EUR'),
                  required: true,
                },
              ]
            : TERMS
        }
        request={() => ({
          method: row === undefined ? 'POST' : 'PATCH',
          path: row === undefined ? path : `${path}/${text(row['currency'])}`,
        })}
        save={(body, one) =>
          one === undefined
            ? call('POST', path, body)
            : call('PATCH', `${path}/${text(one['currency'])}`, body)
        }
        done={done}
      />
    </Card>
  );
}

const TERMS = [
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
  { name: 'low_balance_threshold', label: t('Alert below'), kind: 'number' },
] as const;
