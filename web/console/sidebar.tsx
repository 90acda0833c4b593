/** Sidebar of all pages: account switcher, links to the pages, and the user. */
import { LogOut } from 'lucide';
import { useEffect, useRef } from 'preact/hooks';
import { call, type Me, type Row, text } from './api.ts';
import { useLive } from './hooks.ts';
import type { PageInfo } from './pages.ts';
import { go, href, type Place } from './place.ts';
import { t } from './text.ts';
import { Chooser } from './ui/chooser.tsx';
import { Icon } from './ui/icon.tsx';
import { Badge } from './ui/parts.tsx';
import { ThemeChoice, ZoneChoice } from './ui/preferences.tsx';

interface Props {
  readonly me: Me;
  /** Called when the user has signed out. */
  readonly left: () => void;
  readonly place: Place;
  readonly account: string;
  /** Accounts to choose from. */
  readonly accounts: readonly Row[];
  /** Called with the text of the account search. */
  readonly typing: (typed: string) => void;
  /** Pages that the user may see. */
  readonly shown: readonly PageInfo[];
  /** Current page. */
  readonly page: PageInfo | undefined;
}

export const Sidebar = ({ me, left, place, account, accounts, typing, shown, page }: Props) => (
  <aside class="sidebar">
    <a class="brand" href={href('')}>
      <Mark /> {me.platform}
    </a>
    {me.account_id === null && (
      <Chooser
        label={t('Account')}
        value={account}
        set={(next) => go(href(place.path[0] ?? '', {}, next))}
        typing={typing}
        choices={accounts.map((one) => ({
          value: text(one['auth_id']),
          label: text(one['name']),
          note: text(one['auth_id']),
        }))}
      />
    )}
    <Nav pages={shown} current={page?.path} />
    <Foot me={me} left={left} />
  </aside>
);

function Foot({ me, left }: Pick<Props, 'me' | 'left'>) {
  const signOut = async () => {
    await call('POST', '/console/api/sign-out').catch(() => undefined);
    left();
  };
  return (
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
  );
}

const Mark = () => (
  <svg width="20" height="20" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true">
    <path d="M12 2a1.6 1.6 0 0 1 1.6 1.6v.7A6.5 6.5 0 0 1 18.5 10.600v3.7l1.7 2.6a.8.8 0 0 1-.7 1.300H4.500a.8.8 0 0 1-.7-1.300l1.700-2.600v-3.700a6.500 6.500 0 0 1 4.900-6.300v-.7A1.600 1.600 0 0 1 12 2Zm-2.700 17.700h5.400a2.700 2.700 0 0 1-5.400 0Z" />
  </svg>
);

interface NavProps {
  readonly pages: readonly PageInfo[];
  readonly current: string | undefined;
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
