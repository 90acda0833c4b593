import type { CampaignOwner } from './types.ts';

/** A sub-account sees its own, a main account those of its sub-accounts too. */
export const owns = (owner: CampaignOwner, owned: CampaignOwner): boolean =>
  owned.accountId === owner.accountId &&
  (owner.subAccount === undefined || owned.subAccount === owner.subAccount);
