export type DigitListener = (digit: string) => void;

/** Keypad presses of one leg. Verbs subscribe; those that nobody takes are not kept for the next one. */
export class DigitHub {
  readonly #takers: DigitListener[] = [];
  readonly #observers = new Set<DigitListener>();

  press(digit: string): void {
    for (const observer of [...this.#observers]) observer(digit);
    this.#takers.at(-1)?.(digit);
  }

  /** Sees every press without taking it (streams, digitsMatch, hangupOnStar). */
  observe(listener: DigitListener): () => void {
    this.#observers.add(listener);
    return () => this.#observers.delete(listener);
  }

  /** Takes presses until released; the newest taker wins. */
  take(listener: DigitListener): () => void {
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
