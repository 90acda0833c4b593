import type { Target } from '../user-agent-types.ts';

/** A target that answered nothing is tried after all others for so long. */
const REMEMBERED_MS = 60_000;
/** What a Retry-After asks for at the most. */
const LONGEST_MS = 600_000;
const MAX_REMEMBERED = 1000;

const keyOf = ({ transport, address, port }: Target): string => `${transport} ${address} ${port}`;

/** Targets that answered nothing lately, or asked for a rest: of several addresses of one name they come last (RFC 3263 §4.3). */
export class Unresponsive {
  /** Until when; those noted longest ago first. */
  readonly #untilMs = new Map<string, number>();

  note(target: Target, nowMs: number, forMs = REMEMBERED_MS): void {
    const key = keyOf(target);
    this.#untilMs.delete(key);
    this.#untilMs.set(key, nowMs + Math.min(forMs, LONGEST_MS));
    const [oldest] = this.#untilMs.keys();
    if (this.#untilMs.size > MAX_REMEMBERED && oldest !== undefined) this.#untilMs.delete(oldest);
  }

  /** It has answered. */
  forget(target: Target): void {
    if (this.#untilMs.size > 0) this.#untilMs.delete(keyOf(target));
  }

  /** The same targets, those that answered nothing lately at the end. */
  inOrder(targets: readonly Target[], nowMs: number): Target[] {
    if (this.#untilMs.size === 0 || targets.length < 2) return [...targets];
    const isOut = (target: Target): boolean => (this.#untilMs.get(keyOf(target)) ?? 0) > nowMs;
    return [...targets.filter((target) => !isOut(target)), ...targets.filter(isOut)];
  }
}
