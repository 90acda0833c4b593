import { noOperation } from '../../base/no-operation.ts';

export type DigitListener = (digit: string) => void;

/** Maximum number of digits in the type-ahead buffer. The oldest are dropped beyond that. */
const MAX_AHEAD = 32;

/**
 * Distributes the keypad presses of one leg to verbs. Presses without a taker go to the type-ahead buffer. In-band tone
 * detection costs CPU per packet, so it runs only while presses are needed.
 */
export class DigitHub {
  readonly #takers: DigitListener[] = [];
  #observers: Set<DigitListener> | undefined;
  #eventObservers: Set<DigitListener> | undefined;
  readonly #hearTones: (wanted: boolean) => void;
  #ahead = '';
  #documentRuns = false;
  #forgetful = 0;
  #tonesWanted = false;

  /** `hearTones` is called with true when in-band tone detection is needed, and with false when it no longer is. */
  constructor(hearTones: (wanted: boolean) => void = noOperation) {
    this.#hearTones = hearTones;
  }

  press(digit: string): void {
    for (const observer of [...(this.#observers ?? []), ...(this.#eventObservers ?? [])])
      observer(digit);
    const taker = this.#takers.at(-1);
    if (taker === undefined) this.keepAhead(digit);
    else taker(digit);
  }

  /** Adds digits to the type-ahead buffer. */
  keepAhead(digits: string): void {
    if (this.#forgetful === 0) this.#ahead = (this.#ahead + digits).slice(-MAX_AHEAD);
  }

  /** Returns and clears the type-ahead buffer. */
  takeAhead(): string {
    const ahead = this.#ahead;
    this.#ahead = '';
    return ahead;
  }

  /** Enables type-ahead for the rest of the call: an element may read digits pressed before it. */
  documentRuns(): void {
    this.#documentRuns = true;
    this.#reportTones();
  }

  /**
   * Clears and disables type-ahead until the returned function is called, while presses are meant for a consumer other
   * than the document.
   */
  forgetAhead(): () => void {
    this.#ahead = '';
    this.#forgetful += 1;
    this.#reportTones();
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#forgetful -= 1;
      this.#reportTones();
    };
  }

  /** Reports every press to `listener` without consuming it (digitsMatch, hangupOnStar). */
  observe(listener: DigitListener): () => void {
    this.#observers ??= new Set();
    return this.#observe(this.#observers, listener);
  }

  /** As `observe`, but does not enable in-band tone detection. */
  observeEvents(listener: DigitListener): () => void {
    this.#eventObservers ??= new Set();
    return this.#observe(this.#eventObservers, listener);
  }

  #observe(observers: Set<DigitListener>, listener: DigitListener): () => void {
    observers.add(listener);
    this.#reportTones();
    return () => {
      observers.delete(listener);
      this.#reportTones();
    };
  }

  /** Consumes presses until the returned function is called. The newest taker gets each press. */
  take(listener: DigitListener): () => void {
    this.#takers.push(listener);
    this.#reportTones();
    return () => {
      const at = this.#takers.lastIndexOf(listener);
      if (at >= 0) this.#takers.splice(at, 1);
      this.#reportTones();
    };
  }

  #reportTones(): void {
    const retained = this.#documentRuns && this.#forgetful === 0;
    const wanted = retained || this.#takers.length > 0 || (this.#observers?.size ?? 0) > 0;
    if (wanted === this.#tonesWanted) return;
    this.#tonesWanted = wanted;
    this.#hearTones(wanted);
  }
}

/** Reports when the pressed digits end with one of `patterns`. The longest matching pattern wins. */
export function matchDigits(
  hub: DigitHub,
  patterns: readonly string[],
  matched: (pattern: string) => void,
): () => void {
  if (patterns.length === 0) return noOperation;
  const longest = Math.max(...patterns.map((pattern) => pattern.length));
  const byLength = [...patterns].sort((a, b) => b.length - a.length);
  let pressed = '';
  return hub.observe((digit) => {
    pressed = (pressed + digit).slice(-longest);
    const hit = byLength.find((pattern) => pressed.endsWith(pattern));
    if (hit === undefined) return;
    pressed = '';
    matched(hit);
  });
}
