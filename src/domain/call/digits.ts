export type DigitListener = (digit: string) => void;

/** Presses kept for an element that asks for those before it. */
const MAX_AHEAD = 32;

/** Keypad presses of one leg. Verbs subscribe; what nobody takes is kept for a reader that asks for it (`typeAhead`). */
export class DigitHub {
  readonly #takers: DigitListener[] = [];
  readonly #observers = new Set<DigitListener>();
  #ahead = '';

  press(digit: string): void {
    for (const observer of [...this.#observers]) observer(digit);
    const taker = this.#takers.at(-1);
    if (taker === undefined) this.keepAhead(digit);
    else taker(digit);
  }

  /** Nobody wanted them yet. */
  keepAhead(digits: string): void {
    this.#ahead = (this.#ahead + digits).slice(-MAX_AHEAD);
  }

  /** What was pressed while nobody took it; it is forgotten here. */
  takeAhead(): string {
    const ahead = this.#ahead;
    this.#ahead = '';
    return ahead;
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
