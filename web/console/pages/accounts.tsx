import { useState } from 'preact/hooks';
import { call, get, number, type Row, rows, text } from '../api.ts';
import { useAction, useFields, useLive, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { changeColumn, Input, onSubmit, Problem, Select, State, Table, Tiles } from '../parts.tsx';
import { VerifiedCallerIds } from './caller-ids.tsx';

const NEW = { auth_id: '', name: '', status: 'active', calls: '', cps: '', partner: '' };

/** Accounts with limits, state and partners. Balances are on the page for money. */
export function Accounts() {
  const {
    value,
    problem: unread,
    again,
  } = useLoad('all', () => get('/admin/v1/accounts?limit=100'));
  const { fields: edited, setFields: setEdited, set } = useFields(NEW);
  const [made, setMade] = useState<Row>();
  const { problem, run } = useAction();
  const isNew = edited.auth_id === '';
  const edit = (row: Row) =>
    setEdited({
      auth_id: text(row['auth_id']),
      name: text(row['name']),
      status: text(row['status']),
      calls: text(row['concurrent_calls_limit']),
      cps: text(row['cps_limit']),
      partner: text(row['partner_auth_id']),
    });
  const save = () =>
    run(async () => {
      const body = {
        name: edited.name,
        ...(edited.calls !== '' && { concurrent_calls_limit: Number(edited.calls) }),
        ...(edited.cps !== '' && { cps_limit: Number(edited.cps) }),
        ...(edited.partner !== '' && { partner_auth_id: edited.partner }),
      };
      const stops = !isNew && edited.status !== 'active';
      if (
        stops &&
        !confirm(
          `Set ${edited.name} to ${edited.status}? The account can then no longer make calls.`,
        )
      )
        return;
      if (isNew) setMade(await call('POST', '/admin/v1/accounts', body));
      else {
        await call('PATCH', `/admin/v1/accounts/${edited.auth_id}`, {
          ...body,
          status: edited.status,
        });
      }
      setEdited(NEW);
      again();
    });
  return (
    <>
      <h1>Accounts</h1>
      <Problem text={unread ?? problem} />
      <Capacity accounts={rows(value?.['accounts'])} />
      <Table
        name="Accounts"
        rows={value && rows(value['accounts'])}
        empty="No accounts yet. Create one below."
        columns={[
          { title: 'Name', value: (row) => text(row['name']) },
          { title: 'ID', value: (row) => text(row['auth_id']), isMinor: true },
          {
            title: 'State',
            value: (row) => <State good={row['status'] === 'active'}>{text(row['status'])}</State>,
          },
          { title: 'Calls', value: (row) => text(row['concurrent_calls_limit']), isNumber: true },
          {
            title: 'Per second',
            value: (row) => text(row['cps_limit']),
            isNumber: true,
            isMinor: true,
          },
          {
            title: 'Partner',
            value: (row) =>
              row['is_partner'] === true ? 'is a partner' : text(row['partner_auth_id']),
            isMinor: true,
          },
          changeColumn(edit, 'money'),
        ]}
      />
      {may(isNew ? 'credentials' : 'money') && (
        <h2>{isNew ? 'New account' : `Change ${edited.name}`}</h2>
      )}
      {may(isNew ? 'credentials' : 'money') && (
        <form class="row" onSubmit={onSubmit(() => void save())}>
          <Input label="Name" value={edited.name} set={set('name')} required />
          <Input label="Concurrent calls" value={edited.calls} set={set('calls')} />
          <Input label="Calls per second" value={edited.cps} set={set('cps')} />
          <Input label="Partner (ID)" value={edited.partner} set={set('partner')} />
          {!isNew && (
            <Select
              label="State"
              value={edited.status}
              set={set('status')}
              options={['active', 'suspended', 'closed'].map((one) => [one, one] as const)}
            />
          )}
          <button type="submit">{isNew ? 'Create' : 'Save'}</button>
          {!isNew && (
            <button type="button" class="secondary" onClick={() => setEdited(NEW)}>
              Leave it
            </button>
          )}
        </form>
      )}
      {!isNew && (
        <>
          <h3>Caller IDs of {edited.name}</h3>
          <VerifiedCallerIds account={edited.auth_id} />
        </>
      )}
      <p role="status">
        {made && (
          <>
            Created {text(made['auth_id'])}. Copy the auth token now; it is not shown again:{' '}
            <code>{text(made['auth_token'])}</code>
          </>
        )}
      </p>
    </>
  );
}

/** Capacity of the node and the share assigned to accounts. */
function Capacity({ accounts }: { readonly accounts: readonly Row[] }) {
  const { total } = useLive();
  const status = useLoad('status', () => get('/admin/v1/status'));
  const limit = number(status.value?.['calls_limit']);
  const promised = accounts
    .filter((one) => one['status'] === 'active')
    .reduce((sum, one) => sum + number(one['concurrent_calls_limit']), 0);
  return (
    <Tiles
      of={[
        ['Active calls', `${total} of ${limit}`],
        ['Assigned to active accounts', text(promised)],
        [
          'Assigned share of capacity',
          limit === 0 ? '' : `${Math.round((100 * promised) / limit)} %`,
        ],
      ]}
    />
  );
}
