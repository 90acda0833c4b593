/** Dependencies of campaigns: the store, calls, and webhooks. */
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

/** A change of a campaign. A key that is present is set. Counters change only together with contacts. */
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

/** A due contact with the facts that may forbid the call. */
export interface DueContact {
  readonly contact: Contact;
  readonly doNotCall: boolean;
  /** Attempts to this number by all campaigns of the account since the start of the day. */
  readonly callsOfDay: number;
}

/** A contact found by its number. */
export interface FoundContact {
  readonly accountId: AccountId;
  readonly campaignId: CampaignId;
  readonly contact: Contact;
}

export interface DueQuery {
  readonly campaignId: CampaignId;
  /** Timezone whose window is open. Empty for contacts with the campaign's timezone. */
  readonly timezone: string;
  readonly nowUs: number;
  readonly dayStartUs: number;
  readonly limit: number;
}

/** Start of an attempt, written before anything is sent. */
export interface AttemptStart {
  readonly callUuid: CallUuid;
  readonly campaignId: CampaignId;
  readonly contactId: number;
  /** Number of attempts as read. If it differs in the store, the contact was called in between and the attempt is refused. */
  readonly attemptsBefore: number;
  readonly from: string;
  readonly placedUs: number;
  /** Pool number to use, the day of the use, and its limits. The attempt is refused if a limit is reached. */
  readonly poolNumber:
    | {
        readonly id: string;
        /** Day `YYYY-MM-DD` in the campaign's timezone. */
        readonly day: string;
        readonly maxCalls: number | undefined;
        readonly maxCallsPerDay: number | undefined;
      }
    | undefined;
  /** Maximum number of calls to the contact's number since `dayStartUs`, over all campaigns of the account. */
  readonly maxCallsOfDay: number;
  readonly dayStartUs: number;
}

/** End of an attempt and the contact's next status, stored in one transaction. */
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
    /** False if no phone rang, so that the attempt does not count. */
    readonly counts: boolean;
  };
  /** Effect on the number of consecutive failures of carrier or answer URL. */
  readonly failure: 'counts' | 'resets' | 'none';
}

/** New status of a contact without a call. */
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
  /** Deletes an agent. Refused while an unfinished campaign uses it. */
  removeAgent(id: AgentId): Promise<Result<void, 'agentInUse'>>;

  insert(campaign: Campaign): Promise<void>;
  get(id: CampaignId): Promise<Campaign | undefined>;
  /** As `get`, but in order with the changes: its answer is not older than that of a change that was answered before. */
  current(id: CampaignId): Promise<Campaign | undefined>;
  /** Returns a page, newest first. */
  page(filter: CampaignFilter, slice: Slice): Promise<Page<Campaign>>;
  /** Returns the campaigns that the dialer resumes after a start: queued, running, paused, and ready with a schedule. */
  unfinished(): Promise<readonly Campaign[]>;
  /** Changes a campaign and stores its notifications. Returns undefined if its status was not in `from`. */
  change(
    id: CampaignId,
    from: readonly CampaignStatus[],
    change: CampaignChange,
    notifications?: readonly StoredNotification[],
  ): Promise<Campaign | undefined>;

  /** Creates a contact list. It becomes the campaign's list with `finishList`. */
  beginList(id: CampaignId): Promise<number>;
  /** Adds rows. A number that the list already contains becomes a bad row. Returns false if the list is not open. */
  addRows(
    listId: number,
    contacts: readonly ListedContact[],
    bad: readonly BadRow[],
  ): Promise<boolean>;
  /**
   * Replaces the campaign's list if its status is in `from`. The campaign becomes `ready` if the list has a contact,
   * otherwise `draft`.
   */
  finishList(
    id: CampaignId,
    listId: number,
    from: readonly CampaignStatus[],
  ): Promise<
    { readonly campaign: Campaign; readonly contacts: number; readonly bad: number } | undefined
  >;
  /** Deletes up to `limit` rows of a list without a campaign. Returns false once the list is empty. */
  clearList(listId: number, limit: number): Promise<boolean>;
  /** Returns lists without a campaign: unfinished and replaced ones. */
  strayLists(): Promise<readonly number[]>;

  badRows(id: CampaignId, after: number, limit: number): Promise<readonly BadRow[]>;
  contacts(id: CampaignId, filter: ContactFilter, slice: Slice): Promise<Page<Contact>>;
  results(id: CampaignId, after: number, limit: number): Promise<readonly ContactResult[]>;
  attempts(id: CampaignId, slice: Slice): Promise<Page<Attempt>>;
  attempt(callUuid: CallUuid): Promise<Attempt | undefined>;

  /** Adds the numbers that the pool does not have. Adds none if the pool would then have more than `max`. */
  addNumbers(
    id: CampaignId,
    numbers: readonly PoolNumber[],
    max: number,
  ): Promise<Result<void, 'tooMany'>>;
  numbers(id: CampaignId): Promise<readonly PoolNumber[]>;
  /** Changes a pool number. Refused if the pool contains the same number or has no entry with that ID. */
  updateNumber(
    id: CampaignId,
    number: PoolNumber,
  ): Promise<Result<void, 'unknownNumber' | 'numberExists'>>;
  removeNumber(id: CampaignId, numberId: string): Promise<boolean>;

  /** Adds all numbers, or none if the list would have more than `max`. Returns how many were not listed before. */
  addDoNotCall(
    scope: DoNotCallScope,
    numbers: readonly string[],
    addedUs: number,
    max: number,
  ): Promise<Result<number, 'tooMany'>>;
  removeDoNotCall(scope: DoNotCallScope, number: string): Promise<boolean>;
  /** Lists numbers in order. `search` is a substring. */
  doNotCall(
    scope: DoNotCallScope,
    search: string | undefined,
    slice: Slice,
  ): Promise<Page<ListedNumber>>;

  /** Returns contacts with this number in all campaigns and accounts, with IDs above `after`, in ascending order. */
  contactsOf(number: string, after: number, limit: number): Promise<readonly FoundContact[]>;
  /**
   * Erases up to `limit` contacts with this number, and its attempts. The contacts stay as rows without personal data,
   * and are not called anymore. Returns the number of contacts.
   */
  eraseContacts(number: string, limit: number): Promise<number>;

  /** Returns completed, cancelled and archived campaigns last changed before `us`, oldest first. */
  overBefore(us: number, limit: number): Promise<readonly CampaignId[]>;
  /** Deletes up to `limit` rows of a finished campaign, and finally the campaign itself. Returns false once it is deleted. */
  erase(id: CampaignId, limit: number): Promise<boolean>;
  /** Deletes up to `limit` numbers listed before `us`. Returns the number deleted. */
  purgeDoNotCall(us: number, limit: number): Promise<number>;

  /** Returns the timezones of waiting contacts, each with its earliest due time (0: immediately). */
  dueZones(
    id: CampaignId,
  ): Promise<ReadonlyArray<{ readonly timezone: string; readonly dueUs: number }>>;
  /** Returns due contacts: first retries, longest due first, then contacts never called, in list order. */
  due(query: DueQuery): Promise<readonly DueContact[]>;
  /**
   * Marks up to `limit` due contacts that cannot be read as failed. Returns the changed campaign; undefined if there is no such
   * contact.
   */
  failUnreadable(
    query: Pick<DueQuery, 'campaignId' | 'nowUs' | 'limit'>,
  ): Promise<Campaign | undefined>;
  /** Returns the IDs of contacts that are waiting, due or not. */
  waiting(id: CampaignId, limit: number): Promise<readonly number[]>;
  contact(contactId: number): Promise<Contact | undefined>;
  /**
   * Stores the start of an attempt and returns the changed campaign. Undefined if the contact is no longer due or the
   * campaign is not running.
   */
  begin(start: AttemptStart): Promise<Campaign | undefined>;
  /** Stores the end of an attempt and returns the changed campaign. Undefined if the attempt was closed before. */
  finish(
    finish: AttemptFinish,
    notifications: readonly StoredNotification[],
  ): Promise<Campaign | undefined>;
  decide(
    id: CampaignId,
    decisions: readonly ContactDecision[],
    notifications: readonly StoredNotification[],
  ): Promise<Campaign | undefined>;
  /** Returns the attempts without an end. */
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

/** End of a campaign's call. */
export interface CampaignCallEnd {
  readonly answeredUs: number | undefined;
  readonly endedUs: number;
  readonly hangupCause: string;
  readonly hangupCauseCode: number;
  readonly machine: boolean | undefined;
  /**
   * True if the person who answered reached neither a stream nor another party within 2 s. Undefined if the call does
   * not count: a machine answered, or the person hung up before.
   */
  readonly abandoned?: boolean | undefined;
  /** Refusal if there was no call: no phone rang, and the attempt does not count. */
  readonly refused: PlacingRefusal['kind'] | undefined;
}

/** Reason why a call cannot be placed now. */
export type PlacingRefusal =
  /** A limit of account, node or carriers is full; try again later. */
  | {
      readonly kind: 'full';
      readonly of: 'account' | 'carrier';
      readonly retryAfterMs: number | undefined;
    }
  /** This node accepts no calls now (drain, store). */
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'insufficientFunds' | 'accountInactive' | 'unknownCallerId' }
  | { readonly kind: 'barred' | 'invalidNumber'; readonly detail: string }
  /** `begin` returned false. */
  | { readonly kind: 'stale' };

interface PlacedCampaignCall {
  readonly ended: Promise<CampaignCallEnd>;
  /** Resolves when the called party rings or answers, or the call ends. From then on the call counts. Default: at the end. */
  readonly reached?: Promise<void>;
}

export interface CallPlacing {
  /**
   * Reserves a slot, then calls `begin`, then dials. Resolves after `begin` returned; `ended` resolves when the call
   * record is written. A refused call holds no slot. A rejection means that nothing was sent.
   */
  place(
    call: CampaignCall,
    begin: () => Promise<boolean>,
  ): Promise<Result<PlacedCampaignCall, PlacingRefusal>>;
  /** Registers a callback that runs when a slot may have become free. */
  onFree(act: () => void): void;
  /** Returns whether the account may present the number. */
  mayPresent(accountId: AccountId, number: string): Promise<boolean>;
  /**
   * Returns why the owner cannot place any call: its status or its balance. With `number`, the balance must cover a
   * call to it.
   */
  obstacle(
    owner: CampaignOwner,
    number: string | undefined,
  ): Promise<'accountInactive' | 'insufficientFunds' | undefined>;
  /** Returns the end of a call of an earlier process from its record. Undefined if there was no call. */
  endOf(callUuid: CallUuid): Promise<CampaignCallEnd | undefined>;
}

// ---------------------------------------------------------------- webhooks

export interface CampaignWebhooks {
  /** Builds the notification to be stored with the change that it reports. Undefined without a `notify_url`. */
  compose(campaign: Campaign, event: CampaignEvent): StoredNotification | undefined;
  /** Delivers a stored notification after the earlier ones of the campaign. */
  deliver(notification: StoredNotification): void;
}
