/** Places campaign calls as calls of the account, in the same way as `POST …/Call/`. */
import { ok } from '../../base/result.ts';
import { type Accounts, permits } from '../account/account.ts';
import { isInterrupted } from '../cdr/cdr.ts';
import type { CdrStore } from '../cdr/needs.ts';
import type { Cdr } from '../cdr/types.ts';
import type { PacedCalls } from '../dispatch/dispatch.ts';
import type { PlaceCallsRequest } from '../dispatch/types.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { canSpend } from '../ledger/ledger.ts';
import type { CallPlacing, CampaignCall, CampaignCallEnd } from './needs.ts';
import type { CustomHeaders } from './types.ts';

export interface PlacingNeeds {
  readonly paced: Pick<PacedCalls, 'place' | 'mayPresent' | 'canAfford'>;
  readonly accounts: Pick<Accounts, 'get'>;
  readonly ledger: Pick<Ledger, 'balance'>;
  readonly cdrs: Pick<CdrStore, 'get'>;
  readonly onFree: (act: () => void) => void;
}

export function createCallPlacing(needs: PlacingNeeds): CallPlacing {
  const { paced, accounts, ledger, cdrs, onFree } = needs;
  return {
    async place(call, begin) {
      const { callUuid, campaignId, agent } = call;
      const request = requestOf(call);
      const placed = await paced.place(
        { callUuid, campaignId, request, record: agent.record },
        begin,
      );
      if (!placed.ok) return placed;
      const ended = placed.value.ended.then(({ cdr, refused, abandoned }) => ({
        ...endOf(cdr, refused),
        abandoned,
      }));
      return ok({ ended, reached: placed.value.reached });
    },
    onFree,
    mayPresent: (accountId, number) => paced.mayPresent(accountId, number),
    async obstacle({ accountId, subAccount }, number) {
      const account = await accounts.get(accountId);
      const calling = subAccount === undefined ? account : await accounts.get(subAccount);
      if (account?.status !== 'active' || calling?.status !== 'active') return 'accountInactive';
      if (!permits(calling, 'calls')) return 'accountInactive';
      const balance = await ledger.balance(accountId, account.currency);
      // Every call costs at least the smallest amount.
      if (!balance.ok || !canSpend(balance.value, 1)) return 'insufficientFunds';
      if (number === undefined) return undefined;
      const isAffordable = await paced.canAfford({ accountId, subAccount }, number);
      return isAffordable ? undefined : 'insufficientFunds';
    },
    async endOf(callUuid) {
      const record = await cdrs.get(callUuid);
      return record && endOf(record.cdr);
    },
  };
}

/**
 * Derives the end of a call from its record. A call that the service interrupted counts as refused, so that the
 * contact is called again.
 */
export const endOf = (cdr: Cdr, refused?: CampaignCallEnd['refused']): CampaignCallEnd => ({
  answeredUs: cdr.answerUs,
  endedUs: cdr.endUs,
  hangupCause: cdr.hangupCause,
  hangupCauseCode: cdr.hangupCauseCode,
  machine: cdr.machine,
  refused: refused ?? (isInterrupted(cdr) ? 'unavailable' : undefined),
});

function requestOf({ owner, agent, contact, from }: CampaignCall): PlaceCallsRequest {
  const { answer, hangup } = agent;
  const { answerUrl, hangupUrl } = contact;
  return {
    accountId: owner.accountId,
    subAccount: owner.subAccount,
    from,
    destinations: [{ kind: 'number', number: contact.to }],
    answer: answerUrl === undefined ? answer : { ...answer, url: answerUrl },
    hangup: hangupUrl === undefined ? hangup : { method: hangup?.method ?? 'POST', url: hangupUrl },
    ring: agent.ring,
    fallback: agent.fallback,
    machineDetection: agent.machineDetection,
    callerName: undefined,
    sendDigits: undefined,
    sendOnPreanswer: false,
    timeLimitMs: agent.timeLimitMs,
    hangupOnRingMs: undefined,
    ringTimeoutMs: agent.ringTimeoutMs,
    sipHeaders: merged(agent.sipHeaders, contact.headers),
    idempotencyKey: undefined,
  };
}

/** Merges headers. A contact's header replaces the agent's header of the same name. */
function merged(ofAgent: CustomHeaders, ofContact: CustomHeaders): CustomHeaders {
  const own = new Set(ofContact.map(([name]) => name.toLowerCase()));
  return [...ofAgent.filter(([name]) => !own.has(name.toLowerCase())), ...ofContact];
}
