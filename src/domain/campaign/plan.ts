/** Validates a plan against the account, its agents and numbers, timezones and the current time. */
import { wallUs } from '../../base/clock.ts';
import type { CampaignId } from '../../base/ids.ts';
import { plainNumber } from '../../base/phone-number.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { CampaignServiceNeeds } from './service-needs.ts';
import type { Campaign, CampaignOwner, CampaignPlan, CampaignRefusal } from './types.ts';
import { isTimezone } from './zoned-time.ts';

const NAME_LENGTH = 100;

type Refused = Result<never, CampaignRefusal>;

const invalid = (field: string, detail: string): Refused => err({ kind: 'invalid', field, detail });

/** Returns the plan to store. `before` is the previous plan; an unchanged time may lie in the past. */
export async function checkPlan(
  needs: Pick<CampaignServiceNeeds, 'store' | 'accounts' | 'calls' | 'clock'>,
  owner: CampaignOwner,
  plan: CampaignPlan,
  before?: CampaignPlan,
): Promise<Result<CampaignPlan, CampaignRefusal>> {
  const problem = checkShape(plan) ?? checkTimes(plan, wallUs(needs.clock), before);
  if (problem !== undefined) return problem;
  const account = await needs.accounts.get(owner.accountId);
  const limit = account?.concurrentCallsLimit ?? 0;
  if (plan.maxConcurrent > limit) {
    return invalid('max_concurrent', `must not exceed the account's limit of ${limit}`);
  }
  const agent = await needs.store.agent(plan.agentId);
  const isOwn =
    agent?.accountId === owner.accountId &&
    (owner.subAccount === undefined || agent.subAccount === owner.subAccount);
  if (!isOwn) return err({ kind: 'unknownAgent' });
  const fixedCallerId = plan.fixedCallerId && plainNumber(plan.fixedCallerId);
  if (plan.callerIdStrategy === 'fixed') {
    if (fixedCallerId === undefined || fixedCallerId === '') {
      return invalid('fixed_caller_id', 'is required with the strategy fixed');
    }
    if (!(await needs.calls.mayPresent(owner.accountId, fixedCallerId))) {
      return invalid('fixed_caller_id', `${fixedCallerId} is not a caller ID of this account`);
    }
  }
  return ok({ ...plan, fixedCallerId, cps: Math.max(1, plan.cps) });
}

function checkTimes(
  { scheduledUs, expiresUs }: CampaignPlan,
  nowUs: number,
  before?: CampaignPlan,
): Refused | undefined {
  if (scheduledUs !== undefined && scheduledUs !== before?.scheduledUs && scheduledUs <= nowUs) {
    return invalid('scheduled_at', 'must be in the future');
  }
  if (expiresUs === undefined) return undefined;
  if (expiresUs !== before?.expiresUs && expiresUs <= nowUs) {
    return invalid('expires_at', 'must be in the future');
  }
  if (scheduledUs === undefined || scheduledUs < expiresUs) return undefined;
  return expiresUs === before?.expiresUs
    ? invalid('scheduled_at', 'must be before expires_at')
    : invalid('expires_at', 'must be after scheduled_at');
}

function checkShape(plan: CampaignPlan): Refused | undefined {
  if (plan.name.trim() === '' || plan.name.length > NAME_LENGTH) {
    return invalid('name', `must have 1 to ${NAME_LENGTH} characters`);
  }
  if (!Number.isSafeInteger(plan.maxConcurrent) || plan.maxConcurrent < 1) {
    return invalid('max_concurrent', 'must be a whole number of at least 1');
  }
  if (!isTimezone(plan.timezone)) {
    return invalid('timezone', `${plan.timezone} is not an IANA timezone`);
  }
  const { window } = plan;
  if (window === undefined) return undefined;
  if (window.hours.length === 0) return invalid('window', 'has no hours on any weekday');
  const isEmpty = window.hours.some(({ startMinute, endMinute }) => startMinute === endMinute);
  return isEmpty ? invalid('window_end_time', 'must differ from window_start_time') : undefined;
}

/** Returns the plan of a campaign without its state. */
export function planOf(campaign: Campaign): CampaignPlan {
  return {
    name: campaign.name,
    agentId: campaign.agentId,
    maxConcurrent: campaign.maxConcurrent,
    cps: campaign.cps,
    timezone: campaign.timezone,
    contactTimezone: campaign.contactTimezone,
    window: campaign.window,
    scheduledUs: campaign.scheduledUs,
    expiresUs: campaign.expiresUs,
    retry: campaign.retry,
    callerIdStrategy: campaign.callerIdStrategy,
    fixedCallerId: campaign.fixedCallerId,
    pool: campaign.pool,
    abandonment: campaign.abandonment,
    notifyUrl: campaign.notifyUrl,
  };
}

const NO_CONTACTS = {
  pending: 0,
  dialling: 0,
  answered: 0,
  no_answer: 0,
  busy: 0,
  failed: 0,
  retry_pending: 0,
  expired: 0,
};

export const newCampaign = (
  plan: CampaignPlan,
  owner: CampaignOwner,
  id: CampaignId,
  nowUs: number,
): Campaign => ({
  ...plan,
  ...owner,
  id,
  status: 'draft',
  pauseReason: undefined,
  counters: NO_CONTACTS,
  consecutiveFailures: 0,
  queuedUs: undefined,
  startedUs: undefined,
  completedUs: undefined,
  lastDialUs: undefined,
  createdUs: nowUs,
  updatedUs: nowUs,
});
