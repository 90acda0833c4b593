import type { ComponentType } from 'preact';
import { call, get, rows, text } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { NotFound, Problem, State, Table } from '../parts.tsx';
import { Applications } from './applications.tsx';
import type { BuildProps } from './build-props.ts';
import { CallerIds } from './caller-ids.tsx';
import { Carriers } from './carriers.tsx';
import { Endpoints } from './endpoints.tsx';
import { Playground } from './playground.tsx';
import { Trunks } from './trunks.tsx';

const PARTS: ReadonlyArray<readonly [string, string, ComponentType<BuildProps>, boolean]> = [
  ['applications', 'Applications', Applications, false],
  ['xml', 'XML playground', Playground, false],
  ['endpoints', 'Endpoints', Endpoints, false],
  ['numbers', 'Numbers', Numbers, false],
  ['trunks', 'Trunks', Trunks, false],
  ['caller-ids', 'Caller IDs', CallerIds, false],
  ['carriers', 'Carriers', Carriers, true],
];

export function Build({ account, me, rest }: BuildProps & { readonly rest: readonly string[] }) {
  const parts = PARTS.filter(([, , , isStaffs]) => !isStaffs || me.account_id === null);
  const part = parts.find(([name]) => name === (rest[0] ?? 'applications'));
  if (part === undefined) return <NotFound />;
  const [, title, Part] = part;
  return (
    <>
      <h1>Build</h1>
      <nav aria-label="Parts">
        <ul>
          {parts.map(([name, shown]) => (
            <li key={name}>
              <a href={`#/build/${name}`} {...(shown === title && { 'aria-current': 'page' })}>
                {shown}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <h2>{title}</h2>
      <Part account={account} me={me} />
    </>
  );
}

function Numbers({ account }: BuildProps) {
  const root = `/api/v1/Account/${account}/numbers`;
  const { value, problem: unread, again } = useLoad(account, () => get(root));
  const apps = useLoad(`${account} apps`, () =>
    get(`/api/v1/Account/${account}/Application/?limit=100`),
  );
  const { problem, run } = useAction();
  const attach = (number: string, app: string) =>
    run(async () => {
      if (app === '' && !confirm(`Detach ${number}? Calls to it are then refused.`)) {
        again();
        return;
      }
      const path = `${root}/${encodeURIComponent(number)}/application`;
      await (app === '' ? call('DELETE', path) : call('POST', path, { application_id: app }));
      again();
    });
  return (
    <>
      <Problem text={unread ?? problem} />
      <Table
        name="Numbers"
        rows={value && rows(value['items'])}
        empty="No numbers yet. Buy or assign one first."
        columns={[
          { title: 'Number', value: (row) => text(row['e164']) },
          { title: 'Country', value: (row) => text(row['country']), isMinor: true },
          {
            title: 'Application',
            value: (row) => (
              <select
                aria-label={`Application of ${text(row['e164'])}`}
                value={text(row['application_id'])}
                disabled={!may('change')}
                onChange={({ currentTarget }) =>
                  void attach(text(row['e164']), currentTarget.value)
                }
              >
                <option value="">none</option>
                {rows(apps.value?.['objects']).map((one) => (
                  <option key={text(one['app_id'])} value={text(one['app_id'])}>
                    {text(one['app_name'])}
                  </option>
                ))}
              </select>
            ),
          },
          { title: 'Trunk', value: (row) => text(row['trunk_group_id']), isMinor: true },
          {
            title: 'State',
            value: (row) => <State good={row['status'] === 'active'}>{text(row['status'])}</State>,
          },
        ]}
      />
    </>
  );
}
