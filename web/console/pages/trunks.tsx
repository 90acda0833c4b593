import { useState } from 'preact/hooks';
import { allOf, call, get, part, type Row, text } from '../api.ts';
import { words } from '../format.ts';
import { useLoad } from '../hooks.ts';
import type { PageProps } from '../page-props.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { Editor, type FieldSpec } from '../ui/editor.tsx';
import { type Options, optionsOf } from '../ui/form.tsx';
import { Badge, CopyText, Head, Tabs } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import type { Column } from '../ui/table.tsx';
import {
  CREDENTIALS,
  IP_ACLS,
  ORIGINATION_URIS,
  type PartKind,
  TrunkPart,
} from './trunk-parts.tsx';

const VIEWS = [
  ['trunks', t('Trunks')],
  ['destinations', t('Destinations')],
  ['credentials', t('Credentials')],
  ['addresses', t('Allowed addresses')],
] as const;

/** Trunks of the account and their parts. */
export function Trunks({ account, isStaff }: PageProps) {
  const { fields, setAll } = useQuery({ view: 'trunks', page: '1', q: '' });
  return (
    <>
      <Head title={t('Trunks')} about={t('SIP connections of the account to PBXs and carriers.')} />
      <Tabs
        tabs={VIEWS}
        chosen={fields.view}
        choose={(view) => setAll({ view, page: '1', q: '' })}
      />
      {fields.view === 'destinations' ? (
        <TrunkPart account={account} kind={ORIGINATION_URIS} />
      ) : fields.view === 'credentials' ? (
        <TrunkPart account={account} kind={CREDENTIALS} />
      ) : fields.view === 'addresses' ? (
        <TrunkPart account={account} kind={IP_ACLS} />
      ) : (
        <TrunkList account={account} isStaff={isStaff} />
      )}
    </>
  );
}

const useParts = (account: string, kind: PartKind): Options => {
  const { value = [] } = useLoad(`${account} ${kind.path}`, () =>
    allOf(`/api/v1/Account/${account}/${kind.path}`),
  );
  return [['', t('None')], ...value.map((one) => [text(one['id']), kind.nameOf(one)] as const)];
};

const stateOf = (row: Row) => (
  <Badge tone={row['trunk_status'] === 'enabled' ? 'good' : 'none'}>
    {words(row['trunk_status'])}
  </Badge>
);

const COLUMNS: readonly Column[] = [
  { title: t('Name'), value: (row) => text(row['name']), sort: (row) => text(row['name']) },
  {
    title: t('Direction'),
    value: (row) => words(row['trunk_direction']),
    sort: (row) => text(row['trunk_direction']),
    isMinor: true,
  },
  { title: t('Domain'), value: (row) => <CopyText value={text(row['trunk_domain'])} /> },
  {
    title: t('Transport'),
    value: (row) => `${text(row['transport'])}${row['secure'] === true ? ' + SRTP' : ''}`,
    isMinor: true,
  },
  { title: t('State'), value: stateOf, sort: (row) => text(row['trunk_status']) },
];

const CONNECTION: readonly FieldSpec[] = [
  { name: 'name', label: t('Name'), required: true },
  {
    name: 'trunk_direction',
    label: t('Direction'),
    kind: 'select',
    initial: 'inbound',
    options: optionsOf(['inbound', 'outbound', 'both']),
  },
  {
    name: 'trunk_status',
    label: t('State'),
    kind: 'select',
    initial: 'enabled',
    options: optionsOf(['enabled', 'disabled']),
  },
  {
    name: 'transport',
    label: t('Transport'),
    kind: 'select',
    initial: 'udp',
    options: optionsOf(['udp', 'tcp', 'tls']),
  },
  { name: 'secure', label: t('Encrypted audio (SRTP)'), kind: 'flag', initial: 'false' },
  { name: 'recording', label: t('Record calls'), kind: 'flag', initial: 'false' },
];

const LIMITS: readonly FieldSpec[] = [
  {
    name: 'concurrent_calls_limit',
    label: t('Concurrent calls'),
    kind: 'number',
    group: t('Limits'),
  },
  { name: 'cps_limit', label: t('Calls per second'), kind: 'number' },
  { name: 'webhook_url', label: t('Callback URL'), kind: 'url', isNullable: true },
  { name: 'description', label: t('Description'), kind: 'area' },
];

/** Fields that select the parts of a trunk. */
function usePartFields(account: string): readonly FieldSpec[] {
  const uris = useParts(account, ORIGINATION_URIS);
  const credentials = useParts(account, CREDENTIALS);
  const acls = useParts(account, IP_ACLS);
  return [
    {
      name: 'primary_uri_uuid',
      label: t('Primary destination'),
      kind: 'select',
      options: uris,
      isNullable: true,
      group: t('Parts'),
    },
    {
      name: 'fallback_uri_uuid',
      label: t('Fallback destination'),
      kind: 'select',
      options: uris,
      isNullable: true,
    },
    {
      name: 'credential_uuid',
      label: t('Credentials of the peer'),
      kind: 'select',
      options: credentials,
      isNullable: true,
    },
    {
      name: 'ipacl_uuid',
      label: t('Allowed addresses'),
      kind: 'select',
      options: acls,
      isNullable: true,
    },
  ];
}

interface ListProps {
  readonly account: string;
  readonly isStaff: boolean;
}

function TrunkList({ account, isStaff }: ListProps) {
  const [policy, setPolicy] = useState<Row>();
  const policyOf = (row: Row) =>
    `/admin/v1/accounts/${account}/trunks/${encodeURIComponent(text(row['trunk_id']))}`;
  const partFields = usePartFields(account);
  return (
    <Resource
      title={t('Trunks')}
      noun={t('trunk')}
      path={`/api/v1/Account/${account}/trunks`}
      member="objects"
      editMethod="PUT"
      idOf={(row) => text(row['trunk_id'])}
      nameOf={(row) => text(row['name'])}
      deleteDetail={t('No number may be assigned to it.')}
      actionsOf={(row) => [
        {
          label: t('Edit trunk policy'),
          act: async () => {
            const found = await get(policyOf(row));
            // The form shows header fields as lines.
            setPolicy({ ...found, add_headers: linesOf(found['add_headers']) });
          },
          isShown: isStaff,
          need: 'money',
        },
      ]}
      emptyTitle={t('No trunks yet.')}
      emptyDetail={t(
        'A trunk needs a destination for inbound calls, and credentials or allowed addresses for outbound calls.',
      )}
      columns={COLUMNS}
      fields={[...CONNECTION, ...partFields, ...LIMITS]}
    >
      <Editor
        isOpen={policy !== undefined}
        close={() => setPolicy(undefined)}
        row={policy}
        noun={t('trunk policy')}
        fields={POLICY}
        request={() => ({ method: 'PATCH', path: policyOf(policy ?? {}) })}
        prepare={({ add_headers: lines, ...body }) => ({
          ...body,
          ...(Array.isArray(lines) && { add_headers: headersOf(lines.map(text)) }),
        })}
        save={(body, row) => call('PATCH', policyOf(row ?? {}), body)}
        done={() => undefined}
      />
    </Resource>
  );
}

const linesOf = (headers: unknown): readonly string[] =>
  Object.entries(part(headers)).map(([name, value]) => `${name}: ${text(value)}`);

/** A line without a colon stays a name without a value, which the service refuses. */
const headersOf = (lines: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.trim(), value.join(':').trim()];
    }),
  );

const CHOICE = ['', t('Default of the service')] as const;

/** What the service sends to the peer of a trunk and accepts from it. */
const POLICY: readonly FieldSpec[] = [
  {
    name: 'egress_allow',
    label: t('Private destinations'),
    kind: 'list',
    hint: t('Private addresses, ranges or host names that destinations of the trunk may use'),
  },
  {
    name: 'identity',
    label: t('Caller identities from the peer'),
    kind: 'select',
    isNullable: true,
    options: [CHOICE, ['trusted', t('Trust')], ['untrusted', t('Do not trust')]],
    group: t('Caller identity'),
  },
  {
    name: 'identity_header',
    label: t('Header fields with the identity'),
    kind: 'select',
    isNullable: true,
    options: [
      CHOICE,
      ['pai', 'P-Asserted-Identity'],
      ['rpid', 'Remote-Party-ID'],
      ['both', t('Both')],
    ],
  },
  {
    name: 'pass_headers',
    label: t('Header fields to pass on'),
    kind: 'list',
    hint: t('Names of an inbound call, one per line; X-* for all of them'),
    group: t('Header fields'),
  },
  {
    name: 'add_headers',
    label: t('Header fields to add'),
    kind: 'list',
    hint: t('One per line, for example X-Site: berlin'),
  },
  {
    name: 'remove_headers',
    label: t('Header fields to remove'),
    kind: 'list',
    hint: t('Names, one per line'),
  },
  {
    name: 'large_over_tcp',
    label: t('Send an INVITE above 1,300 bytes over TCP'),
    kind: 'flag',
    group: 'SIP',
  },
  { name: 'delayed_offer', label: t('Send INVITE without SDP'), kind: 'flag' },
  { name: 'refer', label: t('Send REFER to the peer'), kind: 'flag' },
];
