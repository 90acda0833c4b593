import { useState } from 'preact/hooks';
import { part, type Row, text } from '../api.ts';
import type { PageProps } from '../page-props.ts';
import { t } from '../text.ts';
import type { FieldSpec } from '../ui/editor.tsx';
import { At, Badge, CopyText, Head } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import type { Column } from '../ui/table.tsx';

const PERMISSIONS = [
  'calls',
  'conferences',
  'cdr',
  'recordings',
  'applications',
  'endpoints',
  'numbers',
  'trunks',
  'balance',
  'campaigns',
] as const;

const grantedOf = (row: Row): readonly string[] =>
  PERMISSIONS.filter((name) => part(row['permissions'])[name] !== false);

const COLUMNS: readonly Column[] = [
  { title: t('Name'), value: (row) => text(row['name']), sort: (row) => text(row['name']) },
  { title: t('Auth ID'), value: (row) => <CopyText value={text(row['auth_id'])} /> },
  {
    title: t('Permissions'),
    value: (row) =>
      grantedOf(row).length === PERMISSIONS.length ? t('All') : grantedOf(row).join(', '),
    isMinor: true,
  },
  {
    title: t('State'),
    value: (row) => (
      <Badge tone={row['enabled'] === true ? 'good' : 'none'}>
        {row['enabled'] === true ? t('Enabled') : t('Disabled')}
      </Badge>
    ),
  },
  { title: t('Created'), value: (row) => <At value={row['created']} />, isMinor: true },
];

const FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: t('Name'), required: true },
  { name: 'email', label: t('E-mail'), kind: 'email' },
  { name: 'description', label: t('Description'), kind: 'area' },
  { name: 'enabled', label: t('Enabled'), kind: 'flag', initial: 'true' },
  {
    name: 'granted',
    label: t('Permissions'),
    kind: 'list',
    hint: t('One per line: {names}. Empty on creation: all', {
      names: PERMISSIONS.join(', '),
    }),
  },
  {
    name: 'rate_limit',
    label: t('Requests per second'),
    kind: 'number',
    hint: t('Empty: the limit of the parent'),
  },
];

/** Sends the permissions as an object. A creation without permissions grants all. */
function prepare(body: Record<string, unknown>, row: Row | undefined): object {
  const chosen = body['granted'];
  const { granted: _, ...rest } = body;
  if (!Array.isArray(chosen)) return rest;
  const permissions = Object.fromEntries(PERMISSIONS.map((name) => [name, chosen.includes(name)]));
  return row === undefined && chosen.length === 0 ? rest : { ...rest, permissions };
}

export function SubAccounts({ account }: PageProps) {
  const [made, setMade] = useState<Row>();
  return (
    <>
      <Head
        title={t('Sub-accounts')}
        about={t('Separate credentials and resources that share the balance of this account.')}
      />
      {made !== undefined && <NewCredentials of={part(made['auth_credentials'])} />}
      <Resource
        title={t('Sub-accounts')}
        noun={t('sub-account')}
        path={`/api/v1/accounts/${account}/sub-accounts/`}
        member="sub_accounts"
        pages="size"
        editMethod="PUT"
        createNeed="credentials"
        idOf={(row) => text(row['auth_id'])}
        nameOf={(row) => text(row['name'])}
        deleteDetail={t('Its credentials stop working and its calls end.')}
        created={setMade}
        prepare={prepare}
        emptyTitle={t('No sub-accounts yet.')}
        emptyDetail={t('Create one for each team or customer that needs its own credentials.')}
        columns={COLUMNS}
        fields={FIELDS}
      />
    </>
  );
}

const NewCredentials = ({ of: credentials }: { readonly of: Row }) => (
  <div class="callout good" role="status">
    <strong>{t('Copy the token now. It is not shown again.')}</strong>
    <span>
      {t('Auth ID')} <CopyText value={text(credentials['auth_id'])} />
    </span>
    <span>
      {t('Auth token')} <CopyText value={text(credentials['auth_token'])} />
    </span>
  </div>
);
