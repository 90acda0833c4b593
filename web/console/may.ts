/**
 * What the role of who is signed in may do. The service refuses the rest (`src/domain/user/rights.ts`); the console hides
 * the controls for it.
 */

/** `money`: credit, accounts and alerts. `credentials`: new accounts and tokens. `change`: everything else but users. */
export type Need = 'change' | 'money' | 'credentials';

const ALLOWED: Readonly<Record<string, ReadonlySet<Need>>> = {
  owner: new Set(['change', 'money', 'credentials']),
  operator: new Set(['change', 'money']),
  developer: new Set(['change', 'money']),
  billing: new Set(['money']),
};

/** Pages that `billing` may read. */
const BILLINGS: ReadonlySet<string> = new Set(['money', 'accounts', 'people']);

let role = '';

/** Sets the role of the signed-in user, before a page is drawn. */
export const signedInAs = (next: string): void => {
  role = next;
};

export const may = (need: Need): boolean => ALLOWED[role]?.has(need) === true;

export const mayRead = (page: string): boolean => role !== 'billing' || BILLINGS.has(page);
