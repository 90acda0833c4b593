import type { Clock } from '../../../base/clock.ts';
import type { DigitHub } from '../../call/call.ts';

/** Maximum number of buffered keys: the longest input of an element (dialect §2.1, numDigits). */
const MAX_WAITING = 99;

/** Keypad presses of one leg, in order, for one element. */
export class Keys {
  readonly #waiting: string[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #release: () => void;

  readonly #hub: DigitHub;

  /** `wanted`: false takes no keys. `ahead`: true includes keys pressed earlier. */
  constructor(
    hub: DigitHub,
    { wanted, ahead }: { readonly wanted: boolean; readonly ahead: boolean },
  ) {
    this.#hub = hub;
    const before = wanted ? hub.takeAhead() : '';
    if (ahead) this.#waiting.push(...before);
    this.#release = wanted ? hub.take((digit) => this.#press(digit)) : () => undefined;
  }

  /** Stops reading. Unread keys stay available for the next reader. */
  release(): void {
    this.#release();
    this.#hub.keepAhead(this.#waiting.splice(0).join(''));
    this.#listeners.clear();
  }

  /** Calls `listener` at each press, and immediately if a key is buffered. Returns an unsubscribe function. */
  onPress(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#waiting.length > 0) listener();
    return () => this.#listeners.delete(listener);
  }

  /** Returns the next key, or undefined after `timeoutMs`. Rejects with the signal's reason. */
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
