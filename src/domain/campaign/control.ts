/**
 * Operations on campaigns. The caller has validated shapes and ranges; checks that need the account are done here.
 * Campaigns and agents of another owner are reported as unknown.
 */
import type { AccountId, AgentId, CallUuid, CampaignId } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import type { Result } from '../../base/result.ts';
import type {
  Agent,
  Attempt,
  BadRow,
  CampaignOwner,
  CampaignPlan,
  CampaignStatus,
  CampaignView,
  Contact,
  ContactResult,
  ContactStatus,
  NewContact,
  PauseReason,
  PoolNumber,
  RunningCampaign,
} from './records.ts';

export type NewAgent = Omit<Agent, 'id' | 'accountId' | 'subAccount' | 'createdUs' | 'updatedUs'>;
export type AgentPatch = Partial<NewAgent>;
/** Changes of a campaign. A key that is present is set. */
export type CampaignPatch = Partial<CampaignPlan>;

export type CampaignRefusal =
  | { readonly kind: 'unknownCampaign' | 'unknownAgent' | 'unknownNumber' | 'unknownAttempt' }
  /** The pool already contains the number. */
  | { readonly kind: 'numberExists' }
  /** Unfinished campaigns use the agent. */
  | { readonly kind: 'agentInUse' }
  /** The command is not allowed in the current status (409). */
  | { readonly kind: 'wrongState'; readonly status: CampaignStatus; readonly detail: string }
  /** The cause of the pause still exists (409). */
  | { readonly kind: 'stillPaused'; readonly reason: PauseReason; readonly detail: string }
  /** A field of the plan is invalid (400). */
  | { readonly kind: 'invalid'; readonly field: string; readonly detail: string }
  | { readonly kind: 'tooMany'; readonly what: string; readonly limit: number };

/** An upload in progress. Its list becomes visible once it is finished. */
export interface Upload {
  readonly campaignId: CampaignId;
  readonly listId: number;
}

/** A row of an upload: a contact, or a refused row with its reason. */
export type UploadRow = NewContact | BadRow;

export interface UploadSummary {
  readonly validContacts: number;
  readonly invalidRows: number;
  readonly totalRows: number;
}

export interface CampaignFilter extends CampaignOwner {
  /** True selects archived campaigns, false all others. */
  readonly archived: boolean;
}

export interface ContactFilter {
  readonly status?: ContactStatus | undefined;
  /** Substring of a number. */
  readonly search?: string | undefined;
}

/** Scope of a do-not-call list: one account, or all accounts (the operator's list). */
export type DoNotCallScope = AccountId | 'operator';

/** A number on a do-not-call list. */
export interface ListedNumber {
  readonly number: string;
  readonly addedUs: number;
}

export type PoolNumberPatch = Partial<Pick<PoolNumber, 'number' | 'label'>>;

type Answer<T> = Promise<Result<T, CampaignRefusal>>;

export interface CampaignControl {
  createAgent(owner: CampaignOwner, agent: NewAgent): Answer<Agent>;
  agent(owner: CampaignOwner, id: AgentId): Answer<Agent>;
  agents(owner: CampaignOwner, slice: Slice): Promise<Page<Agent>>;
  updateAgent(owner: CampaignOwner, id: AgentId, patch: AgentPatch): Answer<Agent>;
  removeAgent(owner: CampaignOwner, id: AgentId): Answer<void>;

  create(owner: CampaignOwner, plan: CampaignPlan): Answer<CampaignView>;
  get(owner: CampaignOwner, id: CampaignId): Answer<CampaignView>;
  /** Returns a page, newest first. */
  list(filter: CampaignFilter, slice: Slice): Promise<Page<CampaignView>>;
  /** Changes the plan. Allowed only in `draft` and `ready`. */
  update(owner: CampaignOwner, id: CampaignId, patch: CampaignPatch): Answer<CampaignView>;
  /** Sets the scheduled start. `atUs` undefined removes it. Allowed only in `draft` and `ready`. */
  schedule(owner: CampaignOwner, id: CampaignId, atUs: number | undefined): Answer<CampaignView>;
  start(owner: CampaignOwner, id: CampaignId): Answer<CampaignView>;
  pause(owner: CampaignOwner, id: CampaignId): Answer<CampaignView>;
  resume(owner: CampaignOwner, id: CampaignId): Answer<CampaignView>;
  cancel(owner: CampaignOwner, id: CampaignId): Answer<CampaignView>;
  archive(owner: CampaignOwner, id: CampaignId): Answer<CampaignView>;
  /** Creates a draft with the same plan and pool, without contacts and schedule. */
  clone(owner: CampaignOwner, id: CampaignId, name: string): Answer<CampaignView>;

  /** Starts an upload. Allowed only in `draft` and `ready`. Unfinished uploads are discarded at the next start. */
  beginUpload(owner: CampaignOwner, id: CampaignId): Answer<Upload>;
  /** Adds at most 1000 rows per call, in list order. */
  addRows(upload: Upload, rows: readonly UploadRow[]): Answer<void>;
  /** Replaces the contact list. A draft with at least one contact becomes ready. */
  finishUpload(upload: Upload): Answer<UploadSummary>;
  abandonUpload(upload: Upload): Promise<void>;
  /** Returns refused rows of the list after row `after`. */
  badRows(
    owner: CampaignOwner,
    id: CampaignId,
    after: number,
    limit: number,
  ): Answer<readonly BadRow[]>;

  contacts(
    owner: CampaignOwner,
    id: CampaignId,
    filter: ContactFilter,
    slice: Slice,
  ): Answer<Page<Contact>>;
  /** Returns a page of all attempts, newest first. */
  attempts(owner: CampaignOwner, id: CampaignId, slice: Slice): Answer<Page<Attempt>>;
  attempt(owner: CampaignOwner, callUuid: CallUuid): Answer<Attempt>;
  /** Returns the next contacts after row `after`, each with its last attempt. */
  results(
    owner: CampaignOwner,
    id: CampaignId,
    after: number,
    limit: number,
  ): Answer<readonly ContactResult[]>;

  addNumbers(
    owner: CampaignOwner,
    id: CampaignId,
    numbers: ReadonlyArray<Pick<PoolNumber, 'number' | 'label'>>,
  ): Answer<readonly PoolNumber[]>;
  numbers(owner: CampaignOwner, id: CampaignId): Answer<readonly PoolNumber[]>;
  /** Changes a pool number. Its counters restart if the number itself changes. */
  updateNumber(
    owner: CampaignOwner,
    id: CampaignId,
    numberId: string,
    patch: PoolNumberPatch,
  ): Answer<PoolNumber>;
  removeNumber(owner: CampaignOwner, id: CampaignId, numberId: string): Answer<void>;

  /** Adds numbers that no campaign may call. Returns the number of new entries. */
  addDoNotCall(scope: DoNotCallScope, numbers: readonly string[]): Answer<number>;
  removeDoNotCall(scope: DoNotCallScope, number: string): Answer<void>;
  doNotCall(
    scope: DoNotCallScope,
    search: string | undefined,
    slice: Slice,
  ): Promise<Page<ListedNumber>>;

  /** Returns the campaigns of the main account that currently use capacity. */
  running(accountId: AccountId): Promise<readonly RunningCampaign[]>;
}
