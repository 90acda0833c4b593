/** Decides which REST requests a role may make. Account ownership is checked separately. */
import type { Role } from './types.ts';

/** A request as the role check sees it. `tag` is the section of its route. */
export interface Asked {
  readonly method: string;
  readonly tag: string;
  /** True if the request creates or shows credentials of an account. */
  readonly isCredential: boolean;
}

/** Sections about money. */
const MONEY = new Set(['Ledger', 'Operator: accounts', 'Operator: rates']);
/** Further sections that `billing` may read. */
const MONEY_READS = new Set(['Account', 'Call records', 'Sub-accounts', 'Partner']);
/** Section that every user may use. */
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

/** Returns whether the role exists for that kind of user. Staff has no developers, and customers have no operators. */
export const isRoleOf = (role: Role, isStaff: boolean): boolean =>
  role !== (isStaff ? 'developer' : 'operator');
