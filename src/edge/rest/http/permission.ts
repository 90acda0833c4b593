import { type Permission, permits } from '../../../domain/account/account.ts';
import type { Account } from '../../../domain/account/types.ts';
import { type Failure, failure } from './failure.ts';

/** Permission that a sub-account needs, by route tag. Other tags are open to every sub-account. */
const PERMISSION_OF: Readonly<Record<string, Permission>> = {
  Calls: 'calls',
  Conferences: 'conferences',
  'Call records': 'cdr',
  Recordings: 'recordings',
  Applications: 'applications',
  Endpoints: 'endpoints',
  Numbers: 'numbers',
  Trunks: 'trunks',
  Ledger: 'balance',
  Campaigns: 'campaigns',
};

export const notPermitted = (what: Permission): Failure =>
  failure(403, `permission ${what} is not granted to this sub-account`);

/** Returns the failure if the account lacks the permission for the tag, otherwise undefined. */
export function permissionMissing(account: Account, tag: string): Failure | undefined {
  const wanted = PERMISSION_OF[tag];
  return wanted === undefined || permits(account, wanted) ? undefined : notPermitted(wanted);
}
