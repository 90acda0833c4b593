/** The console: one page for the operator and customers. It uses the public REST API. */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, get, ME, type Me, rows, SIGNED_OUT, text } from './api.ts';
import { useLoad, usePlace } from './hooks.ts';
import { mayRead, signedInAs } from './may.ts';
import { Accounts } from './pages/accounts.tsx';
import { Build } from './pages/build.tsx';
import { CallPage } from './pages/call.tsx';
import { Calls } from './pages/calls.tsx';
import { Health } from './pages/health.tsx';
import { Money } from './pages/money.tsx';
import { People } from './pages/people.tsx';
import { SignIn, Welcome } from './pages/sign-in.tsx';
import { NotFound } from './parts.tsx';

const PAGES = [
  ['calls', 'Calls'],
  ['build', 'Build'],
  ['money', 'Money'],
  ['health', 'Health'],
  ['accounts', 'Accounts'],
  ['people', 'People'],
] as const;

/** Pages for operator staff only. */
const STAFFS: ReadonlySet<string> = new Set(['health', 'accounts']);

const KEPT_ACCOUNT = 'console.account';

function App() {
  const place = usePlace();
  const [me, setMe] = useState<Me | null>();
  useEffect(() => {
    // A user who has signed in during the request stays signed in.
    get<Me>(ME).then(setMe, () => setMe((before) => before ?? null));
    const left = () => setMe(null);
    addEventListener(SIGNED_OUT, left);
    return () => removeEventListener(SIGNED_OUT, left);
  }, []);
  const [wanted, id] = place;
  const start = me?.role === 'billing' ? 'money' : 'calls';
  // A used invitation leads to the start page.
  const page = wanted === undefined || (wanted === 'welcome' && me) ? start : wanted;
  if (page === 'welcome' && id !== undefined && !me) return <Welcome token={id} done={setMe} />;
  if (me === undefined) return <main class="narrow" aria-busy="true" />;
  if (me === null) return <SignIn done={setMe} />;
  return (
    <SignedIn
      me={me}
      page={page}
      rest={page === wanted ? place.slice(1) : []}
      left={() => setMe(null)}
    />
  );
}

interface SignedInProps {
  readonly me: Me;
  readonly page: string;
  readonly rest: readonly string[];
  readonly left: () => void;
}

function SignedIn({ me, page, rest, left }: SignedInProps) {
  signedInAs(me.role);
  const isStaff = me.account_id === null;
  const { value: accounts } = useLoad('accounts', async () =>
    isStaff ? rows((await get('/admin/v1/accounts?limit=100'))['accounts']) : [],
  );
  const [chosen, setChosen] = useState(localStorage.getItem(KEPT_ACCOUNT) ?? '');
  const isThere = accounts?.some((one) => one['auth_id'] === chosen);
  const account = me.account_id ?? (isThere ? chosen : text(accounts?.[0]?.['auth_id']));
  const choose = (next: string) => {
    localStorage.setItem(KEPT_ACCOUNT, next);
    setChosen(next);
  };
  const signOut = async () => {
    await call('POST', '/console/api/sign-out').catch(() => undefined);
    left();
  };
  useEffect(() => {
    const title = PAGES.find(([one]) => one === page)?.[1] ?? '';
    document.title = `${title} · ${me.platform}`;
  }, [page, me.platform]);
  return (
    <>
      <button
        type="button"
        class="skip"
        onClick={() => document.getElementById('content')?.focus()}
      >
        Skip to content
      </button>
      <header class="bar">
        <strong>{me.platform}</strong>
        <nav aria-label="Pages">
          {PAGES.filter(([one]) => (isStaff || !STAFFS.has(one)) && mayRead(one)).map(
            ([one, title]) => (
              <a key={one} href={`#/${one}`} {...(page === one && { 'aria-current': 'page' })}>
                {title}
              </a>
            ),
          )}
        </nav>
        {isStaff && (
          <select
            aria-label="Account"
            value={account}
            onChange={({ currentTarget }) => choose(currentTarget.value)}
          >
            {accounts?.map((one) => (
              <option key={text(one['auth_id'])} value={text(one['auth_id'])}>
                {text(one['name'])}
              </option>
            ))}
          </select>
        )}
        <button type="button" class="small secondary" onClick={() => void signOut()}>
          Sign out
        </button>
      </header>
      <main class="page" id="content" tabIndex={-1}>
        {account === '' ? (
          <p aria-busy="true" />
        ) : (
          <Page {...{ me, page, rest, account, isStaff }} />
        )}
      </main>
    </>
  );
}

function Page({
  me,
  page,
  rest,
  account,
  isStaff,
}: Omit<SignedInProps, 'left'> & { readonly account: string; readonly isStaff: boolean }) {
  const [id] = rest;
  if ((!isStaff && STAFFS.has(page)) || !mayRead(page)) return <NotFound />;
  switch (page) {
    case 'build':
      return <Build key={account} account={account} me={me} rest={rest} />;
    case 'money':
      return <Money key={account} account={account} isStaff={isStaff} />;
    case 'health':
      return <Health />;
    case 'accounts':
      return <Accounts />;
    case 'people':
      return <People me={me} />;
    case 'calls':
      return id === undefined ? (
        <Calls key={account} account={account} isStaff={isStaff} />
      ) : (
        <CallPage key={id} account={account} uuid={id} isStaff={isStaff} />
      );
    default:
      return <NotFound />;
  }
}

const app = document.getElementById('app');
if (app !== null) render(<App />, app);
