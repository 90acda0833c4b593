/** What a role may ask of the REST interface. The rules of accounts (whose an object is) stand beside these. */
import type { Role } from './types.ts';

/** A request as far as rights go: `tag` is the section of its route. */
export interface Asked {
  readonly method: string;
  readonly tag: string;
  /** It makes or shows credentials of an account. */
  readonly isCredential: boolean;
}

/** Sections that belong to money. */
const MONEY = new Set(['Ledger', 'Operator: accounts', 'Operator: rates']);
/** What `billing` reads besides. */
const MONEY_READS = new Set(['Account', 'Call records', 'Sub-accounts', 'Partner']);
/** What everybody does for himself. */
const OWN = 'Console';
const OWNERS = new Set(['Users']);

export function mayDo(role: Role, { method, tag, isCredential }: Asked): boolean {
  if (role === 'owner' || tag === OWN) return true;
  if (OWNERS.has(tag) || (isCredential && method !== 'GET')) return false;
  const reads = method === 'GET' || method === 'HEAD';
  switch (role) {
    case 'operator':
    case 'developer':
      return true;
    case 'viewer':
      return reads;
    case 'billing':
      return MONEY.has(tag) || (reads && MONEY_READS.has(tag));
  }
}

/** Staff has no developers, a customer no operators. */
export const isRoleOf = (role: Role, isStaff: boolean): boolean =>
  role !== (isStaff ? 'developer' : 'operator');
