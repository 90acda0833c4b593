import { RecentMap } from '../../base/recent-map.ts';

const MAX_FAILURES = 10;
const WINDOW_MS = 15 * 60_000;
const WATCHED_NAMES = 10_000;

/** Limits failed sign-ins per e-mail address: after too many failures, further attempts are blocked for a while. */
export class Attempts {
  readonly #failures = new RecentMap<{ count: number; readonly sinceMs: number }>(WATCHED_NAMES);

  failed(email: string, nowMs: number): void {
    const known = this.#failures.get(email);
    if (known === undefined || nowMs - known.sinceMs > WINDOW_MS) {
      this.#failures.set(email, { count: 1, sinceMs: nowMs });
    } else known.count += 1;
  }

  passed(email: string): void {
    this.#failures.delete(email);
  }

  /** Returns the milliseconds until the next attempt is allowed. */
  blockedMs(email: string, nowMs: number): number {
    const known = this.#failures.get(email);
    if (known === undefined || known.count < MAX_FAILURES) return 0;
    return Math.max(0, known.sinceMs + WINDOW_MS - nowMs);
  }
}
