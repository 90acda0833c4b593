import { useState } from 'preact/hooks';
import { call, get, type Row, text } from '../api.ts';
import { count } from '../format.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { typedNumber } from '../typed-number.ts';
import { Input, onSubmit } from '../ui/form.tsx';
import { confirmed, FormDrawer } from '../ui/overlay.tsx';
import { Ago, Card, CopyText, Facts, Head, LoadProblem, Problem } from '../ui/parts.tsx';
import { Snippets } from '../ui/snippets.tsx';
import { toast } from '../ui/toast.tsx';

/** Auth ID, auth token and access tokens of the account. */
export function Credentials({ account, isStaff }: PageProps) {
  const path = `/api/v1/Account/${account}`;
  const found = useLoad(account, () => get(`${path}/credentials-use`));
  const [open, setOpen] = useState<'rotate' | 'access'>();
  const [made, setMade] = useState<Row>();
  const close = () => setOpen(undefined);
  return (
    <>
      <Head
        title={t('API credentials')}
        about={t(
          'Requests to the REST API send the auth ID and the auth token. The token also signs callbacks.',
        )}
      />
      <LoadProblem of={found} />
      <NewToken made={made} />
      <div class="columns">
        <AuthToken account={account} use={found.value} rotate={() => setOpen('rotate')} />
        <AccessToken create={() => setOpen('access')} />
      </div>
      {may('change') && <PhoneTokens path={path} />}
      <FirstRequest path={path} />
      <TokenForm
        title={t('Rotate token')}
        about={t('The service creates a new token. Callbacks are signed with it immediately.')}
        path={isStaff ? `/admin/v1/accounts/${account}/token` : `${path}/token`}
        field="overlap_seconds"
        label={t('Seconds for which the previous token stays valid')}
        initial="86400"
        isOpen={open === 'rotate'}
        close={close}
        created={(next) => {
          setMade(next);
          found.again();
        }}
      />
      <TokenForm
        title={t('Create access token')}
        path={`${path}/access-token`}
        field="expires_in"
        label={t('Lifetime in seconds')}
        hint={t('At most 86,400')}
        initial="1800"
        isOpen={open === 'access'}
        close={close}
        created={setMade}
      />
    </>
  );
}

/** The new token, which the service shows only once. */
function NewToken({ made }: { readonly made: Row | undefined }) {
  const token = text(made?.['auth_token'] ?? made?.['access_token']);
  if (token === '') return null;
  return (
    <div class="callout good" role="status">
      <strong>{t('Copy the token now. It is not shown again.')}</strong>
      <CopyText value={token} />
      {made?.['overlap_seconds'] !== undefined && (
        <span>
          {t('The previous token stays valid for {n} seconds.', {
            n: count(made['overlap_seconds']),
          })}
        </span>
      )}
    </div>
  );
}

interface AuthTokenProps {
  readonly account: string;
  /** Use of the token; undefined while loading. */
  readonly use: Row | undefined;
  readonly rotate: () => void;
}

const AuthToken = ({ account, use, rotate }: AuthTokenProps) => (
  <Card
    title={t('Auth token')}
    actions={
      may('credentials') && (
        <button type="button" class="btn" onClick={rotate}>
          {t('Rotate token')}
        </button>
      )
    }
  >
    <Facts
      of={[
        [t('Auth ID'), <CopyText key="id" value={account} />],
        [t('Auth token'), <code key="token">••••••••••••••••</code>],
        [
          t('Last use'),
          use === undefined ? (
            '…'
          ) : use['last_used_at'] == null ? (
            <span class="muted">{t('Never')}</span>
          ) : (
            <Ago key="used" value={use['last_used_at']} />
          ),
        ],
        [t('Last address'), text(use?.['last_address'])],
        [t('Last client'), text(use?.['last_user_agent'])],
        [t('Requests'), count(use?.['requests'])],
      ]}
    />
    <p class="small muted">
      {t(
        'A new token does not interrupt clients: the previous one stays valid for the selected time.',
      )}
    </p>
  </Card>
);

const AccessToken = ({ create }: { readonly create: () => void }) => (
  <Card
    title={t('Access token')}
    actions={
      may('credentials') && (
        <button type="button" class="btn" onClick={create}>
          {t('Create access token')}
        </button>
      )
    }
  >
    <p>
      {t(
        'A short-lived token that may only read. Send it as Bearer, for example from a dashboard.',
      )}
    </p>
    <p class="small">
      {t('For separate credentials per team or customer, create sub-accounts.')}{' '}
      <a href={href('sub-accounts')}>{t('Show sub-accounts')}</a>
    </p>
  </Card>
);

const FirstRequest = ({ path }: { readonly path: string }) => (
  <Card title={t('First request')}>
    <Snippets request={{ method: 'GET', path: `${path}/` }} />
    <p class="small">
      <a href="/docs" target="_blank" rel="noreferrer">
        {t('Open API reference')}
      </a>
    </p>
  </Card>
);

interface TokenFormProps {
  /** Title of the form and label of its button. */
  readonly title: string;
  readonly about?: string;
  /** Path of the request that creates the token. */
  readonly path: string;
  /** Field of the request with a number of seconds. */
  readonly field: string;
  readonly label: string;
  readonly hint?: string;
  readonly initial: string;
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly created: (made: Row) => void;
}

/** Form that creates a token with a time in seconds. */
function TokenForm(props: TokenFormProps) {
  const { title, about, path, field, close } = props;
  const [seconds, setSeconds] = useState(props.initial);
  const { problem, fields: problems, isBusy, run } = useAction();
  const create = () =>
    run(async () => {
      props.created(await call('POST', path, { [field]: typedNumber(seconds) }));
      close();
    });
  return (
    <FormDrawer
      title={title}
      isOpen={props.isOpen}
      close={close}
      submit={title}
      problem={problem}
      isBusy={isBusy}
      act={() => void create()}
    >
      {about !== undefined && <p>{about}</p>}
      <Input
        label={props.label}
        hint={props.hint}
        value={seconds}
        set={setSeconds}
        problem={problems[field]}
        required
      />
    </FormDrawer>
  );
}

/** Returns the ID (`jti`) of a JSON Web Token, or the text itself if it is not a token. */
function idOf(entered: string): string {
  try {
    const [, body = ''] = entered.split('.');
    const read = JSON.parse(atob(body.replaceAll('-', '+').replaceAll('_', '/'))) as Row;
    return text(read['jti']) || entered;
  } catch {
    return entered;
  }
}

/** Revokes the token of a phone in a web page, for example after it was published by mistake. */
function PhoneTokens({ path }: { readonly path: string }) {
  const [entered, setEntered] = useState('');
  const { problem, fields, isBusy, run } = useAction();
  const revoke = async () => {
    const id = idOf(entered.trim());
    const isSure = await confirmed({
      title: t('Revoke token {id}?', { id }),
      detail: t('Phones that use the token are signed out, and it cannot be used again.'),
      action: t('Revoke token'),
    });
    if (!isSure) return;
    const isDone = await run(() => call('DELETE', `${path}/JWT/Token/${encodeURIComponent(id)}/`));
    if (!isDone) return;
    setEntered('');
    toast(t('The token is revoked.'));
  };
  return (
    <Card title={t('Tokens of browser phones')}>
      <p>
        {t(
          'A token lets a phone in a web page sign in as one endpoint, for at most one day. Revoke a token that others may know.',
        )}
      </p>
      <form class="filters" onSubmit={onSubmit(() => void revoke())}>
        <Input
          label={t('Token or its ID (jti)')}
          value={entered}
          set={setEntered}
          problem={fields['jti']}
          required
          wider
        />
        <button type="submit" class="btn danger" aria-busy={isBusy}>
          {t('Revoke token')}
        </button>
      </form>
      <Problem text={fields['jti'] === undefined ? problem : undefined} />
    </Card>
  );
}
