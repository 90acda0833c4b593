/** Queries and commands for campaign owners (dialect §3.11). The dialer places the calls. */
import { changedMembers } from '../../base/changed-members.ts';
import { wallUs } from '../../base/clock.ts';
import type { AccountId, AgentId, CallUuid, CampaignId } from '../../base/ids.ts';
import { newCampaignId } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { Agents } from './agents.ts';
import { Commands, OPEN } from './commands.ts';
import { DoNotCall } from './do-not-call.ts';
import { owns } from './ownership.ts';
import { checkPlan, newCampaign, planOf } from './plan.ts';
import { PoolNumbers } from './pool-numbers.ts';
import type { CampaignServiceNeeds } from './service-needs.ts';
import type {
  Agent,
  AgentPatch,
  Attempt,
  BadRow,
  Campaign,
  CampaignControl,
  CampaignFilter,
  CampaignOwner,
  CampaignPatch,
  CampaignPlan,
  CampaignRefusal,
  CampaignView,
  Contact,
  ContactFilter,
  ContactResult,
  DoNotCallScope,
  ListedNumber,
  NewAgent,
  PoolNumber,
  PoolNumberPatch,
  RunningCampaign,
  Upload,
  UploadRow,
  UploadSummary,
} from './types.ts';
import { Uploads } from './uploads.ts';

export { Dialer } from './dialer.ts';
export type { CallPlacing } from './needs.ts';
export { createCallPlacing, type PlacingNeeds } from './placing.ts';
export { expireCampaigns } from './retention.ts';
export type { CampaignServiceNeeds, DialerControl } from './service-needs.ts';
export { SharedDialer } from './shared-dialer.ts';
export { createCampaignWebhooks } from './webhooks.ts';

type Answer<T> = Promise<Result<T, CampaignRefusal>>;

const UNKNOWN: Result<never, CampaignRefusal> = err({ kind: 'unknownCampaign' });
export class CampaignService implements CampaignControl {
  readonly #needs: CampaignServiceNeeds;
  readonly #commands: Commands;
  readonly #agents: Agents;
  readonly #uploads: Uploads;
  readonly #pool: PoolNumbers;
  readonly #doNotCall: DoNotCall;

  constructor(needs: CampaignServiceNeeds) {
    this.#needs = needs;
    this.#commands = new Commands(needs);
    this.#agents = new Agents(needs);
    this.#uploads = new Uploads(needs);
    this.#pool = new PoolNumbers(needs);
    this.#doNotCall = new DoNotCall(needs);
  }

  // ---------------------------------------------------------------- agents

  createAgent(owner: CampaignOwner, agent: NewAgent): Answer<Agent> {
    return this.#agents.create(owner, agent);
  }

  agent(owner: CampaignOwner, id: AgentId): Answer<Agent> {
    return this.#agents.get(owner, id);
  }

  agents(owner: CampaignOwner, slice: Slice): Promise<Page<Agent>> {
    return this.#needs.store.agents(owner, slice);
  }

  updateAgent(owner: CampaignOwner, id: AgentId, patch: AgentPatch): Answer<Agent> {
    return this.#agents.update(owner, id, patch);
  }

  removeAgent(owner: CampaignOwner, id: AgentId): Answer<void> {
    return this.#agents.remove(owner, id);
  }

  // ---------------------------------------------------------------- plans

  async create(owner: CampaignOwner, plan: CampaignPlan): Answer<CampaignView> {
    const checked = await checkPlan(this.#needs, owner, plan);
    if (!checked.ok) return checked;
    const id = newCampaignId(this.#needs.random);
    const campaign = newCampaign(checked.value, owner, id, this.#nowUs());
    await this.#needs.store.insert(campaign);
    return ok(this.#commands.view(campaign));
  }

  async get(owner: CampaignOwner, id: CampaignId): Answer<CampaignView> {
    const campaign = await this.#own(owner, id);
    return campaign === undefined ? UNKNOWN : ok(this.#commands.view(campaign));
  }

  async list(filter: CampaignFilter, slice: Slice): Promise<Page<CampaignView>> {
    const { items, total } = await this.#needs.store.page(filter, slice);
    return { items: items.map((campaign) => this.#commands.view(campaign)), total };
  }

  async update(owner: CampaignOwner, id: CampaignId, patch: CampaignPatch): Answer<CampaignView> {
    const campaign = await this.#own(owner, id);
    if (campaign === undefined) return UNKNOWN;
    const before = planOf(campaign);
    const checked = await checkPlan(this.#needs, owner, { ...before, ...patch }, campaign);
    if (!checked.ok) return checked;
    return this.#commands.changePlan(campaign, changedMembers(before, checked.value));
  }

  schedule(owner: CampaignOwner, id: CampaignId, atUs: number | undefined): Answer<CampaignView> {
    return this.update(owner, id, { scheduledUs: atUs });
  }

  async clone(owner: CampaignOwner, id: CampaignId, name: string): Answer<CampaignView> {
    const campaign = await this.#own(owner, id);
    if (campaign === undefined) return UNKNOWN;
    const plan = { ...planOf(campaign), name, scheduledUs: undefined };
    const isOver = plan.expiresUs !== undefined && plan.expiresUs <= this.#nowUs();
    const copied = await this.create(owner, isOver ? { ...plan, expiresUs: undefined } : plan);
    if (!copied.ok) return copied;
    const numbers = await this.#needs.store.numbers(id);
    if (numbers.length > 0) await this.#pool.add(copied.value.campaign, numbers);
    return copied;
  }

  // ---------------------------------------------------------------- commands

  start(owner: CampaignOwner, id: CampaignId): Answer<CampaignView> {
    return this.#with(owner, id, (campaign) => this.#commands.start(campaign));
  }

  pause(owner: CampaignOwner, id: CampaignId): Answer<CampaignView> {
    return this.#with(owner, id, (campaign) => this.#commands.pause(campaign));
  }

  resume(owner: CampaignOwner, id: CampaignId): Answer<CampaignView> {
    return this.#with(owner, id, (campaign) => this.#commands.resume(campaign));
  }

  cancel(owner: CampaignOwner, id: CampaignId): Answer<CampaignView> {
    return this.#with(owner, id, (campaign) => this.#commands.cancel(campaign));
  }

  archive(owner: CampaignOwner, id: CampaignId): Answer<CampaignView> {
    return this.#with(owner, id, (campaign) => this.#commands.archive(campaign));
  }

  // ---------------------------------------------------------------- contacts

  async beginUpload(owner: CampaignOwner, id: CampaignId): Answer<Upload> {
    const campaign = await this.#own(owner, id);
    if (campaign === undefined) return UNKNOWN;
    if (!OPEN.includes(campaign.status)) return this.#commands.refused(id, 'given contacts');
    return this.#uploads.begin(campaign);
  }

  addRows(upload: Upload, rows: readonly UploadRow[]): Answer<void> {
    return this.#uploads.add(upload, rows);
  }

  async finishUpload(upload: Upload): Answer<UploadSummary> {
    const finished = await this.#uploads.finish(upload, OPEN);
    if (finished === undefined) return this.#commands.refused(upload.campaignId, 'given contacts');
    await this.#needs.dialer.changed(finished.campaign);
    return ok(finished.summary);
  }

  abandonUpload(upload: Upload): Promise<void> {
    return this.#uploads.abandon(upload);
  }

  /** Deletes unfinished uploads of an earlier process, and contact lists without a campaign. */
  forgetUploads(): Promise<void> {
    return this.#uploads.clearStray();
  }

  async badRows(
    owner: CampaignOwner,
    id: CampaignId,
    after: number,
    limit: number,
  ): Answer<readonly BadRow[]> {
    return this.#read(owner, id, () => this.#needs.store.badRows(id, after, limit));
  }

  contacts(
    owner: CampaignOwner,
    id: CampaignId,
    filter: ContactFilter,
    slice: Slice,
  ): Answer<Page<Contact>> {
    return this.#read(owner, id, () => this.#needs.store.contacts(id, filter, slice));
  }

  attempts(owner: CampaignOwner, id: CampaignId, slice: Slice): Answer<Page<Attempt>> {
    return this.#read(owner, id, () => this.#needs.store.attempts(id, slice));
  }

  async attempt(owner: CampaignOwner, callUuid: CallUuid): Answer<Attempt> {
    const attempt = await this.#needs.store.attempt(callUuid);
    const campaign = attempt && (await this.#own(owner, attempt.campaignId));
    return campaign === undefined ? err({ kind: 'unknownAttempt' }) : ok(attempt as Attempt);
  }

  results(
    owner: CampaignOwner,
    id: CampaignId,
    after: number,
    limit: number,
  ): Answer<readonly ContactResult[]> {
    return this.#read(owner, id, () => this.#needs.store.results(id, after, limit));
  }

  // ---------------------------------------------------------------- numbers

  addNumbers(
    owner: CampaignOwner,
    id: CampaignId,
    numbers: ReadonlyArray<Pick<PoolNumber, 'number' | 'label'>>,
  ): Answer<readonly PoolNumber[]> {
    return this.#with(owner, id, (campaign) => this.#pool.add(campaign, numbers));
  }

  numbers(owner: CampaignOwner, id: CampaignId): Answer<readonly PoolNumber[]> {
    return this.#read(owner, id, () => this.#needs.store.numbers(id));
  }

  updateNumber(
    owner: CampaignOwner,
    id: CampaignId,
    numberId: string,
    patch: PoolNumberPatch,
  ): Answer<PoolNumber> {
    return this.#with(owner, id, (campaign) => this.#pool.update(campaign, numberId, patch));
  }

  removeNumber(owner: CampaignOwner, id: CampaignId, numberId: string): Answer<void> {
    return this.#with(owner, id, (campaign) => this.#pool.remove(campaign, numberId));
  }

  addDoNotCall(scope: DoNotCallScope, numbers: readonly string[]): Answer<number> {
    return this.#doNotCall.add(scope, numbers);
  }

  removeDoNotCall(scope: DoNotCallScope, number: string): Answer<void> {
    return this.#doNotCall.remove(scope, number);
  }

  doNotCall(
    scope: DoNotCallScope,
    search: string | undefined,
    slice: Slice,
  ): Promise<Page<ListedNumber>> {
    return this.#doNotCall.list(scope, search, slice);
  }

  running(accountId: AccountId): Promise<readonly RunningCampaign[]> {
    return this.#needs.dialer.running(accountId);
  }

  // ---------------------------------------------------------------- private helpers

  async #own(owner: CampaignOwner, id: CampaignId): Promise<Campaign | undefined> {
    const campaign = await this.#needs.store.get(id);
    return campaign !== undefined && owns(owner, campaign) ? campaign : undefined;
  }

  async #read<T>(owner: CampaignOwner, id: CampaignId, read: () => Promise<T>): Answer<T> {
    return (await this.#own(owner, id)) === undefined ? UNKNOWN : ok(await read());
  }

  async #with<T>(
    owner: CampaignOwner,
    id: CampaignId,
    act: (campaign: Campaign) => Answer<T>,
  ): Answer<T> {
    const campaign = await this.#own(owner, id);
    return campaign === undefined ? UNKNOWN : act(campaign);
  }

  #nowUs(): number {
    return wallUs(this.#needs.clock);
  }
}
