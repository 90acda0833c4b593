/** Frame of all pages: sidebar, account switcher, breadcrumbs, command palette, and the page of the URL. */
import { BellDot, Menu as MenuIcon, Search } from 'lucide';
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { accountsOf, get, LOST, type Me, messageOf, type Row, rows, text } from './api.ts';
import { type Loaded as LoadedData, RELOAD, useLoad, useSettled } from './hooks.ts';
import { mayRead, signedInAs } from './may.ts';
import type { PageProps } from './page-props.ts';
import { MOVED, PAGES, type PageInfo } from './pages.ts';
import { href, linkTo, type Place, usePlace } from './place.ts';
import { Sidebar } from './sidebar.tsx';
import { t } from './text.ts';
import { Boundary } from './ui/boundary.tsx';
import { Connection } from './ui/connection.tsx';
import { Icon } from './ui/icon.tsx';
import { Confirmation } from './ui/overlay.tsx';
import { Palette } from './ui/palette.tsx';
import { Empty, NotFound, Problem, Skeleton } from './ui/parts.tsx';
import { ZONE_CHANGED } from './ui/preferences.tsx';
import { Toasts } from './ui/toast.tsx';

const KEPT_ACCOUNT = 'console.account';
const ACCOUNTS_MAX = 1000;

const isPermitted = ({ path, isStaffs }: PageInfo, isStaff: boolean): boolean =>
  (isStaff || isStaffs !== true) && (path === 'profile' || mayRead(path));

interface Props {
  readonly me: Me;
  readonly left: () => void;
}

/** The account of the page: of the user, of the URL, or the last one. Loads the accounts to choose from. */
function useAccount(me: Me, place: Place) {
  const isStaff = me.account_id === null;
  const accounts = useLoad('accounts', () =>
    isStaff ? accountsOf(ACCOUNTS_MAX) : Promise.resolve([]),
  );
  const kept = localStorage.getItem(KEPT_ACCOUNT) ?? '';
  const isThere =
    kept !== '' &&
    ((accounts.value?.length ?? 0) >= ACCOUNTS_MAX ||
      accounts.value?.some((one) => one['auth_id'] === kept));
  const first = isThere ? kept : text(accounts.value?.[0]?.['auth_id']);
  const account = me.account_id ?? (place.account || first);
  useEffect(() => {
    if (isStaff && account !== '') localStorage.setItem(KEPT_ACCOUNT, account);
  }, [account, isStaff]);
  return { account, accounts };
}

/** Adds the accounts whose name or ID has the typed text: the service may have more than the page loads. */
function useSearch(accounts: readonly Row[] | undefined) {
  const [typed, setTyped] = useState('');
  const search = useSettled(typed.trim());
  const isPart = (accounts?.length ?? 0) >= ACCOUNTS_MAX && search !== '';
  const found = useLoad(`accounts ${isPart} ${search}`, () =>
    isPart
      ? get(`/admin/v1/accounts?limit=100&search=${encodeURIComponent(search)}`)
      : Promise.resolve<Row>({}),
  );
  const all = [...(accounts ?? []), ...rows(found.value?.['accounts'])];
  return { all: [...new Map(all.map((one) => [one['auth_id'], one])).values()], setTyped };
}

/** Returns the page of the URL, or undefined if the user may not see it, and the further parts of its path. */
function pageOf(me: Me, place: Place) {
  const start = me.role === 'billing' ? 'billing' : 'overview';
  const moved = MOVED[place.path.slice(0, 2).join('/')] ?? MOVED[place.path.join('/')];
  const [name = start, ...rest] = moved === undefined ? place.path : [moved];
  const page = PAGES.find((one) => one.path === name && isPermitted(one, me.account_id === null));
  return { name, rest, page };
}

/** Draws the component again when the time zone changes. */
function useZoneChanges(): void {
  const [, drawAgain] = useState(0);
  useEffect(() => {
    const changed = () => drawAgain((count) => count + 1);
    addEventListener(ZONE_CHANGED, changed);
    return () => removeEventListener(ZONE_CHANGED, changed);
  }, []);
}

export function Shell({ me, left }: Props) {
  signedInAs(me.role);
  const isStaff = me.account_id === null;
  const place = usePlace();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const { account, accounts } = useAccount(me, place);
  const { all, setTyped } = useSearch(accounts.value);
  linkTo(isStaff ? account : '');
  const { name, rest, page } = pageOf(me, place);
  const title = page?.title ?? t('404: Page not found');
  useEffect(() => {
    document.title = `${title} · ${me.platform}`;
  }, [title, me.platform]);
  useEffect(() => setMenuOpen(false), [place]);
  useZoneChanges();
  const shown = PAGES.filter((one) => isPermitted(one, isStaff));
  return (
    <div class="app" data-menu={isMenuOpen ? 'open' : 'closed'}>
      <SkipLink />
      {isMenuOpen && (
        <button
          type="button"
          class="scrim"
          aria-label={t('Close menu')}
          onClick={() => setMenuOpen(false)}
        />
      )}
      <Sidebar {...{ me, left, place, account, shown, page }} accounts={all} typing={setTyped} />
      <div class="column">
        <Connection />
        <Topbar
          {...{ page, rest, isStaff, isMenuOpen }}
          openMenu={() => setMenuOpen(true)}
          openPalette={() => setPaletteOpen(true)}
        />
        <main class="content" id="content" tabIndex={-1}>
          <Boundary at={`${name} ${rest.join('/')} ${account}`}>
            <Content {...{ page, accounts, account, me, isStaff, rest }} />
          </Boundary>
        </main>
      </div>
      <Palette
        isOpen={isPaletteOpen}
        setOpen={setPaletteOpen}
        path={place.path[0] ?? ''}
        pages={shown.map((one) => ({ group: one.section, label: one.title, to: href(one.path) }))}
        accounts={all}
        typing={setTyped}
      />
      <Confirmation />
      <Toasts />
    </div>
  );
}

const SkipLink = () => (
  <button
    type="button"
    class="btn skip"
    onClick={() => document.getElementById('content')?.focus()}
  >
    {t('Skip to content')}
  </button>
);

interface TopbarProps extends CrumbsProps {
  readonly isStaff: boolean;
  readonly isMenuOpen: boolean;
  readonly openMenu: () => void;
  readonly openPalette: () => void;
}

const Topbar = ({ page, rest, isStaff, isMenuOpen, openMenu, openPalette }: TopbarProps) => (
  <header class="topbar">
    <button
      type="button"
      class="btn quiet icon menu-toggle"
      aria-label={t('Open menu')}
      aria-expanded={isMenuOpen}
      onClick={openMenu}
    >
      <Icon of={MenuIcon} />
    </button>
    <Crumbs page={page} rest={rest} />
    {isStaff && <AlarmSign />}
    <button type="button" class="search-open" onClick={openPalette}>
      <Icon of={Search} size={14} />
      <span>{t('Search')}</span>
      <kbd>{navigator.userAgent.includes('Mac') ? '⌘ K' : 'Ctrl K'}</kbd>
    </button>
  </header>
);

interface ContentProps extends PageProps {
  readonly page: PageInfo | undefined;
  readonly accounts: LoadedData<readonly Row[]>;
}

/** The page of the URL, or what it waits for. */
function Content({ page, accounts, account, ...props }: ContentProps) {
  if (page === undefined) return <NotFound />;
  if (account !== '') {
    return <Loaded key={page.path + account} page={page} account={account} {...props} />;
  }
  if (accounts.value !== undefined) return <NoAccount page={page} {...props} />;
  return (
    <>
      <Problem text={accounts.problem} />
      <Skeleton />
    </>
  );
}

/** A staff page that needs no account works before the first account exists. */
const NoAccount = ({ page, ...props }: Omit<PageProps, 'account'> & { readonly page: PageInfo }) =>
  page.isStaffs === true || ['people', 'profile', 'audit'].includes(page.path) ? (
    <Loaded page={page} account="" {...props} />
  ) : (
    <Empty title={t('No account exists yet.')}>
      <a class="btn primary" href={href('accounts')}>
        {t('Create account')}
      </a>
    </Empty>
  );

const ALARMS_MS = 15_000;

/** Link to the active alarms. */
function AlarmSign() {
  const { value } = useLoad('alarms', () => get('/admin/v1/alarms'), ALARMS_MS);
  const open = rows(value?.['alarms']).filter((one) => one['acknowledged_at'] == null).length;
  return open === 0 ? null : (
    <a class="btn quiet text-bad" href={href('alarms')}>
      <Icon of={BellDot} size={15} /> {t('Alarms: {n}', { n: open })}
    </a>
  );
}

interface CrumbsProps {
  readonly page: PageInfo | undefined;
  readonly rest: readonly string[];
}

function Crumbs({ page, rest }: CrumbsProps) {
  return (
    <nav class="grow" aria-label={t('Breadcrumbs')}>
      <ol class="crumbs">
        {page === undefined ? (
          <li>{t('404: Page not found')}</li>
        ) : (
          <>
            {page.section !== page.title && <li class="hide-small">{page.section}</li>}
            <li>{rest.length === 0 ? page.title : <a href={href(page.path)}>{page.title}</a>}</li>
            {rest[0] !== undefined && <li>{rest[0]}</li>}
          </>
        )}
      </ol>
    </nav>
  );
}

const known = new Map<string, ComponentType<PageProps>>();

/** Loads the code of the page, and then shows the page. */
function Loaded({ page, ...props }: PageProps & { readonly page: PageInfo }) {
  const [Page, setPage] = useState<ComponentType<PageProps> | undefined>(() =>
    known.get(page.path),
  );
  const [problem, setProblem] = useState<string>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    const again = () => setRound((count) => count + 1);
    addEventListener(RELOAD, again);
    return () => removeEventListener(RELOAD, again);
  }, []);
  useEffect(() => {
    let isCurrent = true;
    // Some browsers remember a failed script until the page is loaded again.
    if (round > 1 && problem !== undefined) location.reload();
    page.load().then(
      (found) => {
        known.set(page.path, found);
        if (!isCurrent) return;
        setProblem(undefined);
        setPage(() => found);
      },
      (error: unknown) => {
        if (!isCurrent) return;
        dispatchEvent(new Event(LOST));
        setProblem(messageOf(error));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [page, round]);
  if (problem !== undefined)
    return <Problem text={t('The page did not load. {problem}', { problem })} />;
  return Page === undefined ? <Skeleton /> : <Page {...props} />;
}
