import { useState } from 'preact/hooks';
import { call, get, type Row, rows, text } from '../api.ts';
import { tokenFor } from '../browser-phone.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { Input, onSubmit, Problem, removeColumn, Select, State, Table } from '../parts.tsx';
import type { BuildProps } from './build-props.ts';
import { pictureOf } from './people.tsx';

export function Endpoints({ account, me }: BuildProps) {
  const path = `/api/v1/Account/${account}/Endpoint/`;
  const { value, problem: unread, again } = useLoad(account, () => get(`${path}?limit=100`));
  const apps = useLoad(`${account} apps`, () =>
    get(`/api/v1/Account/${account}/Application/?limit=100`),
  );
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [app, setApp] = useState('');
  const [made, setMade] = useState<Row>();
  const { problem, run } = useAction();
  const make = () =>
    run(async () => {
      const created = await call('POST', path, {
        username,
        password,
        alias: username,
        ...(app !== '' && { app_id: Number(app) }),
      });
      setMade({ ...created, password });
      setPassword('');
      again();
    });
  const choices = rows(apps.value?.['objects']).map(
    (one) => [text(one['app_id']), text(one['app_name'])] as const,
  );
  return (
    <>
      <Problem text={unread ?? problem} />
      <Table
        name="Endpoints"
        rows={value && rows(value['objects'])}
        empty="No endpoints yet. Create one below."
        columns={[
          { title: 'User', value: (row) => text(row['username']) },
          { title: 'Alias', value: (row) => text(row['alias']), isMinor: true },
          { title: 'Address', value: (row) => text(row['sip_uri']), isMinor: true },
          {
            title: 'State',
            value: (row) => (
              <State good={text(row['sip_registered']) === 'true' || undefined}>
                {text(row['sip_registered']) === 'true' ? 'registered' : 'away'}
              </State>
            ),
          },
          {
            title: 'Phone',
            value: (row) => (
              <button
                type="button"
                class="small secondary"
                disabled={!may('change')}
                onClick={() => void run(() => openPhone(account, text(row['username'])))}
              >
                Open browser phone
              </button>
            ),
          },
          removeColumn(
            (row) => text(row['username']),
            (row) => run(() => call('DELETE', `${path}${text(row['endpoint_id'])}/`).then(again)),
          ),
        ]}
      />
      {may('change') && <h3>New endpoint</h3>}
      {may('change') && (
        <form class="row" onSubmit={onSubmit(() => void make())}>
          <Input label="Name" value={username} set={setUsername} required />
          <Input
            label="Password"
            type="password"
            value={password}
            set={setPassword}
            required
            autocomplete="new-password"
          />
          <Select
            label="Application"
            value={app}
            set={setApp}
            options={[['', "the account's default"], ...choices]}
          />
          <button type="submit">Create</button>
        </form>
      )}
      {made && <SetUp made={made} me={me} />}
    </>
  );
}

/** Opens a phone in a new tab with a one-hour token, so that the password of the endpoint is not needed. */
async function openPhone(account: string, username: string): Promise<void> {
  // Opened synchronously: browsers block windows that do not follow a user action directly.
  const tab = open('', '_blank');
  const token = await tokenFor(account, username, { incoming: true }).catch((error: unknown) => {
    tab?.close();
    throw error;
  });
  const asked = new URLSearchParams({ token });
  if (tab !== null) tab.location.href = `/phone#${asked}`;
}

/** Set-up data for softphones. The QR code contains address and password in the format of Linphone and others. */
function SetUp({ made, me }: { readonly made: Row; readonly me: BuildProps['me'] }) {
  const [user, password] = [text(made['username']), text(made['password'])];
  const server = `${me.registrar}:${me.sip_port}`;
  const lines = [
    [
      'Linphone',
      `Username ${user}, password as chosen, domain ${server}, transport UDP, TCP or TLS`,
    ],
    ['Zoiper', `Account ${user}@${server}, password as chosen`],
    ['MicroSIP', `SIP server and domain ${server}, username and login ${user}, password as chosen`],
    ['baresip', `<sip:${user}@${server}>;auth_pass=…`],
  ] as const;
  return (
    <section aria-label="How to set up a phone">
      <h3>Set up a phone for {user}</h3>
      <img
        class="qr"
        src={pictureOf(`sip:${user}:${password}@${server}`)}
        alt={`SIP address of ${user} with its password`}
      />
      <dl>
        {lines.map(([name, told]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{told}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
