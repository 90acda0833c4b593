/** What SIP trunks are put together from: where calls go, how the peer signs in, from where it may come. */
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
  /** Last step of its address. */
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
  empty: 'The account has no destination.',
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

/** The password is asked for here and shown nowhere: the service never tells it. */
export const CREDENTIALS: PartKind = {
  path: 'credentials',
  title: 'Credentials',
  empty: 'The account has no credentials.',
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
  empty: 'The account lets no address in.',
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

/** The parts of a kind as choices of a trunk's form. */
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

/** Parts of one kind: those there are, and a form for another. */
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
