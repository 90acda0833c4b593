import type { Target } from '../user-agent-types.ts';

/** Time in milliseconds for which an unresponsive target is tried last. */
const REMEMBERED_MS = 60_000;
/** Maximum Retry-After in milliseconds. */
const LONGEST_MS = 600_000;
const MAX_REMEMBERED = 1000;

const keyOf = ({ transport, address, port }: Target): string => `${transport} ${address} ${port}`;

/**
 * Targets that did not respond recently or sent Retry-After. Among the addresses of one name they are tried last (RFC
 * 3263 §4.3).
 */
export class Unresponsive {
  /** Expiry by target, in the order of insertion. */
  readonly #untilMs = new Map<string, number>();

  note(target: Target, nowMs: number, forMs = REMEMBERED_MS): void {
    const key = keyOf(target);
    this.#untilMs.delete(key);
    this.#untilMs.set(key, nowMs + Math.min(forMs, LONGEST_MS));
    const [oldest] = this.#untilMs.keys();
    if (this.#untilMs.size > MAX_REMEMBERED && oldest !== undefined) this.#untilMs.delete(oldest);
  }

  /** Removes a target that has responded. */
  forget(target: Target): void {
    if (this.#untilMs.size > 0) this.#untilMs.delete(keyOf(target));
  }

  /** Returns the targets with unresponsive ones at the end. */
  inOrder(targets: readonly Target[], nowMs: number): Target[] {
    if (this.#untilMs.size === 0 || targets.length < 2) return [...targets];
    const isOut = (target: Target): boolean => (this.#untilMs.get(keyOf(target)) ?? 0) > nowMs;
    return [...targets.filter((target) => !isOut(target)), ...targets.filter(isOut)];
  }
}
