/** What campaigns ask of the outside: a store, a way to place calls, and somebody who tells `notify_url`. */
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

/** What changes about a campaign besides its counters. A key that is present is set. */
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

/** A contact that may be called now, and what speaks against it. */
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
  /** Before this one, as the contact was read: one that was called meanwhile is not called again. */
  readonly attemptsBefore: number;
  readonly from: string;
  readonly placedUs: number;
  /** The pool's number that is used, and the day that it counts for. */
  readonly poolNumber: { readonly id: string; readonly day: string } | undefined;
  /** The contact's number is not called more often since that moment, by whatever campaign of the account. */
  readonly maxCallsOfDay: number;
  readonly dayStartUs: number;
}

/** The end of an attempt and what becomes of its contact, in one unit of work. */
export interface AttemptFinish {
  readonly callUuid: CallUuid;
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
  /** Of carrier or answer URL: in a row they are counted. */
  readonly failure: 'counts' | 'resets' | 'none';
}

/** What becomes of a contact without a call. */
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
  /** Queued, running, paused, and ready with a schedule: what the dialer has to know of after a start. */
  unfinished(): Promise<readonly Campaign[]>;
  /** Only from one of these states, with what is told of it; undefined: it was in another. */
  change(
    id: CampaignId,
    from: readonly CampaignStatus[],
    change: CampaignChange,
    notifications?: readonly StoredNotification[],
  ): Promise<Campaign | undefined>;

  /** An empty list of the campaign, not its own yet. */
  beginList(id: CampaignId): Promise<number>;
  /** A number that the list has already becomes a bad row. */
  addRows(
    listId: number,
    contacts: readonly ListedContact[],
    bad: readonly BadRow[],
  ): Promise<boolean>;
  /** Makes it the campaign's list while that is in one of these states; `ready` when it has a contact, else `draft`. */
  finishList(
    id: CampaignId,
    listId: number,
    from: readonly CampaignStatus[],
  ): Promise<
    { readonly campaign: Campaign; readonly contacts: number; readonly bad: number } | undefined
  >;
  /** Deletes some of what belongs to a list that is no campaign's; `false` when nothing is left. */
  clearList(listId: number, limit: number): Promise<boolean>;
  /** Lists that are no campaign's. */
  strayLists(): Promise<readonly number[]>;

  badRows(id: CampaignId, after: number, limit: number): Promise<readonly BadRow[]>;
  contacts(id: CampaignId, filter: ContactFilter, slice: Slice): Promise<Page<Contact>>;
  results(id: CampaignId, after: number, limit: number): Promise<readonly ContactResult[]>;
  attempts(id: CampaignId, slice: Slice): Promise<Page<Attempt>>;
  attempt(callUuid: CallUuid): Promise<Attempt | undefined>;

  addNumbers(id: CampaignId, numbers: readonly PoolNumber[]): Promise<void>;
  numbers(id: CampaignId): Promise<readonly PoolNumber[]>;
  /** Refused for a number that the pool has, or has not. */
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

  /** Completed, cancelled and archived ones that nothing has changed since, the oldest first. */
  overBefore(us: number, limit: number): Promise<readonly CampaignId[]>;
  /** Deletes some of what belongs to a campaign that is over, at last itself; `false` when nothing is left. */
  erase(id: CampaignId, limit: number): Promise<boolean>;
  /** Numbers that were listed before; how many, `limit` at the most. */
  purgeDoNotCall(us: number, limit: number): Promise<number>;

  /** Timezones of the contacts that still may be called, each with the earliest moment (0: at once). */
  dueZones(
    id: CampaignId,
  ): Promise<ReadonlyArray<{ readonly timezone: string; readonly dueUs: number }>>;
  /** Retries that are due, the longest due first; then contacts that were never called, in the order of the list. */
  due(query: DueQuery): Promise<readonly DueContact[]>;
  /** Contacts that wait to be called, now or later. */
  waiting(id: CampaignId, limit: number): Promise<readonly number[]>;
  contact(contactId: number): Promise<Contact | undefined>;
  /** The campaign as it is then; undefined: the contact is not to be called any more, or the campaign does not run. */
  begin(start: AttemptStart): Promise<Campaign | undefined>;
  /** Once: an attempt that is closed stays as it is. The campaign as it is then. */
  finish(
    finish: AttemptFinish,
    notifications: readonly StoredNotification[],
  ): Promise<Campaign | undefined>;
  decide(
    id: CampaignId,
    decisions: readonly ContactDecision[],
    notifications: readonly StoredNotification[],
  ): Promise<Campaign | undefined>;
  /** Attempts that no end was written of. */
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
  /** Its record says why there was no call at all. */
  readonly refused: PlacingRefusal['kind'] | undefined;
}

/** Why no call is placed now. */
export type PlacingRefusal =
  /** A limit of the account and this node, or of the carriers: worth asking again. */
  | {
      readonly kind: 'full';
      readonly of: 'account' | 'carrier';
      readonly retryAfterMs: number | undefined;
    }
  /** This node takes no calls for a reason of its own. */
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'insufficientFunds' | 'accountInactive' | 'unknownCallerId' }
  | { readonly kind: 'barred' | 'invalidNumber'; readonly detail: string }
  /** `begin` said no. */
  | { readonly kind: 'stale' };

export interface CallPlacing {
  /**
   * Takes a slot, then asks `begin`, then dials. Resolves once `begin` was asked; `ended` when the call's record is
   * written. Nothing is held of what is refused; a rejection means that nothing was sent.
   */
  place(
    call: CampaignCall,
    begin: () => Promise<boolean>,
  ): Promise<Result<{ readonly ended: Promise<CampaignCallEnd> }, PlacingRefusal>>;
  /** `act` is called when a slot may have become free. */
  onFree(act: () => void): void;
  /** Whether the account may show the number. */
  mayPresent(accountId: AccountId, number: string): Promise<boolean>;
  /** Why the account could not make any call: its state, its money. */
  obstacle(accountId: AccountId): Promise<'accountInactive' | 'insufficientFunds' | undefined>;
  /** The end of a call of an earlier process, from its record; undefined: there was no call. */
  endOf(callUuid: CallUuid): Promise<CampaignCallEnd | undefined>;
}

// ---------------------------------------------------------------- telling

export interface CampaignWebhooks {
  /** As it is stored with what it tells of; undefined: nobody wants to know. */
  compose(campaign: Campaign, event: CampaignEvent): StoredNotification | undefined;
  /** Delivers one that is stored, after the earlier ones of the campaign. */
  deliver(notification: StoredNotification): void;
}
