import { useState } from 'preact/hooks';
import { call, get, type Row, rows, text } from '../api.ts';
import { type Loaded, useAction, useFields, useLoad } from '../hooks.ts';
import type { PageProps } from '../page-props.ts';
import { t } from '../text.ts';
import { Input, optionsOf, Select } from '../ui/form.tsx';
import { Actions, confirmed, Drawer, FormDrawer } from '../ui/overlay.tsx';
import { At, Badge, Card, CopyText, Head, LoadProblem, Problem } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { Sessions } from './sessions.tsx';

const accountOf = (row: Row): string => text(row['account_id']) || t('Operator staff');
const invitedOf = (row: Row): string => text(row['email']) || t('Anyone with the link');

/** Users of the console and pending invitations. */
export function People({ me, isStaff }: PageProps) {
  const users = useLoad('users', () => get('/console/api/users'));
  const invitations = useLoad('invitations', () => get('/console/api/invitations'));
  const [link, setLink] = useState('');
  const { problem, run } = useAction();
  return (
    <>
      <Head title={t('People')} about={t('Users of the console, their roles and invitations.')}>
        <Invite
          isStaff={isStaff}
          done={(made) => {
            setLink(text(made['link']));
            invitations.again();
          }}
        />
      </Head>
      <Problem text={problem} />
      <LoadProblem of={users} />
      {link !== '' && (
        <div class="callout good" role="status">
          <strong>{t('Send this single-use link:')}</strong>
          <CopyText value={link} />
        </div>
      )}
      <Users of={users} run={run} own={me.user_id} />
      <Invitations of={invitations} run={run} />
    </>
  );
}

interface ListProps {
  readonly of: Loaded<Row>;
  /** Runs an action of the list and shows its error on the page. */
  readonly run: ReturnType<typeof useAction>['run'];
}

interface UsersProps extends ListProps {
  /** ID of the signed-in user. */
  readonly own: string;
}

function Users({ of: users, run, own }: UsersProps) {
  const [sessionsOf, setSessionsOf] = useState<Row>();
  const remove = async (row: Row) => {
    const isSure = await confirmed({
      title: t('Delete {name}?', { name: text(row['email']) }),
      detail: t('The sessions of the user end.'),
      action: t('Delete user'),
    });
    if (!isSure) return;
    await run(() => call('DELETE', userPath(row)));
    users.again();
  };
  const changeRole = (row: Row, role: string) =>
    run(async () => {
      await call('PATCH', userPath(row), { role });
      toast(t('The role is changed.'));
    }).then(users.again);
  return (
    <>
      <Card title={t('Users')} flush>
        <Table
          name={t('Users')}
          rows={users.value && rows(users.value['users'])}
          problem={users.problem}
          keyOf={(row) => text(row['user_id'])}
          empty={t('No users.')}
          columns={userColumns({ own, changeRole, remove, showSessions: setSessionsOf })}
        />
      </Card>
      <Drawer
        title={t('Sessions of {name}', { name: text(sessionsOf?.['email']) })}
        isOpen={sessionsOf !== undefined}
        close={() => setSessionsOf(undefined)}
        isWide
      >
        <div class="body">
          {sessionsOf && <Sessions path={`${userPath(sessionsOf)}/sessions`} />}
        </div>
      </Drawer>
    </>
  );
}

const userPath = (row: Row): string => `/console/api/users/${text(row['user_id'])}`;

interface UserActs {
  /** ID of the signed-in user, who cannot change their own role. */
  readonly own: string;
  readonly changeRole: (row: Row, role: string) => Promise<void>;
  readonly remove: (row: Row) => Promise<void>;
  readonly showSessions: (row: Row) => void;
}

const userColumns = ({ own, changeRole, remove, showSessions }: UserActs): readonly Column[] => [
  {
    title: t('E-mail'),
    value: (row) => text(row['email']),
    sort: (row) => text(row['email']),
  },
  {
    title: t('Role'),
    value: (row) =>
      row['user_id'] === own ? (
        text(row['role'])
      ) : (
        <RoleChoice row={row} set={(role) => void changeRole(row, role)} />
      ),
    sort: (row) => text(row['role']),
  },
  { title: t('Account'), value: accountOf, sort: accountOf, isMinor: true },
  {
    title: t('Second factor'),
    value: (row) => (
      <Badge tone={row['has_totp'] === true ? 'good' : 'fair'}>
        {row['has_totp'] === true ? t('Enabled') : t('Disabled')}
      </Badge>
    ),
    isMinor: true,
  },
  {
    title: t('Actions'),
    isActions: true,
    value: (row) =>
      row['user_id'] !== own && (
        <Actions
          name={text(row['email'])}
          of={[
            { label: t('Show sessions'), act: () => showSessions(row) },
            { label: t('Delete user'), act: () => remove(row), isDanger: true },
          ]}
        />
      ),
  },
];

/** Roles of operator staff or of the users of an account. */
const rolesOf = (isOperator: boolean) =>
  optionsOf(['owner', isOperator ? 'operator' : 'developer', 'viewer', 'billing']);

interface RoleProps {
  readonly row: Row;
  readonly set: (role: string) => void;
}

const RoleChoice = ({ row, set }: RoleProps) => (
  <select
    class="input"
    aria-label={t('Role of {name}', { name: text(row['email']) })}
    value={text(row['role'])}
    onChange={({ currentTarget }) => set(currentTarget.value)}
  >
    {rolesOf(row['account_id'] == null).map(([one]) => (
      <option key={one}>{one}</option>
    ))}
  </select>
);

function Invitations({ of: invitations, run }: ListProps) {
  const revoke = async (row: Row) => {
    const isSure = await confirmed({
      title: t('Revoke the invitation of {name}?', { name: invitedOf(row) }),
      detail: t('Its link no longer works.'),
      action: t('Revoke invitation'),
    });
    if (!isSure) return;
    await run(() => call('DELETE', `/console/api/invitations/${text(row['invitation_id'])}`));
    invitations.again();
  };
  return (
    <Card title={t('Pending invitations')} flush>
      <LoadProblem of={invitations} />
      <Table
        name={t('Invitations')}
        rows={invitations.value && rows(invitations.value['invitations'])}
        problem={invitations.problem}
        keyOf={(row) => text(row['invitation_id'])}
        empty={t('No pending invitations.')}
        columns={invitationColumns(revoke)}
      />
    </Card>
  );
}

const invitationColumns = (revoke: (row: Row) => Promise<void>): readonly Column[] => [
  { title: t('For'), value: invitedOf },
  { title: t('Role'), value: (row) => text(row['role']) },
  { title: t('Account'), value: accountOf, isMinor: true },
  { title: t('Created'), value: (row) => <At value={row['invited_at']} />, isMinor: true },
  { title: t('Expires'), value: (row) => <At value={row['expires_at']} /> },
  {
    title: t('Actions'),
    isActions: true,
    value: (row) => (
      <Actions
        name={invitedOf(row)}
        of={[{ label: t('Revoke invitation'), act: () => revoke(row), isDanger: true }]}
      />
    ),
  },
];

interface InviteProps {
  readonly isStaff: boolean;
  readonly done: (made: Row) => void;
}

function Invite({ isStaff, done }: InviteProps) {
  const [isOpen, setOpen] = useState(false);
  const { fields, setFields, set } = useFields({ email: '', role: 'viewer', account: '' });
  const { problem, fields: problems, isBusy, run } = useAction();
  const roles = rolesOf(isStaff && fields.account === '');
  const invite = () =>
    run(async () => {
      const { email, role, account } = fields;
      const body = { email, role, ...(account !== '' && { account_id: account }) };
      done(await call('POST', '/console/api/users', body));
      setFields({ email: '', role: 'viewer', account: '' });
      setOpen(false);
    });
  return (
    <>
      <button type="button" class="btn primary" onClick={() => setOpen(true)}>
        {t('Invite user')}
      </button>
      <FormDrawer
        title={t('Invite user')}
        isOpen={isOpen}
        close={() => setOpen(false)}
        submit={t('Create invitation')}
        problem={problem}
        isBusy={isBusy}
        act={() => void invite()}
      >
        <Input
          label={t('E-mail')}
          type="email"
          value={fields.email}
          set={set('email')}
          problem={problems['email']}
          required
        />
        <Select label={t('Role')} value={fields.role} set={set('role')} options={roles} />
        {isStaff && (
          <Input
            label={t('Account')}
            hint={t('Auth ID of the account. Empty: operator staff')}
            value={fields.account}
            set={set('account')}
            problem={problems['account_id']}
          />
        )}
      </FormDrawer>
    </>
  );
}
