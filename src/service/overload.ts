/** Detects when this node cannot keep up. It then limits new calls per second, so that running calls are not affected. */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { NewCalls } from '../domain/capacity/capacity.ts';
import { OverloadControl } from './overload-control.ts';

/** Signs of overload. */
export interface OverloadSigns {
  /** Delay of the event loop, or of messages from known SIP peers, whichever is longer, in milliseconds. */
  readonly loopDelayMs: number;
  /** Number of transactions that wait for the store. */
  readonly storeQueue: number;
  /** Utilization of the busiest media thread, 0 to 1. */
  readonly mediaBusy: number;
}

type OverloadLimits = Pick<OverloadSigns, 'loopDelayMs' | 'storeQueue'>;

const TICK_MS = 50;
const TICKS_A_LOOK = 5;
/**
 * Utilization below which the loop is measured once per check, because the measurement itself would be the most
 * frequent wake-up.
 */
const IDLE = 0.05;
/** Utilization below which a delayed loop is waiting for the CPU. Fewer calls would not help then. */
const BUSY = 0.5;
/** Limit below the point at which the media engine refuses further legs. */
const MEDIA_BUSY_LIMIT = 0.75;
/** Number of checks without a refusal that ends the overload state. */
const CALM_LOOKS = 8;
/** Interval at which a continuing overload is logged again, in milliseconds. */
const TOLD_AGAIN_MS = 10_000;

export interface OverloadNeeds {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: OverloadLimits;
  readonly newCalls: Pick<NewCalls, 'limit' | 'counts'>;
  readonly storeQueue: () => number;
  /** Returns for how long messages of known peers have waited since the last query, in milliseconds. */
  readonly sipWaitMs: () => number;
  readonly mediaBusy: () => number;
  /** Returns the event loop utilization since the last query, 0 to 1. */
  readonly utilisation: () => number;
}

/** Checks the signs of this process four times per second, and sets the limit of new calls. */
export class OverloadWatch {
  readonly #needs: OverloadNeeds;
  readonly #control = new OverloadControl();
  readonly #lateNs = createHistogram();
  #signs: OverloadSigns = { loopDelayMs: 0, storeQueue: 0, mediaBusy: 0 };
  #utilisation = 0;
  #ticks = 0;
  #lateMs = 0;
  #checkedMs = 0;
  #counted = { begun: 0, refused: 0 };
  #reportedMs = 0;
  #refusedBefore = 0;
  /** Number of checks since a call was refused. Undefined: none recently. */
  #sinceRefusal: number | undefined;
  #cancel: () => void = () => undefined;

  constructor(needs: OverloadNeeds) {
    this.#needs = needs;
  }

  start(): void {
    this.#checkedMs = this.#needs.clock.monotonicMs();
    this.#again();
  }

  stop(): void {
    this.#cancel();
  }

  /** Whether new calls are refused, by the limit or because they would wait too long. */
  get overloaded(): boolean {
    return this.#control.limit !== undefined || this.#sinceRefusal !== undefined;
  }

  /** Limit of new calls per second. Undefined: unlimited. */
  get limit(): number | undefined {
    return this.#control.limit;
  }

  /** Event loop utilization at the last check, 0 to 1. */
  get utilisation(): number {
    return this.#utilisation;
  }

  /** Histogram of the loop delay at each tick, in nanoseconds. The reader may reset it. */
  get lateNs(): RecordableHistogram {
    return this.#lateNs;
  }

  /** Returns the state as text for users. */
  detail(): string {
    const { loopDelayMs, storeQueue } = this.#signs;
    const { limit } = this.#control;
    const without = this.overloaded
      ? 'overloaded, refusing new calls that would wait too long'
      : 'keeps up';
    const state =
      limit === undefined
        ? without
        : `overloaded, ${limit.toFixed(limit < 10 ? 1 : 0)} new calls per second are accepted, others refused`;
    const busy = Math.round(this.#utilisation * 100);
    return `${state}: event loop ${Math.round(loopDelayMs)} ms late and ${busy} % busy, ${storeQueue} transactions wait for the store`;
  }

  #again(): void {
    const { clock } = this.#needs;
    const tickMs = this.#utilisation < IDLE ? TICK_MS * TICKS_A_LOOK : TICK_MS;
    const dueMs = clock.monotonicMs() + tickMs;
    this.#cancel = clock.at(dueMs, () => {
      const nowMs = clock.monotonicMs();
      this.#lateMs += nowMs - dueMs;
      this.#lateNs.record(Math.max(1, Math.round((nowMs - dueMs) * 1e6)));
      this.#ticks += 1;
      // A nearly blocked loop checks in each iteration.
      if (nowMs - this.#checkedMs >= TICK_MS * TICKS_A_LOOK) this.#look(nowMs);
      this.#again();
    });
  }

  #look(nowMs: number): void {
    const { limits, newCalls, storeQueue, sipWaitMs, mediaBusy, utilisation } = this.#needs;
    const seconds = (nowMs - this.#checkedMs) / 1000;
    const signs = {
      loopDelayMs: Math.max(this.#lateMs / this.#ticks, sipWaitMs()),
      storeQueue: storeQueue(),
      mediaBusy: mediaBusy(),
    };
    this.#utilisation = utilisation();
    const isBusy = this.#utilisation >= BUSY;
    const pressure = Math.max(
      isBusy ? signs.loopDelayMs / limits.loopDelayMs : 0,
      signs.storeQueue / limits.storeQueue,
      signs.mediaBusy / MEDIA_BUSY_LIMIT,
    );
    const { begun, refused } = newCalls.counts();
    this.#signs = signs;
    const wasOverloaded = this.overloaded;
    this.#noteRefused(refused - this.#counted.refused);
    this.#control.look({
      pressure,
      utilisation: this.#utilisation,
      begun: (begun - this.#counted.begun) / seconds,
      refused: (refused - this.#counted.refused) / seconds,
    });
    this.#counted = { begun, refused };
    this.#checkedMs = nowMs;
    this.#lateMs = 0;
    this.#ticks = 0;
    newCalls.limit(this.#control.limit);
    this.#notify(this.overloaded !== wasOverloaded, refused, nowMs);
  }

  #noteRefused(refused: number): void {
    if (refused > 0) this.#sinceRefusal = 0;
    else if (this.#sinceRefusal !== undefined) this.#sinceRefusal += 1;
    if (this.#sinceRefusal === CALM_LOOKS) this.#sinceRefusal = undefined;
  }

  #notify(changed: boolean, refused: number, nowMs: number): void {
    const { logger } = this.#needs;
    const { limit } = this.#control;
    const isDue = this.overloaded && nowMs - this.#reportedMs >= TOLD_AGAIN_MS;
    if (!changed && !isDue) return;
    const fields = {
      ...this.#signs,
      utilisation: this.#utilisation,
      callsPerSecond: limit,
      refused: refused - this.#refusedBefore,
    };
    if (this.overloaded) logger.warn(fields, 'overload: new calls are refused');
    else logger.info(fields, 'overload has ended');
    this.#reportedMs = nowMs;
    this.#refusedBefore = refused;
  }
}

/** Returns a function that measures the event loop utilization of this thread since its last call. */
export function loopUtilisation(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
