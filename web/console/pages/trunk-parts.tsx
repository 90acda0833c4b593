/** Parts of SIP trunks: destinations, credentials and allowed addresses. */
import { type Row, text } from '../api.ts';
import { t } from '../text.ts';
import type { FieldSpec } from '../ui/editor.tsx';
import { Resource } from '../ui/resource.tsx';
import type { Column } from '../ui/table.tsx';

export interface PartKind {
  /** Last segment of the API path. */
  readonly path: string;
  readonly title: string;
  readonly noun: string;
  readonly empty: string;
  readonly nameOf: (row: Row) => string;
  readonly columns: readonly Column[];
  readonly fields: readonly FieldSpec[];
}

export const ORIGINATION_URIS: PartKind = {
  path: 'origination-uris',
  title: t('Destinations'),
  noun: t('destination'),
  empty: t('No destinations yet.'),
  nameOf: (row) => text(row['name']),
  columns: [
    { title: t('Name'), value: (row) => text(row['name']), sort: (row) => text(row['name']) },
    { title: t('SIP address'), value: (row) => <code>{text(row['sip_uri'])}</code> },
    { title: t('Priority'), value: (row) => text(row['priority']), isNumber: true, isMinor: true },
  ],
  fields: [
    { name: 'name', label: t('Name'), required: true },
    { name: 'sip_uri', label: t('SIP address'), required: true },
    { name: 'priority', label: t('Priority'), kind: 'number' },
    { name: 'weight', label: t('Weight'), kind: 'number' },
  ],
};

/** Credentials. The service never returns the password, so the list does not show it. */
export const CREDENTIALS: PartKind = {
  path: 'credentials',
  title: t('Credentials'),
  noun: t('credential'),
  empty: t('No credentials yet.'),
  nameOf: (row) => text(row['username']),
  columns: [
    {
      title: t('User'),
      value: (row) => text(row['username']),
      sort: (row) => text(row['username']),
    },
    { title: t('Realm'), value: (row) => text(row['realm']) },
  ],
  fields: [
    { name: 'username', label: t('User'), required: true },
    {
      name: 'new_password',
      label: t('Password'),
      kind: 'password',
      hint: t('The service never shows it again'),
    },
  ],
};

export const IP_ACLS: PartKind = {
  path: 'ip-acl',
  title: t('Allowed addresses'),
  noun: t('address'),
  empty: t('No allowed addresses yet.'),
  nameOf: (row) => text(row['ip_address']),
  columns: [
    { title: t('Address or range'), value: (row) => <code>{text(row['ip_address'])}</code> },
    { title: t('Description'), value: (row) => text(row['description']) },
  ],
  fields: [
    { name: 'ip_address', label: t('Address or range'), required: true },
    { name: 'description', label: t('Description') },
  ],
};

interface Props {
  readonly account: string;
  readonly kind: PartKind;
}

/** List of the parts of one kind. */
export const TrunkPart = ({ account, kind }: Props) => (
  <Resource
    key={kind.path}
    title={kind.title}
    noun={kind.noun}
    path={`/api/v1/Account/${account}/${kind.path}`}
    member="objects"
    editMethod="PUT"
    idOf={(row) => text(row['id'])}
    nameOf={kind.nameOf}
    deleteDetail={t('No trunk may use it.')}
    emptyTitle={kind.empty}
    columns={kind.columns}
    fields={kind.fields}
    prepare={({ new_password: password, ...body }) => ({
      ...body,
      ...(password !== undefined && { password }),
    })}
  />
);
