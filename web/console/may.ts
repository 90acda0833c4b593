/**
 * Permissions of the signed-in user's role. The service enforces them (`src/domain/user/rights.ts`); the console hides
 * controls that the role cannot use.
 */

/** `money`: credit, accounts and alerts. `credentials`: new accounts and tokens. `change`: everything else except users. */
export type Need = 'change' | 'money' | 'credentials';

const ALLOWED: Readonly<Record<string, ReadonlySet<Need>>> = {
  owner: new Set(['change', 'money', 'credentials']),
  operator: new Set(['change', 'money']),
  developer: new Set(['change', 'money']),
  billing: new Set(['money']),
};

/** Pages that the role `billing` may read. */
const BILLINGS: ReadonlySet<string> = new Set([
  'account',
  'billing',
  'rates',
  'accounts',
  'sub-accounts',
  'audit',
]);

let role = '';

/** Sets the role of the signed-in user. Call it before drawing a page. */
export const signedInAs = (next: string): void => {
  role = next;
};

export const may = (need: Need): boolean => ALLOWED[role]?.has(need) === true;

/** Pages that only owners may read. */
const OWNERS: ReadonlySet<string> = new Set(['people']);

/** Pages that only change something. */
const CHANGES: ReadonlySet<string> = new Set(['import']);

export function mayRead(page: string): boolean {
  if (OWNERS.has(page)) return role === 'owner';
  if (CHANGES.has(page)) return may('change');
  return role !== 'billing' || BILLINGS.has(page);
}
