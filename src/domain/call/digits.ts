/** Keypad presses of one leg. Verbs subscribe; presses that nobody takes are kept for the next verb, within a limit. */
const KEPT_DIGITS = 64;

export type DigitListener = (digit: string) => void;

export class DigitHub {
  #kept = '';
  readonly #takers: DigitListener[] = [];
  readonly #observers = new Set<DigitListener>();

  press(digit: string): void {
    for (const observer of [...this.#observers]) observer(digit);
    const taker = this.#takers.at(-1);
    if (taker !== undefined) taker(digit);
    else this.#kept = (this.#kept + digit).slice(-KEPT_DIGITS);
  }

  /** Sees every press without taking it (streams, digitsMatch, hangupOnStar). */
  observe(listener: DigitListener): () => void {
    this.#observers.add(listener);
    return () => this.#observers.delete(listener);
  }

  /** Takes presses until released; the newest taker wins. Presses made before are forgotten. */
  take(listener: DigitListener): () => void {
    this.#kept = '';
    this.#takers.push(listener);
    return () => {
      const at = this.#takers.lastIndexOf(listener);
      if (at >= 0) this.#takers.splice(at, 1);
    };
  }
}

/** Watches presses for any of `patterns`; the longest suffix that matches is reported. */
export function matchDigits(
  hub: DigitHub,
  patterns: readonly string[],
  matched: (pattern: string) => void,
): () => void {
  if (patterns.length === 0) return () => undefined;
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
