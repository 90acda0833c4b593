/** Frame of all pages: sidebar, account switcher, breadcrumbs, command palette, and the page of the URL. */
import { BellDot, LogOut, Menu as MenuIcon, Search } from 'lucide';
import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, get, LOST, type Me, messageOf, type Row, rows, text } from './api.ts';
import { RELOAD, useLive, useLoad } from './hooks.ts';
import { mayRead, signedInAs } from './may.ts';
import type { PageProps } from './page-props.ts';
import { MOVED, PAGES, type PageInfo } from './pages.ts';
import { go, href, linkTo, usePlace } from './place.ts';
import { t } from './text.ts';
import { Boundary } from './ui/boundary.tsx';
import { Chooser } from './ui/chooser.tsx';
import { Connection } from './ui/connection.tsx';
import { Icon } from './ui/icon.tsx';
import { Confirmation } from './ui/overlay.tsx';
import { Palette } from './ui/palette.tsx';
import { Badge, Empty, NotFound, Problem, Skeleton } from './ui/parts.tsx';
import { ThemeChoice, ZONE_CHANGED, ZoneChoice } from './ui/preferences.tsx';
import { Toasts } from './ui/toast.tsx';

const KEPT_ACCOUNT = 'console.account';
const ACCOUNTS_MAX = 1000;

/** Loads the accounts for the switcher, page by page. */
async function accountsOf(): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (;;) {
    const page = rows(
      (await get(`/admin/v1/accounts?limit=100&offset=${found.length}`))['accounts'],
    );
    found.push(...page);
    if (page.length < 100 || found.length >= ACCOUNTS_MAX) return found;
  }
}

const isPermitted = ({ path, isStaffs }: PageInfo, isStaff: boolean): boolean =>
  (isStaff || isStaffs !== true) && (path === 'profile' || mayRead(path));

interface Props {
  readonly me: Me;
  readonly left: () => void;
}

export function Shell({ me, left }: Props) {
  signedInAs(me.role);
  const isStaff = me.account_id === null;
  const place = usePlace();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [, drawAgain] = useState(0);
  const accounts = useLoad('accounts', () => (isStaff ? accountsOf() : Promise.resolve([])));
  const kept = localStorage.getItem(KEPT_ACCOUNT) ?? '';
  const isThere = accounts.value?.some((one) => one['auth_id'] === kept);
  const first = isThere ? kept : text(accounts.value?.[0]?.['auth_id']);
  const account = me.account_id ?? (place.account || first);
  linkTo(isStaff ? account : '');
  const start = me.role === 'billing' ? 'billing' : 'overview';
  const moved = MOVED[place.path.slice(0, 2).join('/')] ?? MOVED[place.path.join('/')];
  const [name = start, ...rest] = moved === undefined ? place.path : [moved];
  const page = PAGES.find((one) => one.path === name && isPermitted(one, isStaff));
  const title = page?.title ?? t('404: Page not found');
  useEffect(() => {
    document.title = `${title} · ${me.platform}`;
  }, [title, me.platform]);
  useEffect(() => {
    if (isStaff && account !== '') localStorage.setItem(KEPT_ACCOUNT, account);
  }, [account, isStaff]);
  useEffect(() => setMenuOpen(false), [place]);
  useEffect(() => {
    const changed = () => drawAgain((count) => count + 1);
    addEventListener(ZONE_CHANGED, changed);
    return () => removeEventListener(ZONE_CHANGED, changed);
  }, []);
  const shown = PAGES.filter((one) => isPermitted(one, isStaff));
  const signOut = async () => {
    await call('POST', '/console/api/sign-out').catch(() => undefined);
    left();
  };
  return (
    <div class="app" data-menu={isMenuOpen ? 'open' : 'closed'}>
      <button
        type="button"
        class="btn skip"
        onClick={() => document.getElementById('content')?.focus()}
      >
        {t('Skip to content')}
      </button>
      {isMenuOpen && (
        <button
          type="button"
          class="scrim"
          aria-label={t('Close menu')}
          onClick={() => setMenuOpen(false)}
        />
      )}
      <aside class="sidebar">
        <a class="brand" href={href('')}>
          <Mark /> {me.platform}
        </a>
        {isStaff && (
          <Chooser
            label={t('Account')}
            value={account}
            set={(next) => go(href(place.path[0] ?? '', {}, next))}
            choices={(accounts.value ?? []).map((one) => ({
              value: text(one['auth_id']),
              label: text(one['name']),
              note: text(one['auth_id']),
            }))}
          />
        )}
        <Nav pages={shown} current={page?.path} isStaff={isStaff} />
        <div class="foot">
          <a class="small muted" href={href('profile')}>
            {me.email}
          </a>
          <button
            type="button"
            class="btn quiet icon"
            aria-label={t('Sign out')}
            title={t('Sign out')}
            onClick={() => void signOut()}
          >
            <Icon of={LogOut} size={15} />
          </button>
          <ZoneChoice />
          <ThemeChoice />
        </div>
      </aside>
      <div class="column">
        <Connection />
        <header class="topbar">
          <button
            type="button"
            class="btn quiet icon menu-toggle"
            aria-label={t('Open menu')}
            aria-expanded={isMenuOpen}
            onClick={() => setMenuOpen(true)}
          >
            <Icon of={MenuIcon} />
          </button>
          <Crumbs page={page} rest={rest} />
          {isStaff && <AlarmSign />}
          <button type="button" class="search-open" onClick={() => setPaletteOpen(true)}>
            <Icon of={Search} size={14} />
            <span>{t('Search')}</span>
            <kbd>{navigator.userAgent.includes('Mac') ? '⌘ K' : 'Ctrl K'}</kbd>
          </button>
        </header>
        <main class="content" id="content" tabIndex={-1}>
          <Boundary at={`${name} ${rest.join('/')} ${account}`}>
            {page === undefined ? (
              <NotFound />
            ) : account === '' && accounts.value !== undefined ? (
              <NoAccount page={page} {...{ me, isStaff, rest }} />
            ) : account === '' ? (
              <>
                <Problem text={accounts.problem} />
                <Skeleton />
              </>
            ) : (
              <Loaded key={page.path + account} page={page} {...{ account, me, isStaff, rest }} />
            )}
          </Boundary>
        </main>
      </div>
      <Palette
        isOpen={isPaletteOpen}
        setOpen={setPaletteOpen}
        path={place.path[0] ?? ''}
        pages={shown.map((one) => ({ group: one.section, label: one.title, to: href(one.path) }))}
        accounts={accounts.value ?? []}
      />
      <Confirmation />
      <Toasts />
    </div>
  );
}

const Mark = () => (
  <svg width="20" height="20" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true">
    <path d="M12 2a1.6 1.6 0 0 1 1.6 1.6v.7A6.5 6.5 0 0 1 18.5 10.600v3.7l1.7 2.6a.8.8 0 0 1-.7 1.300H4.500a.8.8 0 0 1-.7-1.300l1.700-2.600v-3.700a6.500 6.500 0 0 1 4.900-6.300v-.7A1.600 1.600 0 0 1 12 2Zm-2.700 17.700h5.400a2.700 2.700 0 0 1-5.400 0Z" />
  </svg>
);

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

interface NavProps {
  readonly pages: readonly PageInfo[];
  readonly current: string | undefined;
  readonly isStaff: boolean;
}

function Nav({ pages, current }: NavProps) {
  const sections = [...new Set(pages.map(({ section }) => section))];
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return (
    <nav class="nav" aria-label={t('Pages')} ref={nav}>
      {sections.map((section) => (
        <div key={section}>
          <h2>{section}</h2>
          {pages
            .filter((one) => one.section === section)
            .map(({ path, title, icon }) => (
              <a key={path} href={href(path)} {...(path === current && { 'aria-current': 'page' })}>
                <Icon of={icon} size={15} />
                {title}
                {path === 'calls' && <LiveCount />}
              </a>
            ))}
        </div>
      ))}
    </nav>
  );
}

function LiveCount() {
  const { total, state } = useLive();
  return state === 'live' && total > 0 ? (
    <span class="count">
      <Badge tone="good">{total}</Badge>
    </span>
  ) : null;
}

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

function Crumbs({
  page,
  rest,
}: {
  readonly page: PageInfo | undefined;
  readonly rest: readonly string[];
}) {
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
