/** Test data: campaigns, agents and contacts. */
import { asAgentId } from '../../../src/base/ids.ts';
import type {
  Campaign,
  CampaignOwner,
  CampaignPlan,
  NewAgent,
  NewContact,
} from '../../../src/domain/campaign/types.ts';
import { anAccount } from '../../edge/store/records.ts';

export const OWNER: CampaignOwner = { accountId: anAccount().authId, subAccount: undefined };

/** Counters of a campaign without a list. */
export const NO_CONTACTS: Campaign['counters'] = {
  pending: 0,
  dialling: 0,
  answered: 0,
  no_answer: 0,
  busy: 0,
  failed: 0,
  retry_pending: 0,
  expired: 0,
};

export const anAgent = (over: Partial<NewAgent> = {}): NewAgent => ({
  name: 'Desk',
  answer: { url: 'http://127.0.0.1/answer', method: 'POST' },
  hangup: undefined,
  fallback: undefined,
  ring: undefined,
  sipHeaders: [],
  machineDetection: undefined,
  record: undefined,
  timeLimitMs: 3_600_000,
  ringTimeoutMs: undefined,
  ...over,
});

export const aPlan = (over: Partial<CampaignPlan> = {}): CampaignPlan => ({
  name: 'Spring',
  agentId: asAgentId('nobody'),
  maxConcurrent: 2,
  cps: 1,
  timezone: 'UTC',
  contactTimezone: 'campaign',
  window: undefined,
  scheduledUs: undefined,
  expiresUs: undefined,
  retry: {
    attempts: 0,
    delaysMs: [3_600_000],
    windowMs: 604_800_000,
    on: ['busy', 'no_answer', 'failed'],
  },
  callerIdStrategy: 'fixed',
  fixedCallerId: '12025550100',
  pool: {
    rotation: 'round_robin',
    maxCalls: undefined,
    maxCallsPerDay: undefined,
    cooldownMs: 0,
  },
  abandonment: undefined,
  notifyUrl: undefined,
  ...over,
});

/** Contacts: row 1 calls 12125550100, row 2 12125550101 … */
export const contactRows = (count: number, over: Partial<NewContact> = {}): NewContact[] =>
  Array.from({ length: count }, (_, index) => ({
    rowNumber: index + 1,
    to: `1212555${String(100 + index).padStart(4, '0')}`,
    from: undefined,
    answerUrl: undefined,
    hangupUrl: undefined,
    headers: [],
    ...over,
  }));
