import type { CampaignOwner } from '../../../../domain/campaign/types.ts';
import { type Failure, invalidField } from '../../http/failure.ts';
import type { AccountInput } from '../../http/route.ts';
import { accountIdText, campaignIdText, Type } from '../../http/schema.ts';

/** Roots of campaign paths: dialect §3.11 writes `account` in lower case; `Account` is also served. */
export const ACCOUNTS = ['/api/v1/account/{auth_id}', '/api/v1/Account/{auth_id}'] as const;

export const common = { tag: 'Campaigns', errors: 'resource' } as const;

export const accountParams = Type.Object({ auth_id: accountIdText() });
export const campaignParams = Type.Object({
  auth_id: accountIdText(),
  campaign_id: campaignIdText(),
});

/** Returns the owner of campaigns. A sub-account has its own campaigns, which its parent also sees. */
export const ownerOf = ({
  accountId,
  subAccount,
}: Pick<AccountInput, 'accountId' | 'subAccount'>): CampaignOwner => ({ accountId, subAccount });

export const UNKNOWN_AGENT_NAMED: { readonly unknownAgent: Failure } = {
  unknownAgent: invalidField('agent_id', 'is not an agent of this account'),
};
