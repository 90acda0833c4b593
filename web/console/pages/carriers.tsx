import { useState } from 'preact/hooks';
import { get, type Row, rows, text } from '../api.ts';
import { money } from '../format.ts';
import { useAction } from '../hooks.ts';
import type { PageProps } from '../page-props.ts';
import { t } from '../text.ts';
import { enabledColumn, textColumn } from '../ui/columns.tsx';
import type { FieldSpec, Values } from '../ui/editor.tsx';
import { Input, onSubmit, optionsOf } from '../ui/form.tsx';
import { Badge, Card, Head, Problem } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import { type Column, Table } from '../ui/table.tsx';

function Health({ row }: { readonly row: Row }) {
  const { up, registered } = row;
  return (
    <span class="row">
      {typeof up === 'boolean' ? (
        <Badge tone={up ? 'good' : 'bad'}>{up ? t('Up') : t('Down')}</Badge>
      ) : (
        <Badge>{t('Not probed')}</Badge>
      )}
      {typeof registered === 'boolean' && (
        <Badge tone={registered ? 'good' : 'bad'}>
          {registered ? t('Registered') : t('Not registered')}
        </Badge>
      )}
    </span>
  );
}

const COLUMNS: readonly Column[] = [
  textColumn(t('Name'), 'name'),
  {
    title: t('Host'),
    value: (row) => (
      <code>
        {`${text(row['host'])}${row['port'] ? `:${text(row['port'])}` : ''}`}{' '}
        {text(row['transport'])}
      </code>
    ),
  },
  {
    title: t('Prefixes'),
    value: (row) => [row['prefixes']].flat().map(text).join(', ') || t('All'),
    isMinor: true,
  },
  {
    title: t('Priority'),
    value: (row) => text(row['priority']),
    sort: (row) => Number(row['priority']),
    isNumber: true,
    isMinor: true,
  },
  textColumn(t('Health'), 'up', { value: (row) => <Health row={row} /> }),
  enabledColumn(),
];

const hasUser = (values: Values): boolean => (values['auth.username'] ?? '') !== '';

const FIELDS: readonly FieldSpec[] = [
  {
    name: 'name',
    label: t('Name'),
    hint: t('Letters, digits, dots and hyphens'),
    required: true,
    isFixed: true,
  },
  { name: 'host', label: t('Host'), required: true },
  {
    name: 'port',
    label: t('Port'),
    kind: 'number',
    hint: t('Empty: found by DNS (NAPTR and SRV)'),
  },
  {
    name: 'transport',
    label: t('Transport'),
    kind: 'select',
    initial: 'udp',
    options: optionsOf(['udp', 'tcp', 'tls']),
  },
  { name: 'secure', label: t('Require SRTP'), kind: 'flag', initial: 'false' },
  { name: 'enabled', label: t('Enabled'), kind: 'flag', initial: 'true' },
  {
    name: 'auth.username',
    label: t('User'),
    group: t('Authentication'),
    hint: t('Empty: authentication by address'),
  },
  {
    name: 'auth.password',
    label: t('Password'),
    kind: 'password',
    when: hasUser,
  },
  {
    name: 'auth.register',
    label: t('Register with the carrier'),
    kind: 'flag',
    initial: 'false',
    when: hasUser,
  },
  {
    name: 'source_addresses',
    label: t('Source addresses'),
    kind: 'list',
    hint: t('Addresses or ranges of its inbound calls, one per line'),
  },
  {
    name: 'prefixes',
    label: t('Prefixes'),
    kind: 'list',
    group: t('Routing'),
    hint: t('Digits, one per line. Empty: all numbers'),
  },
  {
    name: 'priority',
    label: t('Priority'),
    kind: 'number',
    hint: t('Lower numbers are tried first'),
  },
  { name: 'strip', label: t('Digits to remove'), kind: 'number' },
  { name: 'prepend', label: t('Digits to add') },
  { name: 'cps_limit', label: t('Calls per second'), kind: 'number', group: t('Limits') },
  { name: 'concurrent_calls_limit', label: t('Concurrent calls'), kind: 'number' },
];

export const Carriers = ({ account }: PageProps) => (
  <>
    <Head
      title={t('Carriers')}
      about={t(
        'SIP gateways to the telephone network. The service selects one by prefix, priority and cost.',
      )}
    />
    <Resource
      title={t('Carriers')}
      noun={t('carrier')}
      path="/admin/v1/carriers"
      member="carriers"
      pages="none"
      editMethod="PATCH"
      idOf={(row) => text(row['name'])}
      nameOf={(row) => text(row['name'])}
      deleteDetail={t('Calls no longer use it. Running calls continue.')}
      emptyTitle={t('No carriers yet.')}
      emptyDetail={t(
        'Calls can reach endpoints and SIP addresses. Add a carrier to reach phone numbers.',
      )}
      createLabel={t('Add carrier')}
      columns={COLUMNS}
      fields={FIELDS}
      prepare={withWholeAuth}
    />
    <RouteTest account={account} />
  </>
);

/** The service replaces authentication as a whole; an unchanged user is sent with a new password. */
function withWholeAuth(body: Record<string, unknown>, row: Row | undefined): object {
  const auth = body['auth'] as Row | undefined;
  if (auth === undefined) return body;
  const before = (row?.['auth'] ?? {}) as Row;
  const username = text(auth['username'] ?? before['username']);
  if (username === '') return { ...body, auth: row === undefined ? undefined : null };
  return {
    ...body,
    auth: { register: before['register'] ?? false, ...auth, username },
  };
}

function RouteTest({ account }: { readonly account: string }) {
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [found, setFound] = useState<Row>();
  const { problem, fields, isBusy, run } = useAction();
  const test = () =>
    run(async () =>
      setFound(
        await get(`/admin/v1/routes?${new URLSearchParams({ account_id: account, from, to })}`),
      ),
    );
  return (
    <Card title={t('Route test')}>
      <p class="small muted">
        {t('Shows the carriers for a call of the selected account, without placing the call.')}
      </p>
      <Problem text={problem} />
      <form class="filters" onSubmit={onSubmit(() => void test())}>
        <Input label={t('From')} value={from} set={setFrom} problem={fields['from']} required />
        <Input label={t('To')} value={to} set={setTo} problem={fields['to']} required />
        <button type="submit" class="btn" aria-busy={isBusy}>
          {t('Test route')}
        </button>
      </form>
      {found && (
        <>
          <p role="status">
            {text(found['to'])} {text(found['country'])} ·{' '}
            {t('{price} per minute', { price: money(found['per_minute'], found['currency']) })}
            {found['refusal'] !== null && (
              <>
                {' '}
                <Badge tone="bad">{text(found['refusal'])}</Badge>
              </>
            )}
          </p>
          <Table
            name={t('Carriers for this call')}
            rows={rows(found['carriers'])}
            keyOf={(row) => text(row['carrier'])}
            empty={t('No carrier.')}
            columns={[
              { title: t('Rank'), value: (row) => text(row['rank']) || '—', isNumber: true },
              { title: t('Carrier'), value: (row) => text(row['carrier']) },
              { title: t('Number'), value: (row) => <code>{text(row['number'])}</code> },
              { title: t('Reason'), value: (row) => text(row['why']) },
            ]}
          />
        </>
      )}
    </Card>
  );
}
