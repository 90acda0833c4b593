/** Enforces concurrency and calls-per-second limits for accounts, trunks and carriers. */
import type { Clock } from '../../base/clock.ts';
import type { Result } from '../../base/result.ts';
import { err, ok } from '../../base/result.ts';
import type { Slots } from './needs.ts';
import type { CapacityLimits, CapacityRefusal, CapacitySlot } from './types.ts';

export {
  FairShare,
  type Place,
  type ShareRefusal,
  type Sharer,
} from './fair-share.ts';
export type { Slots } from './needs.ts';
export { NewCalls } from './new-calls.ts';
export type { CapacityLimits, CapacityRefusal, CapacitySlot } from './types.ts';

/** Counts active calls and call starts within the last second per key. A key is an account, trunk or carrier ID. */
class Capacity {
  readonly #running = new Map<string, number>();
  readonly #starts = new Map<string, number[]>();

  /** Returns why a call must be refused at `nowMs` (monotonic), or undefined if it is allowed. Does not reserve a slot. */
  refusal(key: string, limits: CapacityLimits, nowMs: number): CapacityRefusal | undefined {
    if (this.running(key) >= limits.concurrentCalls) {
      return { kind: 'concurrency', retryAfterMs: 1000 };
    }
    const starts = this.#recentStarts(key, nowMs);
    if (starts.length < limits.cps) return undefined;
    const oldest = starts[0];
    return { kind: 'cps', retryAfterMs: oldest === undefined ? 1000 : oldest + 1000 - nowMs };
  }

  /** Reserves a slot for a call starting at `nowMs` (monotonic), or returns the refusal. The caller must release the slot. */
  take(key: string, limits: CapacityLimits, nowMs: number): Result<CapacitySlot, CapacityRefusal> {
    const refusal = this.refusal(key, limits, nowMs);
    if (refusal !== undefined) return err(refusal);
    const starts = this.#recentStarts(key, nowMs);
    starts.push(nowMs);
    this.#starts.set(key, starts);
    this.#running.set(key, this.running(key) + 1);
    return ok(new Slot(this, key, nowMs));
  }

  /** Releases one active call of `key`. */
  end(key: string): void {
    const left = (this.#running.get(key) ?? 1) - 1;
    if (left > 0) this.#running.set(key, left);
    else this.#running.delete(key);
  }

  running(key: string): number {
    return this.#running.get(key) ?? 0;
  }

  /** Removes one recorded start at `atMs`, for a call that was admitted but never placed. */
  forgetStart(key: string, atMs: number): void {
    const starts = this.#starts.get(key) ?? [];
    const at = starts.indexOf(atMs);
    if (at >= 0) starts.splice(at, 1);
    if (starts.length === 0) this.#starts.delete(key);
  }

  /** Returns the starts within the last second and discards older ones. */
  #recentStarts(key: string, nowMs: number): number[] {
    const starts = this.#starts.get(key) ?? [];
    let old = 0;
    while (old < starts.length && (starts[old] ?? 0) <= nowMs - 1000) old += 1;
    if (old === starts.length) {
      this.#starts.delete(key);
      return [];
    }
    if (old > 0) starts.splice(0, old);
    return starts;
  }
}

class Slot implements CapacitySlot {
  readonly #capacity: Capacity;
  readonly #key: string;
  readonly #atMs: number;
  #held = true;

  constructor(capacity: Capacity, key: string, atMs: number) {
    this.#capacity = capacity;
    this.#key = key;
    this.#atMs = atMs;
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#capacity.end(this.#key);
  }

  undo(): void {
    if (this.#held) this.#capacity.forgetStart(this.#key, this.#atMs);
    this.release();
  }
}

/** Capacity slots counted by this process only. */
export class OwnSlots implements Slots {
  readonly isShared = false;
  readonly #capacity = new Capacity();
  readonly #clock: Pick<Clock, 'monotonicMs'>;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  async take(key: string, limits: CapacityLimits): Promise<Result<CapacitySlot, CapacityRefusal>> {
    return this.#capacity.take(key, limits, this.#clock.monotonicMs());
  }

  async running(key: string): Promise<number> {
    return this.held(key);
  }

  held(key: string): number {
    return this.#capacity.running(key);
  }
}
