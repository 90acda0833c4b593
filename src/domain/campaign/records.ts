/** Records of campaigns, agents, contacts, attempts and pools (dialect §3.11). */
import type { AccountId, AgentId, CallUuid, CampaignId } from '../../base/ids.ts';
import type { CallbackTarget } from '../callback/types.ts';
import type { MachineDetectionRequest } from '../dispatch/types.ts';

/** Who owns agents and campaigns: a main account, or one of its sub-accounts. */
export interface CampaignOwner {
  readonly accountId: AccountId;
  /** Undefined in a filter: the main account and all its sub-accounts. */
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
  /** Custom SIP headers without their prefix; a contact's header of the same name replaces one. */
  readonly sipHeaders: CustomHeaders;
  readonly machineDetection: MachineDetectionRequest | undefined;
  /** Calls are recorded from the answer on. */
  readonly record: CallRecording | undefined;
  /** After the answer; at most a day. */
  readonly timeLimitMs: number;
  /** Undefined: the service's default. */
  readonly ringTimeoutMs: number | undefined;
  readonly createdUs: number;
  readonly updatedUs: number;
}

export type CustomHeaders = ReadonlyArray<readonly [name: string, value: string]>;

export interface CallRecording {
  readonly maxMs: number;
  readonly format: 'mp3' | 'wav';
  readonly channels: 'mono' | 'stereo';
  readonly callback: CallbackTarget | undefined;
}

// ---------------------------------------------------------------- what a customer decides

/** Local hours of one weekday. An end that is not after the beginning lies on the next day. */
export interface DialHours {
  /** ISO 8601: 1 Monday … 7 Sunday, of the day on which the hours begin. */
  readonly weekday: number;
  /** Minutes after midnight, 0 to 1439; both differ. */
  readonly startMinute: number;
  readonly endMinute: number;
}

/** When people may be called. Local times that daylight saving leaves out count as the moment of the change. */
export interface DialWindow {
  readonly hours: readonly DialHours[];
  /** `YYYY-MM-DD`: nobody is called on these dates. */
  readonly holidays: readonly string[];
}

export type RetryOutcome = 'busy' | 'no_answer' | 'failed' | 'machine';

export interface RetryPolicy {
  /** Further attempts, 0 to 5. */
  readonly attempts: number;
  /** Before the first, second … retry; later ones wait as long as the last. */
  readonly delaysMs: readonly number[];
  /** A retry later than this after the first attempt is not made: the contact expires. */
  readonly windowMs: number;
  readonly on: readonly RetryOutcome[];
}

export type CallerIdStrategy = 'fixed' | 'per_contact' | 'pool';
export type PoolRotation = 'round_robin' | 'least_used' | 'random';

/** Limits of each number of a pool; undefined: none. */
export interface PoolRules {
  readonly rotation: PoolRotation;
  readonly maxCalls: number | undefined;
  /** Days of the campaign's timezone. */
  readonly maxCallsPerDay: number | undefined;
  /** Between the beginnings of two calls. */
  readonly cooldownMs: number;
}

/** Highest share of answered calls that may be abandoned (`CampaignCallEnd.abandoned`); beyond it fewer calls are placed. */
export interface AbandonmentGuard {
  /** Hundredths of a per cent. */
  readonly maxBasisPoints: number;
}

export interface CampaignPlan {
  readonly name: string;
  readonly agentId: AgentId;
  /** Calls at once. */
  readonly maxConcurrent: number;
  /** Kept for compatibility: does not gate capacity (spec: Other resources). */
  readonly cps: number;
  /** IANA name. */
  readonly timezone: string;
  /** `number`: a window is kept in the timezone of the contact's number. */
  readonly contactTimezone: 'campaign' | 'number';
  /** Undefined: at any time. */
  readonly window: DialWindow | undefined;
  readonly scheduledUs: number | undefined;
  /** Contacts that were not reached by then expire, and the campaign is completed. */
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
  /** Started; waits until fewer campaigns of the account run. */
  | 'queued'
  | 'running'
  | 'paused'
  | 'completed'
  | 'cancelled'
  | 'archived';

/** Spec: Campaign pause reasons. */
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

/** Contacts by status; always equal to the sum over the list. */
export type ContactCounters = Readonly<Record<ContactStatus, number>>;

export interface Campaign extends CampaignPlan, CampaignOwner {
  readonly id: CampaignId;
  readonly status: CampaignStatus;
  /** While paused. */
  readonly pauseReason: PauseReason | undefined;
  readonly counters: ContactCounters;
  /** Carrier and answer URL failures in a row. */
  readonly consecutiveFailures: number;
  /** When it was started; queued campaigns run in this order. */
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

/** A campaign that takes capacity (spec: Capacity snapshot). */
export interface RunningCampaign {
  readonly campaignId: CampaignId;
  readonly name: string;
  readonly status: CampaignStatus;
  readonly maxConcurrent: number;
  /** Calls under way. */
  readonly running: number;
  /** Waiting contacts. */
  readonly queued: number;
}

// ---------------------------------------------------------------- contacts and attempts

export interface NewContact {
  /** Of the uploaded list, from 1. */
  readonly rowNumber: number;
  /** As uploaded. */
  readonly to: string;
  readonly from: string | undefined;
  readonly answerUrl: string | undefined;
  readonly hangupUrl: string | undefined;
  readonly headers: CustomHeaders;
}

export interface Contact extends NewContact {
  readonly id: number;
  /** IANA name of the timezone of its window; empty: the campaign's. */
  readonly timezone: string;
  readonly status: ContactStatus;
  /** Why it failed without a call, or is called later. */
  readonly reason: ContactReason | undefined;
  /** Calls so far. */
  readonly attempts: number;
  /** When it is called next; undefined: no more, or as soon as possible. */
  readonly dueUs: number | undefined;
  readonly firstDialUs: number | undefined;
  /** Of the last attempt. */
  readonly callUuid: CallUuid | undefined;
}

export type ContactReason =
  | 'do_not_call'
  | 'barred'
  | 'invalid_number'
  | 'daily_limit'
  | 'no_caller_id'
  | 'retry_window_over'
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
  /** Of its contact, from 1. */
  readonly attemptNumber: number;
  readonly to: string;
  readonly from: string;
  /** `dialling` during the call. */
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
  /** `YYYY-MM-DD` of the campaign's timezone on which it was last used, and its calls on that day. */
  readonly day: string;
  readonly callsOfDay: number;
  readonly lastUsedUs: number | undefined;
}

// ---------------------------------------------------------------- what notify_url is told

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
      /** `busy` is told as `failed`: the dialect has no event for it. */
      readonly outcome: 'answered' | 'no_answer' | 'retry_scheduled' | 'failed' | 'expired';
      readonly atUs: number;
      readonly contactId: number;
      readonly callUuid: CallUuid | undefined;
      readonly to: string;
      readonly from: string | undefined;
      readonly hangupCause: string | undefined;
      readonly durationMs: number;
    };
