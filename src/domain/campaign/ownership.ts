import type { CampaignOwner } from './types.ts';

/**
 * Returns whether `owner` may access the object. A sub-account sees its own objects; a main account also sees those
 * of its sub-accounts.
 */
export const owns = (owner: CampaignOwner, owned: CampaignOwner): boolean =>
  owned.accountId === owner.accountId &&
  (owner.subAccount === undefined || owned.subAccount === owner.subAccount);
