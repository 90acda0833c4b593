/** Finds out when this node cannot keep up. New calls are then refused, so that running calls are not disturbed. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';

/** How far behind the node is. */
export interface OverloadSigns {
  /** Mean delay of the event loop over one look. */
  readonly loopDelayMs: number;
  /** Units of work that wait for the store. */
  readonly storeQueue: number;
}

const LOOK_MS = 250;
const RESOLUTION_MS = 10;
/** Looks above a limit, in a row, before it counts: one pause (garbage collection, a large answer) is no overload. */
const BAD_LOOKS = 4;
/** Looks in a row with all signs below half of their limits before the overload is over. */
const GOOD_LOOKS = 8;
const GOOD_SHARE = 0.5;

/** Turns signs into the state: on after a second of bad ones, off after two seconds of good ones. */
export class OverloadJudge {
  readonly #limits: OverloadSigns;
  #overloaded = false;
  #streak = 0;

  constructor(limits: OverloadSigns) {
    this.#limits = limits;
  }

  get overloaded(): boolean {
    return this.#overloaded;
  }

  /** Takes one look; true when it changed the state. */
  look(signs: OverloadSigns): boolean {
    const share = Math.max(
      signs.loopDelayMs / this.#limits.loopDelayMs,
      signs.storeQueue / this.#limits.storeQueue,
    );
    const against = this.#overloaded ? share < GOOD_SHARE : share > 1;
    this.#streak = against ? this.#streak + 1 : 0;
    if (this.#streak < (this.#overloaded ? GOOD_LOOKS : BAD_LOOKS)) return false;
    this.#overloaded = !this.#overloaded;
    this.#streak = 0;
    return true;
  }
}

export interface OverloadNeeds {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: OverloadSigns;
  readonly storeQueue: () => number;
  readonly onChange: (overloaded: boolean) => void;
}

/** Looks at the signs of this process four times a second. */
export class OverloadWatch {
  readonly #needs: OverloadNeeds;
  readonly #judge: OverloadJudge;
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #signs: OverloadSigns = { loopDelayMs: 0, storeQueue: 0 };
  #cancel: () => void = () => undefined;

  constructor(needs: OverloadNeeds) {
    this.#needs = needs;
    this.#judge = new OverloadJudge(needs.limits);
  }

  start(): void {
    this.#histogram.enable();
    this.#again();
  }

  stop(): void {
    this.#cancel();
    this.#histogram.disable();
  }

  get overloaded(): boolean {
    return this.#judge.overloaded;
  }

  /** In words, for a person. */
  detail(): string {
    const { loopDelayMs, storeQueue } = this.#signs;
    const state = this.overloaded ? 'overloaded, new calls are refused' : 'keeps up';
    return `${state}: event loop ${Math.round(loopDelayMs)} ms late, ${storeQueue} units wait for the store`;
  }

  #again(): void {
    const { clock } = this.#needs;
    const dueMs = clock.monotonicMs() + LOOK_MS;
    this.#cancel = clock.at(dueMs, () => {
      this.#look(clock.monotonicMs() - dueMs);
      this.#again();
    });
  }

  /** `lateMs`: how late this look is. It is taken as the delay when the event loop stood still and nothing was measured. */
  #look(lateMs: number): void {
    const { logger, onChange, storeQueue } = this.#needs;
    const meanMs = this.#histogram.mean / 1_000_000 - RESOLUTION_MS;
    const loopDelayMs = this.#histogram.count > 0 ? Math.max(0, meanMs) : lateMs;
    this.#histogram.reset();
    this.#signs = { loopDelayMs, storeQueue: storeQueue() };
    if (!this.#judge.look(this.#signs)) return;
    onChange(this.overloaded);
    if (this.overloaded) logger.warn({ ...this.#signs }, 'overload: new calls are refused');
    else logger.info({ ...this.#signs }, 'overload is over');
  }
}
