import { useState } from 'preact/hooks';
import { call, get, ME, type Me, Refused, text } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { Input, onSubmit, Problem } from '../parts.tsx';

interface Props {
  readonly done: (me: Me) => void;
}

export function SignIn({ done }: Props) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState<string>();
  const { problem, run } = useAction();
  const signIn = () =>
    run(async () => {
      try {
        await call('POST', '/console/api/sign-in', { email, password, ...(code && { code }) });
      } catch (error) {
        if (error instanceof Refused && error.message === 'code needed') {
          setCode('');
          if (code === undefined) return;
          throw new Error('The code is wrong.');
        }
        throw error;
      }
      done(await get<Me>(ME));
    });
  return (
    <main class="narrow">
      <h1>Sign in</h1>
      <Problem text={problem} />
      <form onSubmit={onSubmit(() => void signIn())}>
        <Input
          label="E-mail"
          type="email"
          value={email}
          set={setEmail}
          required
          autocomplete="username"
        />
        <Input
          label="Password"
          type="password"
          value={password}
          set={setPassword}
          required
          autocomplete="current-password"
        />
        {code !== undefined && (
          <Input
            label="Code from your authenticator app"
            value={code}
            set={setCode}
            required
            autocomplete="one-time-code"
          />
        )}
        <button type="submit">Sign in</button>
      </form>
    </main>
  );
}

/** Page behind a single-use link to set a password. */
export function Welcome({ token, done }: Props & { readonly token: string }) {
  const { value, problem: unknown } = useLoad(token, () =>
    call('POST', '/console/api/invitation', { token }),
  );
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { problem, run } = useAction();
  const named = text(value?.['email']);
  const accept = () =>
    run(async () => {
      await call('POST', '/console/api/accept', { token, email: named || email, password });
      location.hash = '#/calls';
      done(await get<Me>(ME));
    });
  return (
    <main class="narrow">
      <h1>Welcome</h1>
      <Problem text={unknown ?? problem} />
      {unknown === undefined && (
        <form onSubmit={onSubmit(() => void accept())}>
          {named === '' ? (
            <Input
              label="E-mail"
              type="email"
              value={email}
              set={setEmail}
              required
              autocomplete="username"
            />
          ) : (
            <p>
              {named}, {text(value?.['role'])}
            </p>
          )}
          <Input
            label="Choose a password (10 characters or more)"
            type="password"
            value={password}
            set={setPassword}
            required
            autocomplete="new-password"
          />
          <button type="submit">Begin</button>
        </form>
      )}
    </main>
  );
}
