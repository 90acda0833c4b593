/** What the dialer has in mind about one campaign. Everything here can be made anew from the store. */
import type { CallerIds } from './caller-ids.ts';
import type { DueContact, PlacingRefusal } from './needs.ts';
import { Pace } from './pace.ts';
import type { Agent, Campaign, CampaignHealth } from './types.ts';
import { type WindowState, windowAt } from './window.ts';

export class LiveCampaign {
  campaign: Campaign;
  agent: Agent | undefined;
  callerIds: CallerIds | undefined;
  /** Timezones of contacts that still may be called. */
  timezones: readonly string[] | undefined;
  /** Next to be called, read ahead. */
  readonly ahead: DueContact[] = [];
  /** Contacts on their way to a call. */
  readonly placing = new Set<number>();
  /** Calls that live. */
  calls = 0;
  /** Nothing to do before, microseconds UTC. */
  sleepUntilUs = 0;
  /** When it was last chosen to dial. */
  servedUs = 0;
  /** Why a call was refused: it cannot go on like this. */
  refusedWith: PlacingRefusal['kind'] | undefined;
  /** Something other than full limits keeps it from dialling. */
  troubleSinceUs: number | undefined;
  trouble = '';
  stallTold = false;
  readonly pace = new Pace();
  readonly #windows = new Map<string, WindowState>();

  constructor(campaign: Campaign) {
    this.campaign = campaign;
  }

  /** Plan, pool, list or state may have changed. */
  forget(): void {
    this.refusedWith = undefined;
    this.untroubled();
    this.agent = undefined;
    this.callerIds = undefined;
    this.timezones = undefined;
    this.ahead.length = 0;
    this.sleepUntilUs = 0;
    this.#windows.clear();
  }

  get isRunning(): boolean {
    return this.campaign.status === 'running';
  }

  /** Wants a further call at `nowUs`. */
  isHungry(nowUs: number): boolean {
    if (!this.isRunning || this.refusedWith !== undefined) return false;
    const limit = this.pace.limit(this.campaign.maxConcurrent);
    return this.busy < limit && nowUs >= this.sleepUntilUs;
  }

  /** Calls, and those on their way to be one. */
  get busy(): number {
    return this.calls + this.placing.size;
  }

  get isDone(): boolean {
    const { pending, retry_pending, dialling } = this.campaign.counters;
    return pending + retry_pending + dialling === 0;
  }

  windowOf(timezone: string, nowUs: number): WindowState {
    const known = this.#windows.get(timezone);
    if (known !== undefined && (known.untilUs === undefined || known.untilUs > nowUs)) return known;
    const state = windowAt(this.campaign.window, timezone || this.campaign.timezone, nowUs);
    this.#windows.set(timezone, state);
    return state;
  }

  /** Timezones of contacts whose window is open. */
  openTimezones(nowUs: number): readonly string[] {
    return (this.timezones ?? []).filter((timezone) => this.windowOf(timezone, nowUs).open);
  }

  /** When the next window opens or closes. */
  windowChangeUs(nowUs: number): number {
    const changes = (this.timezones ?? ['']).map(
      (timezone) => this.windowOf(timezone, nowUs).untilUs ?? Number.POSITIVE_INFINITY,
    );
    return Math.min(Number.POSITIVE_INFINITY, ...changes);
  }

  troubled(what: string, nowUs: number): void {
    this.trouble = what;
    this.troubleSinceUs ??= nowUs;
  }

  /** It dials, or nothing is wrong but that limits are full or nobody is due. */
  untroubled(): void {
    this.troubleSinceUs = undefined;
    this.stallTold = false;
  }

  health(
    nowUs: number,
    settings: { readonly activeMs: number; readonly stalledMs: number },
  ): CampaignHealth {
    const { status, pauseReason, lastDialUs } = this.campaign;
    if (status === 'paused' && pauseReason === 'stalled') return 'stalled';
    if (status !== 'running') return lastDialUs === undefined ? 'not_started' : 'idle';
    const since = this.troubleSinceUs;
    if (since !== undefined && nowUs - since >= settings.stalledMs * 1000) return 'stalled';
    if (lastDialUs === undefined) return 'not_started';
    const isRecent = nowUs - lastDialUs < settings.activeMs * 1000;
    return this.calls > 0 || isRecent ? 'active' : 'idle';
  }
}
