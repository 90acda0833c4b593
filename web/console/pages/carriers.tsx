import { useState } from 'preact/hooks';
import { get, type Row, rows, text } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { Input, money, onSubmit, Problem, State, Table } from '../parts.tsx';
import type { BuildProps } from './build-props.ts';

export function Carriers({ account }: BuildProps) {
  const { value, problem } = useLoad('carriers', () => get('/admin/v1/carriers'));
  return (
    <>
      <Problem text={problem} />
      <Table
        name="Carriers"
        rows={value && rows(value['carriers'])}
        empty="No carriers yet. Calls can reach endpoints and SIP addresses, but not phone numbers."
        columns={[
          { title: 'Name', value: (row) => text(row['name']) },
          {
            title: 'Host',
            value: (row) =>
              `${text(row['host'])}${row['port'] ? `:${text(row['port'])}` : ''} ${text(row['transport'])}`,
          },
          {
            title: 'Priority',
            value: (row) => text(row['priority']),
            isNumber: true,
            isMinor: true,
          },
          {
            title: 'Up',
            value: ({ up, registered }) => (
              <>
                {typeof up === 'boolean' && <State good={up}>{up ? 'up' : 'down'}</State>}
                {up === null && 'not probed'}
                {registered === false && <State good={false}>not registered</State>}
              </>
            ),
          },
          {
            title: 'State',
            value: (row) => (
              <State good={row['enabled'] === true}>{row['enabled'] ? 'enabled' : 'off'}</State>
            ),
          },
        ]}
      />
      <RouteTest account={account} />
    </>
  );
}

function RouteTest({ account }: { readonly account: string }) {
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [found, setFound] = useState<Row>();
  const { problem, run } = useAction();
  const test = () =>
    run(async () =>
      setFound(
        await get(`/admin/v1/routes?${new URLSearchParams({ account_id: account, from, to })}`),
      ),
    );
  return (
    <>
      <h3>Test routing</h3>
      <Problem text={problem} />
      <form class="row" onSubmit={onSubmit(() => void test())}>
        <Input label="From" value={from} set={setFrom} required />
        <Input label="To" value={to} set={setTo} required />
        <button type="submit">Test</button>
      </form>
      {found && (
        <>
          <p role="status">
            {text(found['to'])} {text(found['country'])} ·{' '}
            {money(found['per_minute'], found['currency'])} a minute
            {found['refusal'] !== null && (
              <span class="bad"> · refused: {text(found['refusal'])}</span>
            )}
          </p>
          <Table
            name="Carriers of the route"
            rows={rows(found['carriers'])}
            empty="No carrier accepts this call."
            columns={[
              { title: 'Carrier', value: (row) => text(row['carrier'] ?? row['name']) },
              {
                title: 'Reason',
                value: (row) => text(row['reason'] ?? row['why'] ?? row['prefix']),
              },
              { title: 'Number', value: (row) => text(row['number']) },
            ]}
          />
        </>
      )}
    </>
  );
}
