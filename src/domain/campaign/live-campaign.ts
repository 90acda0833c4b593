/** In-memory state of one campaign in the dialer. Can be rebuilt from the store. */
import type { CallerIds } from './caller-ids.ts';
import type { DueContact, PlacingRefusal } from './needs.ts';
import { Pace } from './pace.ts';
import { PoolHolds } from './pool-holds.ts';
import type { Agent, Campaign, CampaignHealth } from './types.ts';
import { type WindowState, windowAt } from './window.ts';

export class LiveCampaign {
  campaign: Campaign;
  agent: Agent | undefined;
  callerIds: CallerIds | undefined;
  /** Pool uses that are not final. They outlive `callerIds`, which is read again after each change. */
  readonly holds = new PoolHolds();
  /** True while every pool number is at its limit and calls being placed may return a use. */
  waitsForPool = false;
  /** Timezones of the waiting contacts. */
  timezones: readonly string[] | undefined;
  /** Contacts read ahead, the next one first. */
  readonly ahead: DueContact[] = [];
  /** IDs of contacts whose call is being placed. */
  readonly placing = new Set<number>();
  /** Number of live calls. */
  calls = 0;
  /** No call is placed before this time, microseconds UTC. */
  sleepUntilUs = 0;
  /** Time of its last choice for a call, microseconds UTC. */
  servedUs = 0;
  /** Refusal that will pause the campaign. */
  refusedWith: PlacingRefusal['kind'] | undefined;
  /** Time since which calls fail for a reason other than full limits, microseconds UTC. */
  blockedSinceUs: number | undefined;
  blockedBy = '';
  isStallReported = false;
  readonly pace = new Pace();
  readonly #windows = new Map<string, WindowState>();

  constructor(campaign: Campaign) {
    this.campaign = campaign;
  }

  /** Drops all cached data: plan, pool, list or status may have changed. */
  forget(): void {
    this.refusedWith = undefined;
    this.unblocked();
    this.agent = undefined;
    this.callerIds = undefined;
    this.timezones = undefined;
    this.ahead.length = 0;
    this.sleepUntilUs = 0;
    this.waitsForPool = false;
    this.#windows.clear();
  }

  get isRunning(): boolean {
    return this.campaign.status === 'running';
  }

  /** Returns whether the campaign may place a further call now. */
  wantsCall(nowUs: number): boolean {
    if (!this.isRunning || this.refusedWith !== undefined) return false;
    const limit = this.pace.limit(this.campaign.maxConcurrent);
    return this.busy < limit && nowUs >= this.sleepUntilUs;
  }

  /** Number of live calls plus calls being placed. */
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

  /** Returns the timezones in which the window is open. */
  openTimezones(nowUs: number): readonly string[] {
    return (this.timezones ?? []).filter((timezone) => this.windowOf(timezone, nowUs).open);
  }

  /** Returns the time at which the next window opens or closes. */
  windowChangeUs(nowUs: number): number {
    const changes = (this.timezones ?? ['']).map(
      (timezone) => this.windowOf(timezone, nowUs).untilUs ?? Number.POSITIVE_INFINITY,
    );
    return Math.min(Number.POSITIVE_INFINITY, ...changes);
  }

  blocked(what: string, nowUs: number): void {
    this.blockedBy = what;
    this.blockedSinceUs ??= nowUs;
  }

  /** Clears the stall state after a placed call, or if only full limits or a lack of due contacts prevent one. */
  unblocked(): void {
    this.blockedSinceUs = undefined;
    this.isStallReported = false;
  }

  health(
    nowUs: number,
    settings: { readonly activeMs: number; readonly stalledMs: number },
  ): CampaignHealth {
    const { status, pauseReason, lastDialUs } = this.campaign;
    if (status === 'paused' && pauseReason === 'stalled') return 'stalled';
    if (status !== 'running') return lastDialUs === undefined ? 'not_started' : 'idle';
    const since = this.blockedSinceUs;
    if (since !== undefined && nowUs - since >= settings.stalledMs * 1000) return 'stalled';
    if (lastDialUs === undefined) return 'not_started';
    const isRecent = nowUs - lastDialUs < settings.activeMs * 1000;
    return this.calls > 0 || isRecent ? 'active' : 'idle';
  }
}
