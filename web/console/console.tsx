/** The console: one page for the operator and customers. It uses the public REST API. */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { get, ME, type Me, SIGNED_OUT } from './api.ts';
import { RELOAD } from './hooks.ts';
import { SignIn, Welcome } from './pages/sign-in.tsx';
import { usePlace } from './place.ts';
import { Shell } from './shell.tsx';
import { Boundary } from './ui/boundary.tsx';
import { applyTheme } from './ui/preferences.tsx';

const RETRY_MS = 2000;

function App() {
  const { path } = usePlace();
  const [me, setMe] = useState<Me | null>();
  const [isOut, setOut] = useState(false);
  useEffect(() => {
    let isOver = false;
    const ask = (): void => {
      get<Me>(ME).then(setMe, (error: { readonly status?: number }) => {
        if (isOver) return;
        // Without an answer there is no decision about the session yet.
        if (error.status === undefined || error.status >= 500) setTimeout(ask, RETRY_MS);
        // A user who has signed in during the request stays signed in.
        else setMe((before) => before ?? null);
      });
    };
    ask();
    const ended = () => {
      setMe((before) => before ?? null);
      setOut(true);
    };
    addEventListener(SIGNED_OUT, ended);
    return () => {
      isOver = true;
      removeEventListener(SIGNED_OUT, ended);
    };
  }, []);
  const enter = (next: Me) => {
    setMe(next);
    setOut(false);
    dispatchEvent(new Event(RELOAD));
  };
  const [page, id] = path;
  if (page === 'welcome' && id !== undefined && !me) return <Welcome token={id} done={enter} />;
  if (me === undefined) return <div class="gate" aria-busy="true" />;
  if (me === null) return <SignIn done={enter} />;
  return (
    <>
      {/* The page stays as it is until the same user has signed in again. Another user gets a new one. */}
      <Shell key={me.user_id} me={me} left={() => setMe(null)} />
      {isOut && <SignIn done={enter} isOver />}
    </>
  );
}

/** Ignores a button whose request has no answer yet: a double click or Enter key would send it twice. */
const ignoreBusy = (event: MouseEvent): void => {
  if (!(event.target instanceof Element && event.target.closest('button[aria-busy=true]'))) return;
  event.preventDefault();
  event.stopImmediatePropagation();
};

addEventListener('click', ignoreBusy, true);
applyTheme();
const app = document.getElementById('app');
if (app !== null) {
  render(
    <Boundary at="">
      <App />
    </Boundary>,
    app,
  );
}
