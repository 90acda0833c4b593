/** Front door: what owners of campaigns see and command (dialect §3.11). The dialer places the calls. */
import type { AccountId, AgentId, CallUuid, CampaignId } from '../../base/ids.ts';
import { newCampaignId } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { Agents } from './agents.ts';
import { DoNotCall } from './do-not-call.ts';
import type { CampaignChange } from './needs.ts';
import { owns } from './ownership.ts';
import { checkPlan, planOf } from './plan.ts';
import { PoolNumbers } from './pool-numbers.ts';
import type { CampaignServiceNeeds } from './service-needs.ts';
import type {
  Agent,
  AgentPatch,
  Attempt,
  BadRow,
  Campaign,
  CampaignControl,
  CampaignEvent,
  CampaignFilter,
  CampaignOwner,
  CampaignPatch,
  CampaignPlan,
  CampaignRefusal,
  CampaignStatus,
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
export type { CampaignServiceNeeds } from './service-needs.ts';
export { createCampaignWebhooks } from './webhooks.ts';

type Answer<T> = Promise<Result<T, CampaignRefusal>>;

const UNKNOWN: Result<never, CampaignRefusal> = err({ kind: 'unknownCampaign' });
/** Statuses in which the plan may be changed and contacts uploaded. */
const OPEN: readonly CampaignStatus[] = ['draft', 'ready'];
/** Statuses in which nothing runs, and which may be archived. */
const AT_REST: readonly CampaignStatus[] = ['draft', 'ready', 'completed', 'cancelled'];

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

export class CampaignService implements CampaignControl {
  readonly #needs: CampaignServiceNeeds;
  readonly #agents: Agents;
  readonly #uploads: Uploads;
  readonly #pool: PoolNumbers;
  readonly #doNotCall: DoNotCall;

  constructor(needs: CampaignServiceNeeds) {
    this.#needs = needs;
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
    const nowUs = this.#nowUs();
    const campaign: Campaign = {
      ...checked.value,
      ...owner,
      id: newCampaignId(this.#needs.random),
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
    };
    await this.#needs.store.insert(campaign);
    return ok(this.#view(campaign));
  }

  async get(owner: CampaignOwner, id: CampaignId): Answer<CampaignView> {
    const campaign = await this.#own(owner, id);
    return campaign === undefined ? UNKNOWN : ok(this.#view(campaign));
  }

  async list(filter: CampaignFilter, slice: Slice): Promise<Page<CampaignView>> {
    const { items, total } = await this.#needs.store.page(filter, slice);
    return { items: items.map((campaign) => this.#view(campaign)), total };
  }

  async update(owner: CampaignOwner, id: CampaignId, patch: CampaignPatch): Answer<CampaignView> {
    const campaign = await this.#own(owner, id);
    if (campaign === undefined) return UNKNOWN;
    const checked = await checkPlan(
      this.#needs,
      owner,
      { ...planOf(campaign), ...patch },
      campaign,
    );
    if (!checked.ok) return checked;
    return this.#change(campaign, OPEN, checked.value, 'changed');
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

  async start(owner: CampaignOwner, id: CampaignId): Answer<CampaignView> {
    const campaign = await this.#own(owner, id);
    if (campaign === undefined) return UNKNOWN;
    const started = await this.#needs.dialer.start(campaign);
    return started === undefined ? this.#refused(id, 'started') : ok(this.#view(started));
  }

  /** A pause that would end by itself becomes `manual_pause`. */
  async pause(owner: CampaignOwner, id: CampaignId): Answer<CampaignView> {
    const campaign = await this.#own(owner, id);
    if (campaign === undefined) return UNKNOWN;
    const paused = await this.#needs.dialer.pause(campaign, 'manual_pause');
    return paused === undefined ? this.#refused(id, 'paused') : ok(this.#view(paused));
  }

  async resume(owner: CampaignOwner, id: CampaignId): Answer<CampaignView> {
    const campaign = await this.#own(owner, id);
    if (campaign === undefined) return UNKNOWN;
    if (campaign.status !== 'paused') return this.#refused(id, 'resumed');
    const obstacle = await this.#needs.dialer.obstacle(campaign);
    if (obstacle !== undefined) return err({ kind: 'stillPaused', ...obstacle });
    const resumed = await this.#needs.dialer.resume(campaign);
    return resumed === undefined ? this.#refused(id, 'resumed') : ok(this.#view(resumed));
  }

  async cancel(owner: CampaignOwner, id: CampaignId): Answer<CampaignView> {
    const campaign = await this.#own(owner, id);
    if (campaign === undefined) return UNKNOWN;
    const change = {
      status: 'cancelled',
      pauseReason: undefined,
      completedUs: this.#nowUs(),
    } as const;
    const event = { kind: 'cancelled', atUs: this.#nowUs() } as const;
    return this.#change(campaign, ['queued', 'running', 'paused'], change, 'cancelled', event);
  }

  async archive(owner: CampaignOwner, id: CampaignId): Answer<CampaignView> {
    const campaign = await this.#own(owner, id);
    if (campaign === undefined) return UNKNOWN;
    const change = { status: 'archived', scheduledUs: undefined } as const;
    return this.#change(campaign, AT_REST, change, 'archived');
  }

  // ---------------------------------------------------------------- contacts

  async beginUpload(owner: CampaignOwner, id: CampaignId): Answer<Upload> {
    const campaign = await this.#own(owner, id);
    if (campaign === undefined) return UNKNOWN;
    if (!OPEN.includes(campaign.status)) return this.#refused(id, 'given contacts');
    return this.#uploads.begin(campaign);
  }

  addRows(upload: Upload, rows: readonly UploadRow[]): Answer<void> {
    return this.#uploads.add(upload, rows);
  }

  async finishUpload(upload: Upload): Answer<UploadSummary> {
    const finished = await this.#uploads.finish(upload, OPEN);
    if (finished === undefined) return this.#refused(upload.campaignId, 'given contacts');
    this.#needs.dialer.changed(finished.campaign);
    return ok(finished.summary);
  }

  abandonUpload(upload: Upload): Promise<void> {
    return this.#uploads.abandon(upload);
  }

  /** Deletes unfinished uploads of an earlier process, and lists without a campaign. */
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

  async addNumbers(
    owner: CampaignOwner,
    id: CampaignId,
    numbers: ReadonlyArray<Pick<PoolNumber, 'number' | 'label'>>,
  ): Answer<readonly PoolNumber[]> {
    const campaign = await this.#own(owner, id);
    return campaign === undefined ? UNKNOWN : this.#pool.add(campaign, numbers);
  }

  numbers(owner: CampaignOwner, id: CampaignId): Answer<readonly PoolNumber[]> {
    return this.#read(owner, id, () => this.#needs.store.numbers(id));
  }

  async updateNumber(
    owner: CampaignOwner,
    id: CampaignId,
    numberId: string,
    patch: PoolNumberPatch,
  ): Answer<PoolNumber> {
    const campaign = await this.#own(owner, id);
    return campaign === undefined ? UNKNOWN : this.#pool.update(campaign, numberId, patch);
  }

  async removeNumber(owner: CampaignOwner, id: CampaignId, numberId: string): Answer<void> {
    const campaign = await this.#own(owner, id);
    return campaign === undefined ? UNKNOWN : this.#pool.remove(campaign, numberId);
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

  running(accountId: AccountId): readonly RunningCampaign[] {
    return this.#needs.dialer.running(accountId);
  }

  // ---------------------------------------------------------------- inside

  async #own(owner: CampaignOwner, id: CampaignId): Promise<Campaign | undefined> {
    const campaign = await this.#needs.store.get(id);
    return campaign !== undefined && owns(owner, campaign) ? campaign : undefined;
  }

  async #read<T>(owner: CampaignOwner, id: CampaignId, read: () => Promise<T>): Answer<T> {
    return (await this.#own(owner, id)) === undefined ? UNKNOWN : ok(await read());
  }

  async #change(
    campaign: Campaign,
    from: readonly CampaignStatus[],
    change: CampaignChange,
    done: string,
    event?: CampaignEvent,
  ): Answer<CampaignView> {
    const { store, webhooks, dialer } = this.#needs;
    const notification = event && webhooks.compose(campaign, event);
    const notifications = notification === undefined ? [] : [notification];
    const changed = await store.change(campaign.id, from, change, notifications);
    if (changed === undefined) return this.#refused(campaign.id, done);
    if (notification !== undefined) webhooks.deliver(notification);
    dialer.changed(changed);
    return ok(this.#view(changed));
  }

  async #refused(id: CampaignId, done: string): Answer<never> {
    const campaign = await this.#needs.store.get(id);
    if (campaign === undefined) return UNKNOWN;
    const { status } = campaign;
    return err({
      kind: 'wrongState',
      status,
      detail: `a campaign that is ${status} cannot be ${done}`,
    });
  }

  #view(campaign: Campaign): CampaignView {
    return { campaign, health: this.#needs.dialer.health(campaign) };
  }

  #nowUs(): number {
    return Math.round(this.#needs.clock.wallMs() * 1000);
  }
}
