import type { DigitsOptions } from '../../domain/call/needs.ts';
import type { Hub } from './hub.ts';
import type { JobHandle, LegHandle, NativeDigitStep } from './native.ts';

const FRAME_MS = 20;
/**
 * Minimum tone length in frames. RFC 4733 receivers and tone detectors need at least 40 ms; 80 ms is reliable on every
 * network.
 */
const SHORTEST_FRAMES = 4;
const LONGEST_FRAMES = 400;
/** Duration of `w` and `W` in milliseconds (dialect §6). */
const PAUSE_MS: Readonly<Record<string, number>> = { w: 500, W: 1000 };
/** Maximum number of digits and pauses in one request. */
const MAX_STEPS = 500;
/** Maximum number of pending requests per leg. */
const MAX_WAITING = 64;

const frames = (ms: number): number =>
  Math.min(LONGEST_FRAMES, Math.max(SHORTEST_FRAMES, Math.ceil(ms / FRAME_MS)));

/** Converts `0-9*#A-D` and pauses to native steps. */
function digitSteps(digits: string, options: DigitsOptions): NativeDigitStep[] {
  const steps: NativeDigitStep[] = [];
  for (const character of digits.slice(0, MAX_STEPS)) {
    const pauseMs = PAUSE_MS[character];
    if (pauseMs !== undefined) {
      steps.push({ onFrames: 0, offFrames: pauseMs / FRAME_MS });
      continue;
    }
    const digit = character.toUpperCase();
    if (!/^[0-9*#A-D]$/.test(digit)) continue;
    steps.push({ digit, onFrames: frames(options.toneMs), offFrames: frames(options.gapMs) });
  }
  return steps;
}

/** Queue of digits to send on one leg, one request at a time. */
export class DigitQueue {
  readonly #hub: Hub;
  readonly #leg: LegHandle;
  readonly #waiting: (() => void)[] = [];
  /** Resolvers of all requests not sent yet. */
  readonly #open = new Set<() => void>();
  /** Transmission in progress. */
  #job: JobHandle | undefined;
  #closed = false;

  constructor(hub: Hub, leg: LegHandle) {
    this.#hub = hub;
    this.#leg = leg;
  }

  send(digits: string, options: DigitsOptions): Promise<void> {
    const steps = digitSteps(digits, options);
    if (this.#closed || steps.length === 0) return Promise.resolve();
    if (this.#waiting.length >= MAX_WAITING) {
      this.#hub.logger.warn({ waiting: MAX_WAITING }, 'digits dropped, too many pending requests');
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#open.add(resolve);
    this.#waiting.push(() => this.#start(steps, options.inband, resolve));
    this.#next();
    return promise;
  }

  close(): void {
    this.#closed = true;
    this.#waiting.length = 0;
    // A closed leg reports no end of its transmission.
    this.#forgetJob();
    for (const resolve of this.#open) resolve();
    this.#open.clear();
  }

  #next(): void {
    if (this.#job === undefined) this.#waiting.shift()?.();
  }

  #start(steps: readonly NativeDigitStep[], inband: boolean, resolve: () => void): void {
    const job = this.#hub.newHandle<JobHandle>();
    this.#job = job;
    this.#hub.listen(job, () => {
      this.#forgetJob();
      this.#open.delete(resolve);
      resolve();
      this.#next();
    });
    this.#hub.engine.sendDigits({ leg: this.#leg, job, steps, inband });
  }

  #forgetJob(): void {
    if (this.#job === undefined) return;
    this.#hub.forget(this.#job);
    this.#hub.engine.removeDigits(this.#leg, this.#job);
    this.#job = undefined;
  }
}
