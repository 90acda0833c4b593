import { useState } from 'preact/hooks';
import { call, get, rows, text } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { Input, onSubmit, Problem, Table } from '../parts.tsx';
import type { BuildProps } from './build.tsx';

/** Numbers of others that the account may show when it calls: the operator has seen that they are the account's. */
export function CallerIds({ account }: BuildProps) {
  const root = `/admin/v1/accounts/${account}/caller-ids`;
  const { value, problem: unread, again } = useLoad(account, () => get(root));
  const [number, setNumber] = useState('');
  const { problem, run } = useAction();
  const add = () =>
    run(async () => {
      await call('POST', root, { number });
      setNumber('');
      again();
    });
  return (
    <>
      <Problem text={unread ?? problem} />
      <Table
        name="Caller ids"
        rows={value && rows(value['caller_ids'])}
        empty="The account shows its own numbers alone."
        columns={[
          { title: 'Number', value: (row) => text(row['number']) },
          {
            title: 'Action',
            value: (row) => (
              <button
                type="button"
                class="small"
                aria-label={`Forget ${text(row['number'])}`}
                onClick={() =>
                  void run(() => call('DELETE', `${root}/${text(row['number'])}`).then(again))
                }
              >
                Forget
              </button>
            ),
          },
        ]}
      />
      <form class="row" onSubmit={onSubmit(() => void add())}>
        <Input label="Number that has been verified" value={number} set={setNumber} required />
        <button type="submit">Add</button>
      </form>
    </>
  );
}
