/** What campaigns need: a store, calls, and webhooks. */
import type { AccountId, AgentId, CallUuid, CampaignId } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import type { Result } from '../../base/result.ts';
import type { StoredNotification } from '../callback/types.ts';
import type {
  Agent,
  AgentPatch,
  Attempt,
  AttemptStatus,
  BadRow,
  Campaign,
  CampaignEvent,
  CampaignFilter,
  CampaignOwner,
  CampaignPlan,
  CampaignStatus,
  Contact,
  ContactFilter,
  ContactReason,
  ContactResult,
  ContactStatus,
  DoNotCallScope,
  ListedNumber,
  NewContact,
  PoolNumber,
} from './types.ts';

// ---------------------------------------------------------------- store

/** A change of a campaign; counters change with contacts alone. A key that is present is set. */
export type CampaignChange = Partial<
  CampaignPlan &
    Pick<
      Campaign,
      | 'status'
      | 'pauseReason'
      | 'consecutiveFailures'
      | 'queuedUs'
      | 'startedUs'
      | 'completedUs'
      | 'lastDialUs'
    >
>;

/** A contact of a list that is being uploaded. */
export interface ListedContact extends NewContact {
  readonly timezone: string;
}

/** A contact that is due, with the facts that may forbid the call. */
export interface DueContact {
  readonly contact: Contact;
  readonly doNotCall: boolean;
  /** Attempts of all campaigns of the account to this number since the day's beginning. */
  readonly callsOfDay: number;
}

export interface DueQuery {
  readonly campaignId: CampaignId;
  /** Whose windows are open; empty: the campaign's. */
  readonly timezone: string;
  readonly nowUs: number;
  readonly dayStartUs: number;
  readonly limit: number;
}

/** The beginning of an attempt, written before anything is sent. */
export interface AttemptStart {
  readonly callUuid: CallUuid;
  readonly campaignId: CampaignId;
  readonly contactId: number;
  /** As the contact was read; if it has another number of attempts by now, it was called meanwhile and the attempt is refused. */
  readonly attemptsBefore: number;
  readonly from: string;
  readonly placedUs: number;
  /** The pool's number that is used, the day that the use counts for, and the limits. At its limit, the attempt is refused. */
  readonly poolNumber:
    | {
        readonly id: string;
        /** `YYYY-MM-DD` in the campaign's timezone. */
        readonly day: string;
        readonly maxCalls: number | undefined;
        readonly maxCallsPerDay: number | undefined;
      }
    | undefined;
  /** Limit of calls to the contact's number since `dayStartUs`, by all campaigns of the account. */
  readonly maxCallsOfDay: number;
  readonly dayStartUs: number;
}

/** The end of an attempt and what becomes of its contact, in one unit of work. */
export interface AttemptFinish {
  readonly callUuid: CallUuid;
  /** Day of the attempt, `YYYY-MM-DD` in the campaign's timezone. */
  readonly day: string;
  readonly status: AttemptStatus;
  readonly answeredUs: number | undefined;
  readonly endedUs: number;
  readonly hangupCause: string;
  readonly hangupCauseCode: number;
  readonly machine: boolean | undefined;
  readonly contact: {
    readonly status: ContactStatus;
    readonly reason: ContactReason | undefined;
    readonly dueUs: number | undefined;
    /** False: nobody was rung, the attempt does not count. */
    readonly counts: boolean;
  };
  /** Effect on the count of consecutive failures of carrier or answer URL. */
  readonly failure: 'counts' | 'resets' | 'none';
}

/** A contact's new status without a call. */
export interface ContactDecision {
  readonly contactId: number;
  readonly status: ContactStatus;
  readonly reason: ContactReason;
  readonly dueUs: number | undefined;
}

export interface CampaignStore {
  insertAgent(agent: Agent): Promise<void>;
  agent(id: AgentId): Promise<Agent | undefined>;
  agents(owner: CampaignOwner, slice: Slice): Promise<Page<Agent>>;
  patchAgent(id: AgentId, patch: AgentPatch): Promise<Agent | undefined>;
  /** Refused while a campaign that is not over uses it. */
  removeAgent(id: AgentId): Promise<Result<void, 'agentInUse'>>;

  insert(campaign: Campaign): Promise<void>;
  get(id: CampaignId): Promise<Campaign | undefined>;
  /** Newest first. */
  page(filter: CampaignFilter, slice: Slice): Promise<Page<Campaign>>;
  /** Queued, running, paused, and ready with a schedule: what the dialer continues after a start. */
  unfinished(): Promise<readonly Campaign[]>;
  /** Stored with its notifications; undefined: the status was none of `from`. */
  change(
    id: CampaignId,
    from: readonly CampaignStatus[],
    change: CampaignChange,
    notifications?: readonly StoredNotification[],
  ): Promise<Campaign | undefined>;

  /** Begins a list that becomes the campaign's with `finishList`. */
  beginList(id: CampaignId): Promise<number>;
  /** A number that the list already has becomes a bad row. False: the list is not open. */
  addRows(
    listId: number,
    contacts: readonly ListedContact[],
    bad: readonly BadRow[],
  ): Promise<boolean>;
  /** Replaces the campaign's list, from one of these statuses; the campaign is `ready` if the list has a contact, else `draft`. */
  finishList(
    id: CampaignId,
    listId: number,
    from: readonly CampaignStatus[],
  ): Promise<
    { readonly campaign: Campaign; readonly contacts: number; readonly bad: number } | undefined
  >;
  /** Deletes up to `limit` rows of a list without a campaign; false: nothing is left. */
  clearList(listId: number, limit: number): Promise<boolean>;
  /** Lists without a campaign: unfinished and replaced ones. */
  strayLists(): Promise<readonly number[]>;

  badRows(id: CampaignId, after: number, limit: number): Promise<readonly BadRow[]>;
  contacts(id: CampaignId, filter: ContactFilter, slice: Slice): Promise<Page<Contact>>;
  results(id: CampaignId, after: number, limit: number): Promise<readonly ContactResult[]>;
  attempts(id: CampaignId, slice: Slice): Promise<Page<Attempt>>;
  attempt(callUuid: CallUuid): Promise<Attempt | undefined>;

  addNumbers(id: CampaignId, numbers: readonly PoolNumber[]): Promise<void>;
  numbers(id: CampaignId): Promise<readonly PoolNumber[]>;
  /** Refused when another number of the pool is the same, or there is none of that id. */
  updateNumber(
    id: CampaignId,
    number: PoolNumber,
  ): Promise<Result<void, 'unknownNumber' | 'numberExists'>>;
  removeNumber(id: CampaignId, numberId: string): Promise<boolean>;

  /** How many were not listed before. */
  addDoNotCall(scope: DoNotCallScope, numbers: readonly string[], addedUs: number): Promise<number>;
  removeDoNotCall(scope: DoNotCallScope, number: string): Promise<boolean>;
  /** By number; `search`: a part of it. */
  doNotCall(
    scope: DoNotCallScope,
    search: string | undefined,
    slice: Slice,
  ): Promise<Page<ListedNumber>>;

  /** Completed, cancelled and archived campaigns whose last change was before, oldest first. */
  overBefore(us: number, limit: number): Promise<readonly CampaignId[]>;
  /** Deletes up to `limit` rows of a campaign that is over, in the end itself; false: nothing is left. */
  erase(id: CampaignId, limit: number): Promise<boolean>;
  /** Deletes up to `limit` numbers that were listed before; returns how many. */
  purgeDoNotCall(us: number, limit: number): Promise<number>;

  /** Timezones of waiting contacts, each with its earliest due moment (0: at once). */
  dueZones(
    id: CampaignId,
  ): Promise<ReadonlyArray<{ readonly timezone: string; readonly dueUs: number }>>;
  /** Retries that are due, the longest due first; then contacts that were never called, in the order of the list. */
  due(query: DueQuery): Promise<readonly DueContact[]>;
  /** Contacts that wait to be called, now or later. */
  waiting(id: CampaignId, limit: number): Promise<readonly number[]>;
  contact(contactId: number): Promise<Contact | undefined>;
  /** The changed campaign; undefined: the contact is no longer due, or the campaign does not run. */
  begin(start: AttemptStart): Promise<Campaign | undefined>;
  /** The changed campaign; undefined: the attempt was closed before, and nothing was changed. */
  finish(
    finish: AttemptFinish,
    notifications: readonly StoredNotification[],
  ): Promise<Campaign | undefined>;
  decide(
    id: CampaignId,
    decisions: readonly ContactDecision[],
    notifications: readonly StoredNotification[],
  ): Promise<Campaign | undefined>;
  /** Attempts without an end. */
  openAttempts(): Promise<readonly Attempt[]>;
}

// ---------------------------------------------------------------- calls

export interface CampaignCall {
  readonly callUuid: CallUuid;
  readonly campaignId: CampaignId;
  readonly owner: CampaignOwner;
  readonly agent: Agent;
  readonly contact: Contact;
  readonly from: string;
}

/** How a campaign's call ended. */
export interface CampaignCallEnd {
  readonly answeredUs: number | undefined;
  readonly endedUs: number;
  readonly hangupCause: string;
  readonly hangupCauseCode: number;
  readonly machine: boolean | undefined;
  /**
   * Who answered was left alone: no stream, and nobody else, within two seconds. Undefined: it does not count, because a
   * machine answered, or whoever answered hung up before.
   */
  readonly abandoned?: boolean | undefined;
  /** Set when there was no call: nobody was rung, and the attempt does not count. */
  readonly refused: PlacingRefusal['kind'] | undefined;
}

/** Why no call is placed now. */
export type PlacingRefusal =
  /** A limit of account, node or carriers is full; try again. */
  | {
      readonly kind: 'full';
      readonly of: 'account' | 'carrier';
      readonly retryAfterMs: number | undefined;
    }
  /** This node takes no calls now (drain, store). */
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'insufficientFunds' | 'accountInactive' | 'unknownCallerId' }
  | { readonly kind: 'barred' | 'invalidNumber'; readonly detail: string }
  /** `begin` said no. */
  | { readonly kind: 'stale' };

export interface PlacedCampaignCall {
  readonly ended: Promise<CampaignCallEnd>;
  /** Resolves when the far end rings or answers, or the call ends. From then on the call counts. Default: at the end. */
  readonly reached?: Promise<void>;
}

export interface CallPlacing {
  /**
   * Takes a slot, then asks `begin`, then dials. Resolves once `begin` was asked; `ended` when the call's record is
   * written. Nothing is held of what is refused; a rejection means that nothing was sent.
   */
  place(
    call: CampaignCall,
    begin: () => Promise<boolean>,
  ): Promise<Result<PlacedCampaignCall, PlacingRefusal>>;
  /** `act` is called when a slot may have become free. */
  onFree(act: () => void): void;
  /** Whether the account may show the number. */
  mayPresent(accountId: AccountId, number: string): Promise<boolean>;
  /** Why the owner could not make any call: its state, its money. `number`: the money must suffice for a call to it. */
  obstacle(
    owner: CampaignOwner,
    number: string | undefined,
  ): Promise<'accountInactive' | 'insufficientFunds' | undefined>;
  /** The end of a call of an earlier process, from its record; undefined: there was no call. */
  endOf(callUuid: CallUuid): Promise<CampaignCallEnd | undefined>;
}

// ---------------------------------------------------------------- telling

export interface CampaignWebhooks {
  /** To be stored with the change that it reports; undefined: there is no `notify_url`. */
  compose(campaign: Campaign, event: CampaignEvent): StoredNotification | undefined;
  /** Delivers a stored one, after the earlier ones of the campaign. */
  deliver(notification: StoredNotification): void;
}
