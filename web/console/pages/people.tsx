import { useState } from 'preact/hooks';
import { renderSVG } from 'uqr';
import { call, get, type Me, type Row, rows, text } from '../api.ts';
import { type Loaded, useAction, useLoad } from '../hooks.ts';
import { At, Input, onSubmit, Problem, removeColumn, Select, Table } from '../parts.tsx';

export const pictureOf = (told: string): string =>
  `data:image/svg+xml,${encodeURIComponent(renderSVG(told))}`;

export function People({ me }: { readonly me: Me }) {
  return (
    <>
      <h1>People</h1>
      <Self me={me} />
      {me.role === 'owner' && <Users me={me} />}
      <Audit />
    </>
  );
}

function Self({ me }: { readonly me: Me }) {
  const sessions = useLoad('sessions', () => get('/console/api/sessions'));
  const [old, setOld] = useState('');
  const [password, setPassword] = useState('');
  const [done, setDone] = useState('');
  const { problem, run } = useAction();
  const change = () =>
    run(async () => {
      await call('POST', '/console/api/password', { old, password });
      setOld('');
      setPassword('');
      setDone('Password changed. You are signed out on other devices.');
      sessions.again();
    });
  return (
    <>
      <p>
        {me.email}, {me.role}
      </p>
      <Problem text={problem} />
      <p role="status">{done}</p>
      <form class="row" onSubmit={onSubmit(() => void change())}>
        <Input
          label="Old password"
          type="password"
          value={old}
          set={setOld}
          required
          autocomplete="current-password"
        />
        <Input
          label="New password"
          type="password"
          value={password}
          set={setPassword}
          required
          autocomplete="new-password"
        />
        <button type="submit">Change</button>
      </form>
      <Totp me={me} />
      <h2>Sessions</h2>
      <Table
        name="Sessions"
        rows={sessions.value && rows(sessions.value['sessions'])}
        empty=""
        columns={[
          { title: 'Last active', value: (row) => <At value={row['seen_at']} /> },
          {
            title: 'From',
            value: (row) => `${text(row['address'])}${row['current'] ? ' (here)' : ''}`,
          },
          { title: 'Browser', value: (row) => text(row['user_agent']), isMinor: true },
        ]}
      />
      <button
        type="button"
        class="small"
        onClick={() =>
          confirm('Sign out all other browsers?') &&
          void run(() => call('DELETE', '/console/api/sessions').then(sessions.again))
        }
      >
        Sign out other sessions
      </button>
    </>
  );
}

function Totp({ me }: { readonly me: Me }) {
  const [isOn, setOn] = useState(me.has_totp);
  const [made, setMade] = useState<Row>();
  const [code, setCode] = useState('');
  const [password, setPassword] = useState('');
  const { problem, run } = useAction();
  const begin = () => run(async () => setMade(await call('POST', '/console/api/totp')));
  const confirmCode = () =>
    run(async () => {
      const secret = text(made?.['secret']);
      await call('PUT', '/console/api/totp', { secret, code, password });
      setMade(undefined);
      setCode('');
      setPassword('');
      setOn(true);
    });
  const remove = () =>
    run(async () => {
      if (!confirm('Disable the second factor? Signing in then requires only the password.'))
        return;
      await call('DELETE', '/console/api/totp', { password });
      setPassword('');
      setOn(false);
    });
  return (
    <>
      <h2>Second factor</h2>
      <Problem text={problem} />
      {isOn && (
        <form class="row" onSubmit={onSubmit(() => void remove())}>
          <Input
            label="Password"
            type="password"
            value={password}
            set={setPassword}
            required
            autocomplete="current-password"
          />
          <button type="submit">Disable second factor</button>
        </form>
      )}
      {!isOn && made === undefined && (
        <button type="button" class="small" onClick={() => void begin()}>
          Set up authenticator app
        </button>
      )}
      {made !== undefined && (
        <form onSubmit={onSubmit(() => void confirmCode())}>
          <img
            class="qr"
            src={pictureOf(text(made['uri']))}
            alt={`Secret for the app: ${text(made['secret'])}`}
          />
          <p>{text(made['secret'])}</p>
          <Input
            label="Code from the app"
            value={code}
            set={setCode}
            required
            autocomplete="one-time-code"
          />
          <Input
            label="Your password"
            type="password"
            value={password}
            set={setPassword}
            required
            autocomplete="current-password"
          />
          <button type="submit">Confirm</button>
        </form>
      )}
    </>
  );
}

function Users({ me }: { readonly me: Me }) {
  const users = useLoad('users', () => get('/console/api/users'));
  const invitations = useLoad('invitations', () => get('/console/api/invitations'));
  const [email, setEmail] = useState('');
  const [role, setRole] = useState('viewer');
  const [account, setAccount] = useState('');
  const [link, setLink] = useState('');
  const { problem, run } = useAction();
  const isStaff = me.account_id === null;
  const roles = [
    'owner',
    isStaff && account === '' ? 'operator' : 'developer',
    'viewer',
    'billing',
  ];
  const removal = removeColumn(
    (row) => `the user ${text(row['email'])}`,
    (row) =>
      run(() => call('DELETE', `/console/api/users/${text(row['user_id'])}`).then(users.again)),
  );
  const invite = () =>
    run(async () => {
      const made = await call('POST', '/console/api/users', {
        email,
        role,
        ...(account !== '' && { account_id: account }),
      });
      setLink(text(made['link']));
      invitations.again();
    });
  return (
    <>
      <h2>Users</h2>
      <Problem text={problem ?? users.problem} />
      <Table
        name="Users"
        rows={users.value && rows(users.value['users'])}
        empty=""
        columns={[
          { title: 'E-mail', value: (row) => text(row['email']) },
          { title: 'Role', value: (row) => text(row['role']) },
          { title: 'Account', value: (row) => text(row['account_id']) || 'staff', isMinor: true },
          { title: 'Code', value: (row) => (row['has_totp'] ? 'yes' : 'no'), isMinor: true },
          {
            title: 'Remove',
            value: (row) => row['user_id'] !== me.user_id && removal.value(row),
          },
        ]}
      />
      <form class="row" onSubmit={onSubmit(() => void invite())}>
        <Input label="E-mail" type="email" value={email} set={setEmail} required />
        <Select
          label="Role"
          value={role}
          set={setRole}
          options={roles.map((one) => [one, one] as const)}
        />
        {isStaff && <Input label="Account (empty: staff)" value={account} set={setAccount} />}
        <button type="submit">Invite</button>
      </form>
      <p role="status">
        {link !== '' && (
          <>
            Send this single-use link: <code>{link}</code>
          </>
        )}
      </p>
      <Invitations of={invitations} />
    </>
  );
}

const invitedIn = (row: Row): string => text(row['email']) || 'anyone with the link';

/** Pending invitations. Their links are not shown again; a lost link needs a new invitation. */
function Invitations({ of: { value, problem: unread, again } }: { readonly of: Loaded<Row> }) {
  const { problem, run } = useAction();
  const revoke = (row: Row) =>
    run(() =>
      call('DELETE', `/console/api/invitations/${text(row['invitation_id'])}`).finally(again),
    );
  return (
    <>
      <h3>Pending invitations</h3>
      <Problem text={unread ?? problem} />
      <Table
        name="Invitations"
        rows={value && rows(value['invitations'])}
        empty="No pending invitations."
        columns={[
          { title: 'For', value: invitedIn },
          { title: 'Role', value: (row) => text(row['role']) },
          { title: 'Account', value: (row) => text(row['account_id']) || 'staff', isMinor: true },
          { title: 'Since', value: (row) => <At value={row['invited_at']} />, isMinor: true },
          { title: 'Until', value: (row) => <At value={row['expires_at']} /> },
          removeColumn((row) => `the invitation of ${invitedIn(row)}`, revoke),
        ]}
      />
    </>
  );
}

function Audit() {
  const [offset, setOffset] = useState(0);
  const { value, problem } = useLoad(String(offset), () =>
    get(`/console/api/audit?limit=25&offset=${offset}`),
  );
  const total = Number(value?.['total'] ?? 0);
  return (
    <>
      <h2>Audit log</h2>
      <Problem text={problem} />
      <Table
        name="Audit log"
        rows={value && rows(value['entries'])}
        empty="No changes yet."
        columns={[
          { title: 'When', value: (row) => <At value={row['at']} /> },
          { title: 'User', value: (row) => text(row['who']) },
          { title: 'Change', value: (row) => text(row['what']) },
          { title: 'Details', value: (row) => text(row['detail']) },
          { title: 'Address', value: (row) => text(row['address']), isMinor: true },
          {
            title: 'Request',
            value: (row) => `${text(row['method'])} ${text(row['path'])}`,
            isMinor: true,
          },
          { title: 'Status', value: (row) => text(row['status']), isNumber: true },
        ]}
      />
      <div class="row">
        <button
          type="button"
          class="small"
          disabled={offset === 0}
          onClick={() => setOffset(Math.max(0, offset - 25))}
        >
          Newer
        </button>
        <button
          type="button"
          class="small"
          disabled={offset + 25 >= total}
          onClick={() => setOffset(offset + 25)}
        >
          Older
        </button>
      </div>
    </>
  );
}
