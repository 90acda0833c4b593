import { Dialog } from '@ariakit/react';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { call, get, ME, type Me, Refused, text } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { go } from '../place.ts';
import { t } from '../text.ts';
import { Connection } from '../ui/connection.tsx';
import { Input, onSubmit } from '../ui/form.tsx';
import { Problem, Skeleton } from '../ui/parts.tsx';

interface Props {
  readonly done: (me: Me) => void;
}

interface GateProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Whether it covers a page, which stays as it is. */
  readonly isOver?: boolean;
}

const stay = (event: Event): void => event.preventDefault();

const Gate = ({ title, children, isOver = false }: GateProps) =>
  isOver ? (
    <Dialog open onClose={stay} backdrop={false} class="gate over" aria-label={title}>
      <div class="pane">
        <h1>{title}</h1>
        {children}
      </div>
    </Dialog>
  ) : (
    <>
      <Connection />
      <div class="gate">
        <main class="pane">
          <h1>{title}</h1>
          {children}
        </main>
      </div>
    </>
  );

/** Sign-in form. The URL stays, so that the same page opens after the sign-in. */
export function SignIn({ done, isOver = false }: Props & { readonly isOver?: boolean }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState<string>();
  const { problem, isBusy, run } = useAction();
  const signIn = () =>
    run(async () => {
      try {
        await call('POST', '/console/api/sign-in', { email, password, ...(code && { code }) });
      } catch (error) {
        if (error instanceof Refused && error.message === 'code needed') {
          setCode('');
          if (code === undefined) return;
          throw new Error(t('The code is wrong.'));
        }
        throw error;
      }
      done(await get<Me>(ME));
    });
  return (
    <Gate title={t('Sign in')} isOver={isOver}>
      <Problem text={problem} />
      <form onSubmit={onSubmit(() => void signIn())}>
        <Input
          label={t('E-mail')}
          type="email"
          value={email}
          set={setEmail}
          required
          autocomplete="username"
        />
        <Input
          label={t('Password')}
          type="password"
          value={password}
          set={setPassword}
          required
          autocomplete="current-password"
        />
        {code !== undefined && (
          <Input
            label={t('Code from your authenticator app')}
            value={code}
            set={setCode}
            required
            autocomplete="one-time-code"
          />
        )}
        <button type="submit" class="btn primary" aria-busy={isBusy}>
          {t('Sign in')}
        </button>
      </form>
    </Gate>
  );
}

/** Rules for new passwords. */
export const passwordHint = (minimum: unknown): string =>
  t('{n} characters or more, and not easy to guess', { n: text(minimum) });

/** Page behind a single-use link to set a password. */
export function Welcome({ token, done }: Props & { readonly token: string }) {
  const { value, problem: unknown } = useLoad(token, () =>
    call('POST', '/console/api/invitation', { token }),
  );
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { problem, fields, isBusy, run } = useAction();
  const named = text(value?.['email']);
  const accept = () =>
    run(async () => {
      await call('POST', '/console/api/accept', { token, email: named || email, password });
      const me = await get<Me>(ME);
      go('#/');
      done(me);
    });
  return (
    <Gate title={t('Welcome')}>
      <Problem text={unknown ?? (fields['password'] === undefined ? problem : undefined)} />
      {value === undefined && unknown === undefined && <Skeleton lines={3} />}
      {value !== undefined && (
        <form onSubmit={onSubmit(() => void accept())}>
          {named === '' ? (
            <Input
              label={t('E-mail')}
              type="email"
              value={email}
              set={setEmail}
              required
              autocomplete="username"
            />
          ) : (
            <p>{t('{email}, role {role}', { email: named, role: text(value?.['role']) })}</p>
          )}
          <Input
            label={t('Choose a password')}
            hint={passwordHint(value['password_min_length'])}
            problem={fields['password']}
            type="password"
            value={password}
            set={setPassword}
            required
            autocomplete="new-password"
          />
          <button type="submit" class="btn primary" aria-busy={isBusy}>
            {t('Create user')}
          </button>
        </form>
      )}
    </Gate>
  );
}
