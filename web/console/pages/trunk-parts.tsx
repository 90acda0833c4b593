/** Parts of SIP trunks: destinations, credentials and allowed addresses. */
import { useState } from 'preact/hooks';
import { call, get, type Row, rows, text } from '../api.ts';
import { type Loaded, useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { type Column, Input, onSubmit, Problem, removeColumn, Table } from '../parts.tsx';

interface PartField {
  readonly name: string;
  readonly label: string;
  readonly type?: 'password';
  readonly wider?: boolean;
}

interface PartKind {
  /** Last segment of the API path. */
  readonly path: string;
  readonly title: string;
  readonly empty: string;
  readonly nameOf: (row: Row) => string;
  readonly columns: readonly Column[];
  readonly fields: readonly PartField[];
}

export const ORIGINATION_URIS: PartKind = {
  path: 'origination-uris',
  title: 'Destinations',
  empty: 'No destinations yet. Add one below.',
  nameOf: (row) => text(row['name']),
  columns: [
    { title: 'Name', value: (row) => text(row['name']) },
    { title: 'SIP address', value: (row) => text(row['sip_uri']) },
  ],
  fields: [
    { name: 'name', label: 'Name of the destination' },
    { name: 'sip_uri', label: 'SIP address', wider: true },
  ],
};

/** Credentials. The service never returns the password, so the list does not show it. */
export const CREDENTIALS: PartKind = {
  path: 'credentials',
  title: 'Credentials',
  empty: 'No credentials yet. Add some below.',
  nameOf: (row) => text(row['username']),
  columns: [
    { title: 'User', value: (row) => text(row['username']) },
    { title: 'Realm', value: (row) => text(row['realm']) },
  ],
  fields: [
    { name: 'username', label: 'User' },
    { name: 'password', label: 'Password', type: 'password' },
  ],
};

export const IP_ACLS: PartKind = {
  path: 'ip-acl',
  title: 'Addresses',
  empty: 'No allowed addresses yet. Add one below.',
  nameOf: (row) => text(row['ip_address']),
  columns: [
    { title: 'Address or range', value: (row) => text(row['ip_address']) },
    { title: 'Description', value: (row) => text(row['description']) },
  ],
  fields: [
    { name: 'ip_address', label: 'Address or range' },
    { name: 'description', label: 'Description of the address' },
  ],
};

const pathOf = (account: string, { path }: PartKind): string =>
  `/api/v1/Account/${account}/${path}`;

export const useParts = (account: string, kind: PartKind): Loaded<Row> =>
  useLoad(`${account} ${kind.path}`, () => get(`${pathOf(account, kind)}?limit=100`));

/** Parts of a kind as options of the trunk form. */
export const choicesOf = (
  { value }: Loaded<Row>,
  kind: PartKind,
): ReadonlyArray<readonly [string, string]> => [
  ['', 'none'],
  ...rows(value?.['objects']).map((one) => [text(one['id']), kind.nameOf(one)] as const),
];

interface PartsProps {
  readonly account: string;
  readonly kind: PartKind;
  readonly loaded: Loaded<Row>;
}

/** List of the parts of one kind, with a form to add one. */
export function Parts({ account, kind, loaded: { value, problem: unread, again } }: PartsProps) {
  const path = pathOf(account, kind);
  const [made, setMade] = useState<Readonly<Record<string, string>>>({});
  const { problem, run } = useAction();
  const make = () =>
    run(async () => {
      const given = Object.entries(made).filter(([, entered]) => entered !== '');
      await call('POST', path, Object.fromEntries(given));
      setMade({});
      again();
    });
  const remove = (row: Row) => run(() => call('DELETE', `${path}/${text(row['id'])}`).then(again));
  return (
    <section aria-label={`${kind.title} of trunks`}>
      <h3>{kind.title}</h3>
      <Problem text={unread ?? problem} />
      <Table
        name={kind.title}
        rows={value && rows(value['objects'])}
        empty={kind.empty}
        columns={[...kind.columns, removeColumn(kind.nameOf, remove)]}
      />
      {may('change') && (
        <form class="row" onSubmit={onSubmit(() => void make())}>
          {kind.fields.map(({ name, ...shown }, at) => (
            <Input
              key={name}
              {...shown}
              value={made[name] ?? ''}
              set={(entered) => setMade({ ...made, [name]: entered })}
              required={at === 0 || name === 'sip_uri' || name === 'password'}
              {...(shown.type === 'password' && { autocomplete: 'new-password' })}
            />
          ))}
          <button type="submit">Add</button>
        </form>
      )}
    </section>
  );
}
