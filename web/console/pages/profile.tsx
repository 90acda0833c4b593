import { useState } from 'preact/hooks';
import { call, get, ME, type Me, type Row, text } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import type { PageProps } from '../page-props.ts';
import { t } from '../text.ts';
import { Input, onSubmit } from '../ui/form.tsx';
import { confirmed } from '../ui/overlay.tsx';
import { Badge, Card, CopyText, Head, Problem } from '../ui/parts.tsx';
import { toast } from '../ui/toast.tsx';
import { pictureOf } from './endpoints.tsx';
import { Sessions } from './sessions.tsx';
import { passwordHint } from './sign-in.tsx';

/** The signed-in user: password, second factor and sessions. */
export const Profile = ({ me }: PageProps) => (
  <>
    <Head
      title={t('Profile')}
      about={t('{email}, role {role}', { email: me.email, role: me.role })}
    />
    <div class="columns">
      <Password me={me} />
      <Totp me={me} />
    </div>
    <OwnSessions />
  </>
);

function Password({ me }: { readonly me: Me }) {
  const [old, setOld] = useState('');
  const [password, setPassword] = useState('');
  const { problem, fields, isBusy, run } = useAction();
  const change = () =>
    run(async () => {
      await call('POST', '/console/api/password', { old, password });
      setOld('');
      setPassword('');
      toast(t('Password changed. You are signed out on other devices.'));
    });
  return (
    <Card title={t('Password')}>
      <Problem text={problem} />
      <form class="form" onSubmit={onSubmit(() => void change())}>
        <Input
          label={t('Old password')}
          type="password"
          value={old}
          set={setOld}
          problem={fields['old']}
          required
          autocomplete="current-password"
        />
        <Input
          label={t('New password')}
          hint={passwordHint(me.password_min_length)}
          type="password"
          value={password}
          set={setPassword}
          problem={fields['password']}
          required
          autocomplete="new-password"
        />
        <div>
          <button type="submit" class="btn primary" aria-busy={isBusy}>
            {t('Change password')}
          </button>
        </div>
      </form>
    </Card>
  );
}

/** State of the second factor, and the requests that change it. */
function useTotp(me: Me) {
  // The state at the sign-in may have changed since.
  const found = useLoad('me', () => get<Me>(ME));
  const isOn = (found.value ?? me).has_totp;
  const [made, setMade] = useState<Row>();
  const [code, setCode] = useState('');
  const [password, setPassword] = useState('');
  const { problem, run } = useAction();
  const begin = () => run(async () => setMade(await call('POST', '/console/api/totp')));
  const confirmCode = () =>
    run(async () => {
      const secret = text(made?.['secret']);
      await call('PUT', '/console/api/totp', { secret, code, password });
      setMade(undefined);
      setCode('');
      setPassword('');
      found.again();
    });
  const remove = () =>
    run(async () => {
      const isSure = await confirmed({
        title: t('Disable the second factor?'),
        detail: t('Signing in then requires only the password.'),
        action: t('Disable'),
      });
      if (!isSure) return;
      await call('DELETE', '/console/api/totp', { password });
      setPassword('');
      found.again();
    });
  return { isOn, made, code, setCode, password, setPassword, problem, begin, confirmCode, remove };
}

function Totp({ me }: { readonly me: Me }) {
  const { isOn, made, code, setCode, password, setPassword, problem, ...acts } = useTotp(me);
  return (
    <Card title={t('Second factor')}>
      <Problem text={problem} />
      <p>
        <Badge tone={isOn ? 'good' : 'fair'}>{isOn ? t('Enabled') : t('Disabled')}</Badge>
      </p>
      {isOn && (
        <form class="form" onSubmit={onSubmit(() => void acts.remove())}>
          <CurrentPassword label={t('Password')} value={password} set={setPassword} />
          <div>
            <button type="submit" class="btn">
              {t('Disable second factor')}
            </button>
          </div>
        </form>
      )}
      {!isOn && made === undefined && (
        <div>
          <button type="button" class="btn" onClick={() => void acts.begin()}>
            {t('Set up authenticator app')}
          </button>
        </div>
      )}
      {made !== undefined && (
        <TotpSetup
          {...{ made, code, setCode, password, setPassword }}
          confirmCode={() => void acts.confirmCode()}
        />
      )}
    </Card>
  );
}

interface CurrentPasswordProps {
  readonly label: string;
  readonly value: string;
  readonly set: (password: string) => void;
}

const CurrentPassword = ({ label, value, set }: CurrentPasswordProps) => (
  <Input
    label={label}
    type="password"
    value={value}
    set={set}
    required
    autocomplete="current-password"
  />
);

interface SetupProps {
  /** The new secret and its URI. */
  readonly made: Row;
  readonly code: string;
  readonly setCode: (code: string) => void;
  readonly password: string;
  readonly setPassword: (password: string) => void;
  readonly confirmCode: () => void;
}

/** Shows the secret for the authenticator app and asks for its first code. */
const TotpSetup = ({ made, code, setCode, password, setPassword, confirmCode }: SetupProps) => (
  <form class="form" onSubmit={onSubmit(confirmCode)}>
    <img
      class="qr"
      src={pictureOf(text(made['uri']))}
      alt={t('Secret for the app: {secret}', { secret: text(made['secret']) })}
    />
    <CopyText value={text(made['secret'])} />
    <Input
      label={t('Code from the app')}
      value={code}
      set={setCode}
      required
      autocomplete="one-time-code"
    />
    <CurrentPassword label={t('Your password')} value={password} set={setPassword} />
    <div>
      <button type="submit" class="btn primary">
        {t('Confirm')}
      </button>
    </div>
  </form>
);

function OwnSessions() {
  const [round, setRound] = useState(0);
  const { problem, run } = useAction();
  const end = async () => {
    const isSure = await confirmed({
      title: t('Sign out all other browsers?'),
      action: t('Sign out other sessions'),
    });
    if (!isSure) return;
    await run(() => call('DELETE', '/console/api/sessions'));
    setRound(round + 1);
  };
  return (
    <Card
      title={t('Sessions')}
      flush
      actions={
        <button type="button" class="btn" onClick={() => void end()}>
          {t('Sign out other sessions')}
        </button>
      }
    >
      <Problem text={problem} />
      <Sessions key={round} path="/console/api/sessions" />
    </Card>
  );
}
