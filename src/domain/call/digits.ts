import { noOperation } from '../../base/no-operation.ts';

export type DigitListener = (digit: string) => void;

/** Presses kept for an element that asks for those before it. */
const MAX_AHEAD = 32;

/**
 * Keypad presses of one leg. Verbs subscribe; what nobody takes is kept for a reader that asks for it (`typeAhead`).
 * Finding tones within the audio costs something at every packet, so it is done only while they are wanted.
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

  /** `hearTones` is told when presses are wanted that come as tones, and when no more. */
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

  /** Nobody wanted them yet. */
  keepAhead(digits: string): void {
    if (this.#forgetful === 0) this.#ahead = (this.#ahead + digits).slice(-MAX_AHEAD);
  }

  /** What was pressed while nobody took it; it is forgotten here. */
  takeAhead(): string {
    const ahead = this.#ahead;
    this.#ahead = '';
    return ahead;
  }

  /** A document runs, from now to the end: one of its elements may ask for what was pressed before it. */
  documentRuns(): void {
    this.#documentRuns = true;
    this.#tellTones();
  }

  /** Presses are meant for somebody else than the document: until released, and before, what nobody took is forgotten. */
  forgetAhead(): () => void {
    this.#ahead = '';
    this.#forgetful += 1;
    this.#tellTones();
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#forgetful -= 1;
      this.#tellTones();
    };
  }

  /** Sees every press without taking it (digitsMatch, hangupOnStar). */
  observe(listener: DigitListener): () => void {
    this.#observers ??= new Set();
    return this.#observe(this.#observers, listener);
  }

  /** As `observe`, by one that does nothing about tones: they are heard for others only. */
  observeEvents(listener: DigitListener): () => void {
    this.#eventObservers ??= new Set();
    return this.#observe(this.#eventObservers, listener);
  }

  #observe(observers: Set<DigitListener>, listener: DigitListener): () => void {
    observers.add(listener);
    this.#tellTones();
    return () => {
      observers.delete(listener);
      this.#tellTones();
    };
  }

  /** Takes presses until released; the newest taker wins. */
  take(listener: DigitListener): () => void {
    this.#takers.push(listener);
    this.#tellTones();
    return () => {
      const at = this.#takers.lastIndexOf(listener);
      if (at >= 0) this.#takers.splice(at, 1);
      this.#tellTones();
    };
  }

  #tellTones(): void {
    const kept = this.#documentRuns && this.#forgetful === 0;
    const wanted = kept || this.#takers.length > 0 || (this.#observers?.size ?? 0) > 0;
    if (wanted === this.#tonesWanted) return;
    this.#tonesWanted = wanted;
    this.#hearTones(wanted);
  }
}

/** Watches presses for any of `patterns`; the longest suffix that matches is reported. */
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
