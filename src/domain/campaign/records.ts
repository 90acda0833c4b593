/** Records of campaigns, agents, contacts, attempts and pools (dialect §3.11). */
import type { AccountId, AgentId, CallUuid, CampaignId } from '../../base/ids.ts';
import type { CallbackTarget } from '../callback/types.ts';
import type { MachineDetectionRequest } from '../dispatch/types.ts';

/** Owner of agents and campaigns: a main account or one of its sub-accounts. */
export interface CampaignOwner {
  readonly accountId: AccountId;
  /** Sub-account. In a filter, undefined selects the main account and all its sub-accounts. */
  readonly subAccount: AccountId | undefined;
}

// ---------------------------------------------------------------- agents

/** Documents that calls are connected to, and how these calls are placed. */
export interface Agent extends CampaignOwner {
  readonly id: AgentId;
  readonly name: string;
  readonly answer: CallbackTarget;
  readonly hangup: CallbackTarget | undefined;
  readonly fallback: CallbackTarget | undefined;
  readonly ring: CallbackTarget | undefined;
  /** Custom SIP headers without prefix. A contact's header of the same name replaces one. */
  readonly sipHeaders: CustomHeaders;
  readonly machineDetection: MachineDetectionRequest | undefined;
  /** Recording of calls from the answer on. Undefined: no recording. */
  readonly record: CallRecording | undefined;
  /** Maximum call time after the answer, at most one day. Milliseconds. */
  readonly timeLimitMs: number;
  /** Ring timeout in milliseconds. Undefined selects the service's default. */
  readonly ringTimeoutMs: number | undefined;
  readonly createdUs: number;
  readonly updatedUs: number;
}

export type CustomHeaders = ReadonlyArray<readonly [name: string, value: string]>;

interface CallRecording {
  readonly maxMs: number;
  readonly format: 'mp3' | 'wav';
  readonly channels: 'mono' | 'stereo';
  readonly callback: CallbackTarget | undefined;
}

// ---------------------------------------------------------------- plan

/** Local hours of one weekday. If the end is not after the start, it lies on the next day. */
export interface DialHours {
  /** Weekday on which the hours start, ISO 8601: 1 Monday … 7 Sunday. */
  readonly weekday: number;
  /** Start and end in minutes after midnight, 0 to 1439. Must differ. */
  readonly startMinute: number;
  readonly endMinute: number;
}

/** Times at which contacts may be called. A local time skipped by daylight saving counts as the moment of the change. */
export interface DialWindow {
  readonly hours: readonly DialHours[];
  /** Dates without calls, `YYYY-MM-DD`. */
  readonly holidays: readonly string[];
}

export type RetryOutcome = 'busy' | 'no_answer' | 'failed' | 'machine';

interface RetryPolicy {
  /** Maximum number of further attempts, 0 to 5. */
  readonly attempts: number;
  /** Delays before the first, second … retry, in milliseconds. Later retries use the last value. */
  readonly delaysMs: readonly number[];
  /** Maximum time from the first attempt to a retry, in milliseconds. After it the contact expires. */
  readonly windowMs: number;
  readonly on: readonly RetryOutcome[];
}

type CallerIdStrategy = 'fixed' | 'per_contact' | 'pool';
type PoolRotation = 'round_robin' | 'least_used' | 'random';

/** Limits of each pool number. Undefined: unlimited. */
export interface PoolRules {
  readonly rotation: PoolRotation;
  readonly maxCalls: number | undefined;
  /** Maximum number of calls per day in the campaign's timezone. */
  readonly maxCallsPerDay: number | undefined;
  /** Minimum time between the starts of two calls, in milliseconds. */
  readonly cooldownMs: number;
}

/** Maximum ratio of abandoned to answered calls (`CampaignCallEnd.abandoned`). Above it, fewer calls are placed. */
export interface AbandonmentGuard {
  /** Ratio in hundredths of a percent. */
  readonly maxBasisPoints: number;
}

export interface CampaignPlan {
  readonly name: string;
  readonly agentId: AgentId;
  /** Maximum number of concurrent calls. */
  readonly maxConcurrent: number;
  /** Kept for compatibility. Does not limit capacity (spec: Other resources). */
  readonly cps: number;
  /** IANA timezone name. */
  readonly timezone: string;
  /** Timezone of the window: the campaign's, or with `number` that of the contact's number. */
  readonly contactTimezone: 'campaign' | 'number';
  /** Call window. Undefined: calls at any time. */
  readonly window: DialWindow | undefined;
  readonly scheduledUs: number | undefined;
  /** Expiry time. Contacts not reached by then expire, and the campaign is completed. */
  readonly expiresUs: number | undefined;
  readonly retry: RetryPolicy;
  readonly callerIdStrategy: CallerIdStrategy;
  readonly fixedCallerId: string | undefined;
  readonly pool: PoolRules;
  readonly abandonment: AbandonmentGuard | undefined;
  readonly notifyUrl: string | undefined;
}

// ---------------------------------------------------------------- states

export type CampaignStatus =
  | 'draft'
  | 'ready'
  /** Started, but waiting for another campaign of the account to end. */
  | 'queued'
  | 'running'
  | 'paused'
  | 'completed'
  | 'cancelled'
  | 'archived';

/** Reasons of a pause (spec: Campaign pause reasons). */
export type PauseReason =
  | 'manual_pause'
  | 'window_closed'
  | 'caller_pool_exhausted'
  | 'caller_pool_daily_limit_reached'
  | 'account_inactive'
  | 'stalled'
  | 'consecutive_failures'
  | 'balance_insufficient';

export type CampaignHealth = 'active' | 'idle' | 'stalled' | 'not_started';

export type ContactStatus =
  | 'pending'
  | 'dialling'
  | 'answered'
  | 'no_answer'
  | 'busy'
  | 'failed'
  | 'retry_pending'
  | 'expired';

/** Number of contacts per status. Always equal to the sums over the list. */
export type ContactCounters = Readonly<Record<ContactStatus, number>>;

export interface Campaign extends CampaignPlan, CampaignOwner {
  readonly id: CampaignId;
  readonly status: CampaignStatus;
  /** Reason while paused. */
  readonly pauseReason: PauseReason | undefined;
  readonly counters: ContactCounters;
  /** Number of consecutive carrier and answer URL failures. */
  readonly consecutiveFailures: number;
  /** Time of the start command. Queued campaigns run in this order. */
  readonly queuedUs: number | undefined;
  readonly startedUs: number | undefined;
  readonly completedUs: number | undefined;
  readonly lastDialUs: number | undefined;
  readonly createdUs: number;
  readonly updatedUs: number;
}

export interface CampaignView {
  readonly campaign: Campaign;
  readonly health: CampaignHealth;
}

/** A campaign that uses capacity (spec: Capacity snapshot). */
export interface RunningCampaign {
  readonly campaignId: CampaignId;
  readonly subAccount: AccountId | undefined;
  readonly name: string;
  readonly status: CampaignStatus;
  readonly maxConcurrent: number;
  /** Number of live calls. */
  readonly running: number;
  /** Number of waiting contacts. */
  readonly queued: number;
}

// ---------------------------------------------------------------- contacts and attempts

export interface NewContact {
  /** Row number in the uploaded list, from 1. */
  readonly rowNumber: number;
  /** Number as uploaded. */
  readonly to: string;
  readonly from: string | undefined;
  readonly answerUrl: string | undefined;
  readonly hangupUrl: string | undefined;
  readonly headers: CustomHeaders;
}

export interface Contact extends NewContact {
  readonly id: number;
  /** IANA timezone name of its window. Empty for the campaign's timezone. */
  readonly timezone: string;
  readonly status: ContactStatus;
  /** Reason why it failed without a call or was deferred. */
  readonly reason: ContactReason | undefined;
  /** Number of calls so far. */
  readonly attempts: number;
  /** Time of the next call. Undefined for no further call, or as soon as possible. */
  readonly dueUs: number | undefined;
  readonly firstDialUs: number | undefined;
  /** Call UUID of the last attempt. */
  readonly callUuid: CallUuid | undefined;
}

export type ContactReason =
  | 'do_not_call'
  | 'barred'
  | 'invalid_number'
  | 'daily_limit'
  | 'no_caller_id'
  | 'retry_window_over'
  | 'unreadable'
  | 'campaign_expired';

/** A refused row of an uploaded list. */
export interface BadRow {
  readonly rowNumber: number;
  readonly reason: string;
}

export interface Attempt {
  readonly callUuid: CallUuid;
  readonly campaignId: CampaignId;
  readonly contactId: number;
  readonly rowNumber: number;
  /** Number of the attempt for its contact, from 1. */
  readonly attemptNumber: number;
  readonly to: string;
  readonly from: string;
  /** Status. `dialling` during the call. */
  readonly status: AttemptStatus;
  readonly placedUs: number;
  readonly answeredUs: number | undefined;
  readonly endedUs: number | undefined;
  readonly hangupCause: string | undefined;
  readonly hangupCauseCode: number | undefined;
  readonly machine: boolean | undefined;
}

export type AttemptStatus = 'dialling' | 'answered' | 'no_answer' | 'busy' | 'failed';

/** A contact with its last attempt. */
export interface ContactResult {
  readonly contact: Contact;
  readonly attempt: Attempt | undefined;
}

export interface PoolNumber {
  readonly id: string;
  readonly number: string;
  readonly label: string;
  readonly totalCalls: number;
  /** Day of the last use, `YYYY-MM-DD` in the campaign's timezone, and the number of calls on that day. */
  readonly day: string;
  readonly callsOfDay: number;
  readonly lastUsedUs: number | undefined;
}

// ---------------------------------------------------------------- notify_url events

export type CampaignEvent =
  | {
      readonly kind: 'started' | 'resumed' | 'completed' | 'cancelled';
      readonly atUs: number;
    }
  | { readonly kind: 'paused'; readonly atUs: number; readonly reason: PauseReason }
  | { readonly kind: 'failed'; readonly atUs: number; readonly reason: string }
  | {
      readonly kind: 'stalled';
      readonly atUs: number;
      readonly reason: string;
      readonly lastDialUs: number | undefined;
      readonly stalledMs: number;
    }
  | {
      readonly kind: 'contact';
      /** Outcome. `busy` is reported as `failed`, because the dialect has no event for it. */
      readonly outcome: 'answered' | 'no_answer' | 'retry_scheduled' | 'failed' | 'expired';
      readonly atUs: number;
      readonly contactId: number;
      readonly callUuid: CallUuid | undefined;
      readonly to: string;
      readonly from: string | undefined;
      readonly hangupCause: string | undefined;
      readonly durationMs: number;
    };
