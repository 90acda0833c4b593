import { useState } from 'preact/hooks';
import { renderSVG } from 'uqr';
import { allOf, type Me, messageOf, type Row, text } from '../api.ts';
import { tokenFor } from '../browser-phone.ts';
import { useLoad } from '../hooks.ts';
import type { PageProps } from '../page-props.ts';
import { t } from '../text.ts';
import type { FieldSpec } from '../ui/editor.tsx';
import { Drawer } from '../ui/overlay.tsx';
import { Badge, CopyText, Facts, Head } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import type { Column } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

export const pictureOf = (told: string): string =>
  `data:image/svg+xml,${encodeURIComponent(renderSVG(told))}`;

const COLUMNS: readonly Column[] = [
  { title: t('User'), value: (row) => text(row['username']), sort: (row) => text(row['username']) },
  { title: t('Alias'), value: (row) => text(row['alias']), isMinor: true },
  {
    title: t('SIP address'),
    value: (row) => <CopyText value={text(row['sip_uri'])} />,
    isMinor: true,
  },
  {
    title: t('State'),
    value: (row) => {
      const isOn = text(row['sip_registered']) === 'true';
      return (
        <Badge tone={isOn ? 'good' : 'none'}>{isOn ? t('Registered') : t('Not registered')}</Badge>
      );
    },
    sort: (row) => text(row['sip_registered']),
  },
];

/** Fields of the form. `apps` are the applications of the account. */
const fieldsOf = (apps: readonly Row[]): readonly FieldSpec[] => [
  {
    name: 'username',
    label: t('Name'),
    hint: t('The service appends a number to make it unique'),
    required: true,
    isFixed: true,
  },
  { name: 'alias', label: t('Alias'), required: true },
  {
    name: 'password',
    label: t('Password'),
    kind: 'password',
    hint: t('The service never shows it again'),
  },
  {
    name: 'app_id',
    label: t('Application'),
    kind: 'select',
    options: [
      ['', t('Default of the account')],
      ...apps.map((one) => [text(one['app_id']), text(one['app_name'])] as const),
    ],
  },
];

/** SIP users of the account, with the set-up of their phones. */
export function Endpoints({ account, me }: PageProps) {
  const root = `/api/v1/Account/${account}`;
  const apps = useLoad(`${account} apps`, () => allOf(`${root}/Application/`));
  const [open, setOpen] = useState<Row>();
  return (
    <>
      <Head
        title={t('Endpoints')}
        about={t('SIP users: softphones, desk phones and the browser phone register with them.')}
      />
      <Resource
        title={t('Endpoints')}
        noun={t('endpoint')}
        path={`${root}/Endpoint/`}
        member="objects"
        search="username__contains"
        searchLabel={t('Part of the user')}
        idOf={(row) => text(row['endpoint_id'])}
        nameOf={(row) => text(row['username'])}
        deleteDetail={t('Its phone can no longer register, and its calls end.')}
        emptyTitle={t('No endpoints yet.')}
        emptyDetail={t(
          'Create an endpoint, then register a phone with its QR code or call from the browser.',
        )}
        created={(reply, body) => setOpen({ ...reply, password: body['password'] })}
        prepare={(body) => ({
          ...body,
          ...(typeof body['app_id'] === 'string' && { app_id: Number(body['app_id']) || null }),
        })}
        actionsOf={(row) => [
          {
            label: t('Open browser phone'),
            act: () => openPhone(account, text(row['username'])),
            need: 'change',
          },
          { label: t('Show phone setup'), act: () => setOpen(row) },
        ]}
        columns={COLUMNS}
        fields={fieldsOf(apps.value ?? [])}
      />
      <Drawer
        title={t('Phone setup of {name}', { name: text(open?.['username']) })}
        isOpen={open !== undefined}
        close={() => setOpen(undefined)}
      >
        <div class="body">{open && <SetUp made={open} me={me} />}</div>
      </Drawer>
    </>
  );
}

/** Opens a phone in a new tab with a one-hour token, so that the password of the endpoint is not needed. */
async function openPhone(account: string, username: string): Promise<void> {
  // Opened synchronously: browsers block windows that do not follow a user action directly.
  const tab = open('', '_blank');
  try {
    const asked = new URLSearchParams({
      token: await tokenFor(account, username, { incoming: true }),
    });
    if (tab !== null) tab.location.href = `/phone#${asked}`;
  } catch (error) {
    tab?.close();
    toast(messageOf(error), 'bad');
  }
}

/** Set-up data for softphones. The QR code contains address and password in the format of Linphone and others. */
function SetUp({ made, me }: { readonly made: Row; readonly me: Me }) {
  const [user, password] = [text(made['username']), text(made['password'])];
  const server = `${me.registrar}:${me.sip_port}`;
  const secret = password === '' ? '' : `:${password}`;
  const phones = [
    ['Linphone', t('Scan the code, or add a SIP account with this user, password and domain.')],
    ['Zoiper', t('Account name: {address}.', { address: `${user}@${server}` })],
    ['MicroSIP', t('SIP server and domain: {server}. Login: {user}.', { server, user })],
    ['baresip', `<sip:${user}@${server}>;auth_pass=…`],
  ] as const;
  return (
    <>
      <img
        class="qr"
        src={pictureOf(`sip:${user}${secret}@${server}`)}
        alt={t('SIP address of {user}', { user })}
      />
      {password === '' && (
        <p class="small muted">
          {t(
            'The code has no password, because the service does not store it as text. Enter it on the phone.',
          )}
        </p>
      )}
      <Facts
        of={[
          [t('User'), <CopyText key="user" value={user} />],
          [t('Domain'), <CopyText key="domain" value={server} />],
          [t('Transport'), 'UDP, TCP, TLS'],
          [t('SIP address'), <CopyText key="uri" value={`sip:${user}@${server}`} />],
        ]}
      />
      <h3>{t('Phones')}</h3>
      <Facts of={phones} />
    </>
  );
}
