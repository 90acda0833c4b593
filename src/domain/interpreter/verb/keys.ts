import type { Clock } from '../../../base/clock.ts';
import type { DigitHub } from '../../call/call.ts';

/** Keys pressed ahead of their reader; the longest input that an element may ask for (dialect §2.1, numDigits). */
const MAX_WAITING = 99;

/** The keypad presses of one leg, in order, for one element. */
export class Keys {
  readonly #waiting: string[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #release: () => void;

  readonly #hub: DigitHub;

  /** `wanted` false: none is taken, and none will ever come. `ahead`: those pressed before count too. */
  constructor(
    hub: DigitHub,
    { wanted, ahead }: { readonly wanted: boolean; readonly ahead: boolean },
  ) {
    this.#hub = hub;
    const before = wanted ? hub.takeAhead() : '';
    if (ahead) this.#waiting.push(...before);
    this.#release = wanted ? hub.take((digit) => this.#press(digit)) : () => undefined;
  }

  /** Keys that were pressed and not read are left for the next reader. */
  release(): void {
    this.#release();
    this.#hub.keepAhead(this.#waiting.splice(0).join(''));
    this.#listeners.clear();
  }

  /** Calls `listener` at each press, and now when a key waits already. Returns how to stop. */
  onPress(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#waiting.length > 0) listener();
    return () => this.#listeners.delete(listener);
  }

  /** The next key; undefined when there was none for `timeoutMs`. Rejects with the signal's reason. */
  next(clock: Clock, timeoutMs: number, signal: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        cancelTimeout();
        stopWatching();
        signal.removeEventListener('abort', onAbort);
        finish();
      };
      const onAbort = (): void => settle(() => reject(signal.reason));
      let stopWatching: () => void = () => undefined;
      const cancelTimeout = clock.at(clock.monotonicMs() + timeoutMs, () =>
        settle(() => resolve(undefined)),
      );
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      if (this.#waiting.length > 0) {
        settle(() => resolve(this.#waiting.shift()));
        return;
      }
      stopWatching = this.onPress(() => settle(() => resolve(this.#waiting.shift())));
    });
  }

  #press(digit: string): void {
    if (this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push(digit);
    for (const listener of [...this.#listeners]) listener();
  }
}
