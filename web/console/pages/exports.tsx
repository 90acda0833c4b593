import { useEffect, useState } from 'preact/hooks';
import { call, get, rows, text } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { At, Input, onSubmit, Problem, Save, State, Table } from '../parts.tsx';

const EVERY_MS = 3000;

/** Exports of recordings with their progress. */
export function Exports({ account }: { readonly account: string }) {
  const path = `/api/v1/Account/${account}/export/recording/`;
  const { value, problem: unread, again } = useLoad(account, () => get(`${path}?limit=5`));
  const [mail, setMail] = useState('');
  const { problem, run } = useAction();
  const made = rows(value?.['objects']);
  const isWorking = made.some(({ state }) => state === 'queued' || state === 'running');
  useEffect(() => {
    if (!isWorking) return undefined;
    const timer = setInterval(again, EVERY_MS);
    return () => clearInterval(timer);
  }, [isWorking, again]);
  const send = () =>
    run(async () => {
      await call('POST', path, { recipient: { customer_account: [mail] } });
      again();
    });
  return (
    <section>
      <h2>Recordings of the last seven days</h2>
      <Problem text={unread ?? problem} />
      {may('change') && (
        <form class="row" onSubmit={onSubmit(() => void send())}>
          <Input
            label="Email the download link to"
            type="email"
            value={mail}
            set={setMail}
            required
          />
          <button type="submit">Export</button>
        </form>
      )}
      <Table
        name="Exports"
        rows={value && made}
        empty="No exports yet."
        columns={[
          { title: 'Requested', value: (row) => <At value={row['created_at']} /> },
          {
            title: 'State',
            value: (row) => (
              <State
                good={row['state'] === 'failed' ? false : row['state'] === 'done' || undefined}
              >
                {text(row['state'])} {text(row['progress'])} %
              </State>
            ),
          },
          { title: 'Recordings', value: (row) => text(row['recordings']), isNumber: true },
          {
            title: 'File',
            value: (row) =>
              row['state'] === 'done' && (
                <Save
                  path={`${path}${text(row['export_id'])}.zip`}
                  name={`recordings-${text(row['export_id'])}.zip`}
                >
                  Save
                </Save>
              ),
          },
        ]}
      />
    </section>
  );
}
