import { useState } from 'preact/hooks';
import { call, get, type Row, text } from '../api.ts';
import { count } from '../format.ts';
import { useAction, useFields, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
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
  const { fields, set } = useFields({ overlap_seconds: '86400', expires_in: '1800' });
  const { problem, fields: problems, isBusy, run } = useAction();
  const rotate = () =>
    run(async () => {
      const to = isStaff ? `/admin/v1/accounts/${account}/token` : `${path}/token`;
      setMade(await call('POST', to, { overlap_seconds: Number(fields.overlap_seconds) }));
      setOpen(undefined);
      found.again();
    });
  const create = () =>
    run(async () => {
      setMade(
        await call('POST', `${path}/access-token`, { expires_in: Number(fields.expires_in) }),
      );
      setOpen(undefined);
    });
  const token = text(made?.['auth_token'] ?? made?.['access_token']);
  return (
    <>
      <Head
        title={t('API credentials')}
        about={t(
          'Requests to the REST API send the auth ID and the auth token. The token also signs callbacks.',
        )}
      />
      <LoadProblem of={found} />
      {token !== '' && (
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
      )}
      <div class="columns">
        <Card
          title={t('Auth token')}
          actions={
            may('credentials') && (
              <button type="button" class="btn" onClick={() => setOpen('rotate')}>
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
                found.value === undefined ? (
                  '…'
                ) : found.value['last_used_at'] == null ? (
                  <span class="muted">{t('Never')}</span>
                ) : (
                  <Ago key="used" value={found.value['last_used_at']} />
                ),
              ],
              [t('Last address'), text(found.value?.['last_address'])],
              [t('Last client'), text(found.value?.['last_user_agent'])],
              [t('Requests'), count(found.value?.['requests'])],
            ]}
          />
          <p class="small muted">
            {t(
              'A new token does not interrupt clients: the previous one stays valid for the selected time.',
            )}
          </p>
        </Card>
        <Card
          title={t('Access token')}
          actions={
            may('credentials') && (
              <button type="button" class="btn" onClick={() => setOpen('access')}>
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
      </div>
      {may('change') && <PhoneTokens path={path} />}
      <Card title={t('First request')}>
        <Snippets request={{ method: 'GET', path: `${path}/` }} />
        <p class="small">
          <a href="/docs" target="_blank" rel="noreferrer">
            {t('Open API reference')}
          </a>
        </p>
      </Card>
      <FormDrawer
        title={t('Rotate token')}
        isOpen={open === 'rotate'}
        close={() => setOpen(undefined)}
        submit={t('Rotate token')}
        problem={problem}
        isBusy={isBusy}
        act={() => void rotate()}
      >
        <p>{t('The service creates a new token. Callbacks are signed with it immediately.')}</p>
        <Input
          label={t('Seconds for which the previous token stays valid')}
          value={fields.overlap_seconds}
          set={set('overlap_seconds')}
          problem={problems['overlap_seconds']}
          required
        />
      </FormDrawer>
      <FormDrawer
        title={t('Create access token')}
        isOpen={open === 'access'}
        close={() => setOpen(undefined)}
        submit={t('Create access token')}
        problem={problem}
        isBusy={isBusy}
        act={() => void create()}
      >
        <Input
          label={t('Lifetime in seconds')}
          hint={t('At most 86,400')}
          value={fields.expires_in}
          set={set('expires_in')}
          problem={problems['expires_in']}
          required
        />
      </FormDrawer>
    </>
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
