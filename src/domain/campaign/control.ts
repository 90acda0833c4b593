/**
 * Operations on campaigns. Shapes and ranges were checked before; what needs the account is checked here. Campaigns and agents
 * of another owner are unknown to the caller.
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
/** A key that is present is set. */
export type CampaignPatch = Partial<CampaignPlan>;

export type CampaignRefusal =
  | { readonly kind: 'unknownCampaign' | 'unknownAgent' | 'unknownNumber' | 'unknownAttempt' }
  /** The pool has the number already. */
  | { readonly kind: 'numberExists' }
  /** Campaigns that are not over use the agent. */
  | { readonly kind: 'agentInUse' }
  /** Not from this status (409). */
  | { readonly kind: 'wrongState'; readonly status: CampaignStatus; readonly detail: string }
  /** Resumed while the cause of the pause is still there (409). */
  | { readonly kind: 'stillPaused'; readonly reason: PauseReason; readonly detail: string }
  /** A field of the plan is invalid (400). */
  | { readonly kind: 'invalid'; readonly field: string; readonly detail: string }
  | { readonly kind: 'tooMany'; readonly what: string; readonly limit: number };

/** An upload under way; its list is visible once it is finished. */
export interface Upload {
  readonly campaignId: CampaignId;
  readonly listId: number;
}

/** A row of an upload: a contact, or why it is refused. */
export type UploadRow = NewContact | BadRow;

export interface UploadSummary {
  readonly validContacts: number;
  readonly invalidRows: number;
  readonly totalRows: number;
}

export interface CampaignFilter extends CampaignOwner {
  /** Archived ones alone, or all others. */
  readonly archived: boolean;
}

export interface ContactFilter {
  readonly status?: ContactStatus | undefined;
  /** Part of a number. */
  readonly search?: string | undefined;
}

/** Of one account, or the operator's for all. */
export type DoNotCallScope = AccountId | 'operator';

/** A number that no campaign calls. */
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
  /** Newest first. */
  list(filter: CampaignFilter, slice: Slice): Promise<Page<CampaignView>>;
  /** In `draft` and `ready` alone. */
  update(owner: CampaignOwner, id: CampaignId, patch: CampaignPatch): Answer<CampaignView>;
  /** `atUs` undefined removes the schedule. In `draft` and `ready` alone. */
  schedule(owner: CampaignOwner, id: CampaignId, atUs: number | undefined): Answer<CampaignView>;
  start(owner: CampaignOwner, id: CampaignId): Answer<CampaignView>;
  pause(owner: CampaignOwner, id: CampaignId): Answer<CampaignView>;
  resume(owner: CampaignOwner, id: CampaignId): Answer<CampaignView>;
  cancel(owner: CampaignOwner, id: CampaignId): Answer<CampaignView>;
  archive(owner: CampaignOwner, id: CampaignId): Answer<CampaignView>;
  /** The same plan and pool as a draft, without contacts and schedule. */
  clone(owner: CampaignOwner, id: CampaignId, name: string): Answer<CampaignView>;

  /** In `draft` and `ready` alone; what is not finished is forgotten at the next start. */
  beginUpload(owner: CampaignOwner, id: CampaignId): Answer<Upload>;
  /** At most 1000 rows at a time, in the order of the list. */
  addRows(upload: Upload, rows: readonly UploadRow[]): Answer<void>;
  /** Replaces the list; a draft with a contact becomes ready. */
  finishUpload(upload: Upload): Answer<UploadSummary>;
  abandonUpload(upload: Upload): Promise<void>;
  /** Refused rows of the list, after row `after`. */
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
  /** Every attempt, newest first. */
  attempts(owner: CampaignOwner, id: CampaignId, slice: Slice): Answer<Page<Attempt>>;
  attempt(owner: CampaignOwner, callUuid: CallUuid): Answer<Attempt>;
  /** The next contacts after row `after`, each with its last attempt. */
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
  /** Counters begin anew with another number. */
  updateNumber(
    owner: CampaignOwner,
    id: CampaignId,
    numberId: string,
    patch: PoolNumberPatch,
  ): Answer<PoolNumber>;
  removeNumber(owner: CampaignOwner, id: CampaignId, numberId: string): Answer<void>;

  /** Numbers that no campaign calls. */
  addDoNotCall(scope: DoNotCallScope, numbers: readonly string[]): Answer<number>;
  removeDoNotCall(scope: DoNotCallScope, number: string): Answer<void>;
  doNotCall(
    scope: DoNotCallScope,
    search: string | undefined,
    slice: Slice,
  ): Promise<Page<ListedNumber>>;

  /** Campaigns of the main account that take capacity now. */
  running(accountId: AccountId): Promise<readonly RunningCampaign[]>;
}
