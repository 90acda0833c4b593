/** Ends the bindings, live calls and queued destinations of revoked accounts and endpoints immediately. */
import type { Accounts, RevokedAccount } from '../account/account.ts';
import type { Call } from '../call/call.ts';
import type { PhoneLogins } from '../phone-login/phone-login.ts';
import type { Endpoints, RevokedEndpoint } from '../provisioning/provisioning.ts';
import type { CallBilling } from './call-billing.ts';
import type { Outbound } from './outbound.ts';

/** Page size for listing endpoints. */
const PAGE = 200;

export interface RevocationNeeds {
  readonly accounts: Pick<Accounts, 'onRevoked'>;
  readonly endpoints: Pick<Endpoints, 'list' | 'onRevoked'>;
  readonly phoneLogins: Pick<PhoneLogins, 'onRevoked'>;
  readonly callBilling: Pick<CallBilling, 'live'>;
  readonly outbound: Pick<Outbound, 'revoke'>;
  /** Removes the registrations of a user, in memory and in the store. */
  readonly forgetBindings: (username: string, login?: string) => void;
  /** False lets live calls continue until they end. */
  readonly endRunningCalls: boolean;
}

/** Subscribes to revocations for the lifetime of the process. */
export function followRevocations(needs: RevocationNeeds): void {
  needs.accounts.onRevoked((revoked) => accountRevoked(revoked, needs));
  needs.endpoints.onRevoked(async (revoked) => endpointRevoked(revoked, needs));
  needs.phoneLogins.onRevoked(async ({ id, username, why }) => {
    needs.forgetBindings(username, id);
    endCalls(needs, why, ({ identity }) => identity.phoneLogin === id);
  });
}

async function accountRevoked(revoked: RevokedAccount, needs: RevocationNeeds): Promise<void> {
  const { accountId, subAccount, why } = revoked;
  needs.outbound.revoke(accountId, subAccount, why);
  endCalls(needs, why, ({ identity }) => {
    const isMeant = subAccount === undefined || identity.subAccount === subAccount;
    return identity.accountId === accountId && isMeant;
  });
  if (revoked.callsOnly) return;
  for (const username of revoked.removedUsernames) needs.forgetBindings(username);
  for (let offset = 0; ; offset += PAGE) {
    const slice = { limit: PAGE, offset };
    const { items } = await needs.endpoints.list({ accountId, subAccount }, slice);
    for (const { username } of items) needs.forgetBindings(username);
    if (items.length < PAGE) return;
  }
}

function endpointRevoked(revoked: RevokedEndpoint, needs: RevocationNeeds): void {
  const { endpointId, username, why } = revoked;
  if (why !== 'voice') needs.forgetBindings(username);
  // With a new password, the phone must register again; its live calls continue.
  if (why === 'password') return;
  endCalls(needs, WHY[why], ({ identity }) => identity.endpointId === endpointId);
}

const WHY = {
  deleted: 'the endpoint was deleted',
  voice: 'the endpoint may no longer make voice calls',
} as const;

function endCalls(
  { callBilling, endRunningCalls }: RevocationNeeds,
  why: string,
  isMeant: (call: Call) => boolean,
): void {
  if (!endRunningCalls) return;
  for (const call of callBilling.live()) {
    if (!call.isEnded && isMeant(call)) call.hangup('forbidden', 'Platform', why);
  }
}
