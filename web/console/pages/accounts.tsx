import { useState } from 'preact/hooks';
import { call, get, type Row, rows, text } from '../api.ts';
import { useAction, useFields, useLoad } from '../hooks.ts';
import { changeColumn, Input, onSubmit, Problem, Select, State, Table } from '../parts.tsx';

const NEW = { auth_id: '', name: '', status: 'active', calls: '', cps: '', partner: '' };

/** Accounts of the node: limits, state and partners; money is on its own page. */
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
      <Table
        name="Accounts"
        rows={value && rows(value['accounts'])}
        empty="There is no account."
        columns={[
          { title: 'Name', value: (row) => text(row['name']) },
          { title: 'Id', value: (row) => text(row['auth_id']), isMinor: true },
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
            value: (row) => (row['is_partner'] === true ? 'is one' : text(row['partner_auth_id'])),
            isMinor: true,
          },
          changeColumn(edit),
        ]}
      />
      <h2>{isNew ? 'A new account' : `Change ${edited.name}`}</h2>
      <form class="row" onSubmit={onSubmit(() => void save())}>
        <Input label="Name" value={edited.name} set={set('name')} required />
        <Input label="Calls at once" value={edited.calls} set={set('calls')} />
        <Input label="Calls per second" value={edited.cps} set={set('cps')} />
        <Input label="Partner (id)" value={edited.partner} set={set('partner')} />
        {!isNew && (
          <Select
            label="State"
            value={edited.status}
            set={set('status')}
            options={['active', 'suspended', 'closed'].map((one) => [one, one] as const)}
          />
        )}
        <button type="submit">{isNew ? 'Make it' : 'Save'}</button>
        {!isNew && (
          <button type="button" class="secondary" onClick={() => setEdited(NEW)}>
            Leave it
          </button>
        )}
      </form>
      {!isNew && <CallerIds account={edited.auth_id} />}
      <p role="status">
        {made && (
          <>
            Made {text(made['auth_id'])}. Its auth token, shown this once:{' '}
            <code>{text(made['auth_token'])}</code>
          </>
        )}
      </p>
    </>
  );
}

/** Numbers that an account may show although it does not rent them: the operator has verified them. */
function CallerIds({ account }: { readonly account: string }) {
  const path = `/admin/v1/accounts/${account}/caller-ids`;
  const { value, problem: unread, again } = useLoad(account, () => get(path));
  const [number, setNumber] = useState('');
  const { problem, run } = useAction();
  const add = () =>
    run(async () => {
      await call('POST', path, { number });
      setNumber('');
      again();
    });
  return (
    <>
      <h3>Verified caller ids</h3>
      <Problem text={unread ?? problem} />
      <Table
        name="Verified caller ids"
        rows={value && rows(value['caller_ids'])}
        empty="None but the numbers that the account rents."
        columns={[
          { title: 'Number', value: (row) => text(row['number']) },
          {
            title: 'Remove',
            value: (row) => (
              <button
                type="button"
                class="small secondary"
                onClick={() =>
                  void run(() => call('DELETE', `${path}/${text(row['number'])}`).then(again))
                }
              >
                Remove
              </button>
            ),
          },
        ]}
      />
      <form class="row" onSubmit={onSubmit(() => void add())}>
        <Input label="Another number" value={number} set={setNumber} required />
        <button type="submit">Add</button>
      </form>
    </>
  );
}
