/** The URL as the state of a page: `#/MA_…/calls/abc?search=4021`. The first part is the account, for staff only. */
import { useEffect, useState } from 'preact/hooks';

export interface Place {
  /** Account in the URL, or '' if it has none. */
  readonly account: string;
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

const ACCOUNT = /^[MS]A_[A-Z0-9]+$/;

function read(): Place {
  const [before = '', after = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const path = before
    .split('/')
    .filter((one) => one !== '')
    .map(decoded);
  const account = ACCOUNT.test(path[0] ?? '') ? (path.shift() ?? '') : '';
  return { account, path, query: Object.fromEntries(new URLSearchParams(after)) };
}

function decoded(one: string): string {
  try {
    return decodeURIComponent(one);
  } catch {
    return one;
  }
}

export function usePlace(): Place {
  const [place, setPlace] = useState(read);
  useEffect(() => {
    const moved = () => setPlace(read());
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return place;
}

/** Account that links contain; '' for customers, whose account is fixed. */
let linked = '';

/** Sets the account that links contain. Call it before drawing a page. */
export const linkTo = (account: string): void => {
  linked = account;
};

/** Returns the link to a page, with its query. */
export function href(path: string, query: Readonly<Record<string, string>> = {}, account = linked) {
  const used = Object.entries(query).filter(([, value]) => value !== '');
  const asked = used.length === 0 ? '' : `?${new URLSearchParams(used)}`;
  return `#/${account === '' ? '' : `${account}/`}${path}${asked}`;
}

export const go = (to: string): void => {
  location.hash = to;
};

/** The query of the URL as fields. A change replaces the history entry, so that Back leaves the page. */
export function useQuery<T extends Readonly<Record<string, string>>>(initial: T) {
  const { path, query } = usePlace();
  const fields = Object.fromEntries(
    Object.entries(initial).map(([name, value]) => [name, query[name] ?? value]),
  ) as { readonly [K in keyof T]: string };
  const setAll = (changes: Partial<Record<keyof T, string>>): void => {
    // Other parts of the page have parameters in the same URL.
    const next = { ...query, ...fields, ...changes } as Record<string, string>;
    const kept = Object.fromEntries(
      Object.entries(next).filter(([name, value]) => value !== initial[name]),
    );
    history.replaceState(null, '', href(path.map(encodeURIComponent).join('/'), kept));
    dispatchEvent(new HashChangeEvent('hashchange'));
  };
  const set = (name: keyof T) => (value: string) =>
    setAll({ [name]: value } as Partial<Record<keyof T, string>>);
  return { fields, set, setAll };
}
