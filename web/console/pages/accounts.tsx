import { useState } from 'preact/hooks';
import { accountsOf, get, number, type Row, text } from '../api.ts';
import { count, percent, words } from '../format.ts';
import { useLive, useLoad } from '../hooks.ts';
import { mayRead } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { numberColumn, textColumn } from '../ui/columns.tsx';
import type { FieldSpec } from '../ui/editor.tsx';
import { optionsOf } from '../ui/form.tsx';
import { Badge, CopyText, Head, LoadProblem, Tiles } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import type { Column } from '../ui/table.tsx';
import { ImportLink } from './import-link.tsx';

const COLUMNS: readonly Column[] = [
  textColumn(t('Name'), 'name', {
    value: (row) => <a href={href('overview', {}, text(row['auth_id']))}>{text(row['name'])}</a>,
  }),
  {
    title: t('Auth ID'),
    value: (row) => <CopyText value={text(row['auth_id'])} />,
    isMinor: true,
  },
  textColumn(t('State'), 'status', {
    value: ({ status }) => (
      <Badge tone={status === 'active' ? 'good' : 'bad'}>{words(status)}</Badge>
    ),
  }),
  numberColumn(t('Concurrent calls'), 'concurrent_calls_limit'),
  numberColumn(t('Calls per second'), 'cps_limit', { isMinor: true }),
  {
    title: t('Partner'),
    value: (row) => (row['is_partner'] === true ? t('Is a partner') : text(row['partner_auth_id'])),
    isMinor: true,
  },
];

const FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: t('Name'), required: true },
  {
    name: 'status',
    label: t('State'),
    kind: 'select',
    initial: 'active',
    options: optionsOf(['active', 'suspended', 'closed']),
    hint: t('A suspended or closed account can no longer make calls'),
  },
  {
    name: 'concurrent_calls_limit',
    label: t('Concurrent calls'),
    kind: 'number',
    group: t('Limits'),
  },
  { name: 'cps_limit', label: t('Calls per second'), kind: 'number' },
  { name: 'daily_spend_limit', label: t('Daily spend limit'), kind: 'number' },
  { name: 'barred_prefixes', label: t('Barred prefixes'), kind: 'list' },
  { name: 'partner_auth_id', label: t('Partner (auth ID)'), isNullable: true },
];

/** Accounts with limits, state and partners. */
export function Accounts(_: PageProps) {
  const [made, setMade] = useState<Row>();
  return (
    <>
      <Head title={t('Accounts')} about={t('Customers of the service, with their limits.')}>
        <ImportLink kind="accounts" />
      </Head>
      {mayRead('calls') && <Capacity />}
      {made !== undefined && (
        <div class="callout good" role="status">
          <strong>
            {t('Created {id}. Copy the token now. It is not shown again.', {
              id: text(made['auth_id']),
            })}
          </strong>
          <CopyText value={text(made['auth_token'])} />
        </div>
      )}
      <Resource
        title={t('Accounts')}
        noun={t('account')}
        path="/admin/v1/accounts"
        member="accounts"
        editMethod="PATCH"
        need="money"
        createNeed="credentials"
        deletes={false}
        idOf={(row) => text(row['auth_id'])}
        nameOf={(row) => text(row['name'])}
        created={setMade}
        emptyTitle={t('No accounts yet.')}
        emptyDetail={t('Create an account for your first customer.')}
        columns={COLUMNS}
        fields={FIELDS}
        prepare={({ status, ...body }, row) =>
          row === undefined || status === undefined ? body : { ...body, status }
        }
      />
    </>
  );
}

/** Capacity of the node and the share assigned to accounts. */
function Capacity() {
  const { total } = useLive();
  const status = useLoad('status', () => get('/admin/v1/status'));
  const accounts = useLoad('accounts', () => accountsOf(Number.POSITIVE_INFINITY));
  const limit = number(status.value?.['calls_limit']);
  const assigned = accounts.value
    ?.filter((one) => one['status'] === 'active')
    .reduce((sum, one) => sum + number(one['concurrent_calls_limit']), 0);
  return (
    <>
      <LoadProblem of={status} />
      <LoadProblem of={accounts} />
      <Tiles
        of={[
          {
            name: t('Running calls'),
            value: count(total),
            note: status.value && t('of {n}', { n: count(limit) }),
          },
          { name: t('Assigned to active accounts'), value: count(assigned) },
          {
            name: t('Assigned share of the capacity'),
            value: assigned === undefined || limit === 0 ? '' : percent(assigned / limit),
          },
        ]}
      />
    </>
  );
}
