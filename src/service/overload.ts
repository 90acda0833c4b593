/** Finds out when this node cannot keep up. It then takes only so many new calls a second as it can, so that running calls are not disturbed. */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { NewCalls } from '../domain/capacity/capacity.ts';
import { OverloadControl } from './overload-control.ts';

/** How far behind the node is. */
export interface OverloadSigns {
  /** How late the event loop is with what was due, or with messages of known SIP peers that have come, whichever is later. */
  readonly loopDelayMs: number;
  /** Units of work that wait for the store. */
  readonly storeQueue: number;
  /** Share of the time in which the busiest media thread works. */
  readonly mediaBusy: number;
}

export type OverloadLimits = Pick<OverloadSigns, 'loopDelayMs' | 'storeQueue'>;

const TICK_MS = 50;
const TICKS_A_LOOK = 5;
/** With less to do the event loop is asked once a look: what would wake it most often is this question. */
const IDLE = 0.05;
/** A loop that is late and has less to do than this waits for the processor, not for its own work: fewer calls would not help. */
const BUSY = 0.5;
/** Before the media takes no further legs. */
const MEDIA_BUSY_LIMIT = 0.75;
/** Looks without a refusal before the overload is over. */
const CALM_LOOKS = 8;
/** An overload that goes on is told again. */
const TOLD_AGAIN_MS = 10_000;

export interface OverloadNeeds {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: OverloadLimits;
  readonly newCalls: Pick<NewCalls, 'limit' | 'counts'>;
  readonly storeQueue: () => number;
  /** Milliseconds for which messages of known peers have waited since it was last asked. */
  readonly sipWaitMs: () => number;
  readonly mediaBusy: () => number;
  /** Share of the time since it was last asked in which the event loop was busy. */
  readonly utilisation: () => number;
}

/** Looks at the signs of this process four times a second, and sets how many new calls may begin. */
export class OverloadWatch {
  readonly #needs: OverloadNeeds;
  readonly #control = new OverloadControl();
  readonly #lateNs = createHistogram();
  #signs: OverloadSigns = { loopDelayMs: 0, storeQueue: 0, mediaBusy: 0 };
  #utilisation = 0;
  #ticks = 0;
  #lateMs = 0;
  #lookedMs = 0;
  #counted = { begun: 0, refused: 0 };
  #toldMs = 0;
  #refusedBefore = 0;
  /** Looks since a call was refused; undefined: not of late. */
  #sinceRefusal: number | undefined;
  #cancel: () => void = () => undefined;

  constructor(needs: OverloadNeeds) {
    this.#needs = needs;
  }

  start(): void {
    this.#lookedMs = this.#needs.clock.monotonicMs();
    this.#again();
  }

  stop(): void {
    this.#cancel();
  }

  /** New calls are refused: beyond a limit, or because they would wait too long. */
  get overloaded(): boolean {
    return this.#control.limit !== undefined || this.#sinceRefusal !== undefined;
  }

  /** New calls a second; undefined: no limit. */
  get limit(): number | undefined {
    return this.#control.limit;
  }

  /** Of the latest look. */
  get utilisation(): number {
    return this.#utilisation;
  }

  /** How late the event loop was, nanoseconds at each tick; whoever has read it may begin it anew. */
  get lateNs(): RecordableHistogram {
    return this.#lateNs;
  }

  /** In words, for a person. */
  detail(): string {
    const { loopDelayMs, storeQueue } = this.#signs;
    const { limit } = this.#control;
    const without = this.overloaded
      ? 'overloaded, new calls that would wait too long are refused'
      : 'keeps up';
    const state =
      limit === undefined
        ? without
        : `overloaded, ${limit.toFixed(limit < 10 ? 1 : 0)} new calls a second are taken and others refused`;
    const busy = Math.round(this.#utilisation * 100);
    return `${state}: event loop ${Math.round(loopDelayMs)} ms late and ${busy} % busy, ${storeQueue} units wait for the store`;
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
      // A loop that hardly turns looks each time that it does.
      if (nowMs - this.#lookedMs >= TICK_MS * TICKS_A_LOOK) this.#look(nowMs);
      this.#again();
    });
  }

  #look(nowMs: number): void {
    const { limits, newCalls, storeQueue, sipWaitMs, mediaBusy, utilisation } = this.#needs;
    const seconds = (nowMs - this.#lookedMs) / 1000;
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
    this.#lookedMs = nowMs;
    this.#lateMs = 0;
    this.#ticks = 0;
    newCalls.limit(this.#control.limit);
    this.#tell(this.overloaded !== wasOverloaded, refused, nowMs);
  }

  #noteRefused(refused: number): void {
    if (refused > 0) this.#sinceRefusal = 0;
    else if (this.#sinceRefusal !== undefined) this.#sinceRefusal += 1;
    if (this.#sinceRefusal === CALM_LOOKS) this.#sinceRefusal = undefined;
  }

  #tell(changed: boolean, refused: number, nowMs: number): void {
    const { logger } = this.#needs;
    const { limit } = this.#control;
    const isDue = this.overloaded && nowMs - this.#toldMs >= TOLD_AGAIN_MS;
    if (!changed && !isDue) return;
    const fields = {
      ...this.#signs,
      utilisation: this.#utilisation,
      callsPerSecond: limit,
      refused: refused - this.#refusedBefore,
    };
    if (this.overloaded) logger.warn(fields, 'overload: new calls are refused');
    else logger.info(fields, 'overload is over');
    this.#toldMs = nowMs;
    this.#refusedBefore = refused;
  }
}

/** Share of the time since it was last asked in which the event loop of this thread did not wait. */
export function loopUtilisation(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
