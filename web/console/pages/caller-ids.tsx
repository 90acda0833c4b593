import { useState } from 'preact/hooks';
import { call, get, type Row, rows, text } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { type Column, Input, onSubmit, Problem, Select, Table } from '../parts.tsx';
import type { BuildProps } from './build-props.ts';

/** Caller IDs that the account may present, and its default. */
export function CallerIds({ account, me }: BuildProps) {
  const root = `/api/v1/Account/${account}/caller-ids`;
  const { value, problem: unread, again } = useLoad(account, () => get(root));
  const rented = useLoad(`${account} numbers`, () =>
    get(`/api/v1/Account/${account}/numbers?per_page=100`),
  );
  const { problem, run } = useAction();
  const verified = rows(value?.['caller_ids']).map((row) => text(row['number']));
  const own = rows(rented.value?.['items']).map((row) => text(row['e164']).replace('+', ''));
  const choices = [...new Set([...own, ...verified])];
  return (
    <>
      <Problem text={unread ?? rented.problem ?? problem} />
      {me.account_id === null ? (
        <VerifiedCallerIds account={account} changed={again} />
      ) : (
        <>
          <p>
            The account may present its own numbers, and those that the operator has verified to be
            yours.
          </p>
          <Table
            name="Caller IDs"
            rows={value && verified.map((number) => ({ number }))}
            empty="No verified numbers yet. Ask the operator to verify one."
            columns={[{ title: 'Verified number', value: (row) => text(row['number']) }]}
          />
        </>
      )}
      {value !== undefined && (
        <div class="row">
          <Select
            label="Default caller ID"
            value={text(value['default_caller_id'])}
            set={(number) =>
              void run(() =>
                call('PUT', `${root}/default`, { number: number || null }).finally(again),
              )
            }
            options={optionsOf(choices, text(value['default_caller_id']), 'none')}
          />
        </div>
      )}
      <Shown account={account} choices={choices} />
    </>
  );
}

/** Choices for a caller ID. Includes the current one even if it is not valid any more, until another is chosen. */
const optionsOf = (
  choices: readonly string[],
  now: string,
  none: string,
): ReadonlyArray<readonly [string, string]> => [
  ['', none],
  ...[...new Set([...choices, ...(now === '' ? [] : [now])])].map((one) => [one, one] as const),
];

interface VerifiedProps {
  readonly account: string;
  readonly changed?: () => void;
}

/** Numbers outside the account that it may present. The operator has verified that they belong to the customer. */
export function VerifiedCallerIds({ account, changed }: VerifiedProps) {
  const root = `/admin/v1/accounts/${account}/caller-ids`;
  const { value, problem: unread, again } = useLoad(root, () => get(root));
  const [number, setNumber] = useState('');
  const { problem, run } = useAction();
  const anew = () => {
    again();
    changed?.();
  };
  const add = () =>
    run(async () => {
      await call('POST', root, { number });
      setNumber('');
      anew();
    });
  return (
    <>
      <Problem text={unread ?? problem} />
      <Table
        name="Caller IDs"
        rows={value && rows(value['caller_ids'])}
        empty="The account presents only its own numbers."
        columns={[
          { title: 'Verified number', value: (row) => text(row['number']) },
          {
            title: 'Action',
            need: 'money' as const,
            value: (row) => (
              <button
                type="button"
                class="small secondary"
                aria-label={`Forget ${text(row['number'])}`}
                onClick={() =>
                  confirm(`Forget the caller ID ${text(row['number'])}?`) &&
                  void run(() => call('DELETE', `${root}/${text(row['number'])}`).then(anew))
                }
              >
                Forget
              </button>
            ),
          },
        ]}
      />
      {may('money') && (
        <form class="row" onSubmit={onSubmit(() => void add())}>
          <Input label="Verified number" value={number} set={setNumber} required />
          <button type="submit">Add</button>
        </form>
      )}
    </>
  );
}

interface ShownProps {
  readonly account: string;
  readonly choices: readonly string[];
}

/** Endpoints and applications that present a separate caller ID. */
function Shown({ account, choices }: ShownProps) {
  const root = `/api/v1/Account/${account}`;
  const endpoints = useLoad(`${account} endpoints`, () => get(`${root}/Endpoint/?limit=100`));
  const apps = useLoad(`${account} apps`, () => get(`${root}/Application/?limit=100`));
  const { problem, run } = useAction();
  const list: readonly Row[] | undefined = endpoints.value &&
    apps.value && [
      ...rows(endpoints.value['objects']).map((one) => ({
        kind: 'endpoint',
        name: one['username'],
        shows: one['caller_id'],
        id: `Endpoint/${text(one['endpoint_id'])}`,
      })),
      ...rows(apps.value['objects']).map((one) => ({
        kind: 'application',
        name: one['app_name'],
        shows: one['caller_id'],
        id: `Application/${text(one['app_id'])}`,
      })),
    ];
  const choose = (row: Row, number: string) =>
    run(() =>
      call('POST', `${root}/${text(row['id'])}/`, { caller_id: number || null }).finally(() => {
        endpoints.again();
        apps.again();
      }),
    );
  const columns: readonly Column[] = [
    { title: 'Name', value: (row) => text(row['name']) },
    { title: 'Kind', value: (row) => text(row['kind']), isMinor: true },
    {
      title: 'Caller ID',
      value: (row) => (
        <select
          aria-label={`What ${text(row['kind'])} ${text(row['name'])} shows`}
          value={text(row['shows'])}
          onChange={({ currentTarget }) => void choose(row, currentTarget.value)}
        >
          {optionsOf(choices, text(row['shows']), 'account default').map(([one, shown]) => (
            <option key={one} value={one}>
              {shown}
            </option>
          ))}
        </select>
      ),
    },
  ];
  return (
    <>
      <h3>Caller ID overrides</h3>
      <Problem text={endpoints.problem ?? apps.problem ?? problem} />
      <Table
        name="Caller ID overrides"
        rows={list}
        empty="No endpoints or applications yet."
        columns={columns}
      />
    </>
  );
}
