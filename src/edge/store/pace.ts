/** Decides when the next transaction may begin. */
export interface Pace {
  /** Resolves when the next transaction may begin. */
  turn(): Promise<void>;
  /** Calls `wake` when deferred units are due. The returned function cancels the call. */
  soon(wake: () => void): () => void;
  /**
   * Whether deferred units get separate transactions, so that those of several calls are written together. Default: they join
   * the next transaction.
   */
  readonly keepsApart?: boolean;
}

/** Pace of in-memory stores: virtual time must not wait for a timer. */
export const atOnce: Pace = {
  turn: () => Promise.resolve(),
  soon: (wake) => {
    let cancelled = false;
    queueMicrotask(() => {
      if (!cancelled) wake();
    });
    return () => {
      cancelled = true;
    };
  },
};

/** Minimum gap between commits, milliseconds. Under load, each commit contains the units of several calls. */
const GAP_MS = 2;
/**
 * Delay of deferred units, milliseconds. Ends of calls change the same pages, and each commit writes a changed page once; a
 * longer delay therefore means fewer writes. A hangup callback waits this long.
 */
const SOON_MS = 50;

/** Starts a transaction at the end of this event-loop turn, but at least `GAP_MS` after the previous one. */
export class GroupPace implements Pace {
  readonly keepsApart = true;
  #lastMs = Number.NEGATIVE_INFINITY;

  async turn(): Promise<void> {
    const waitMs = this.#lastMs + GAP_MS - performance.now();
    await new Promise<void>((resolve) => {
      if (waitMs <= 0) setImmediate(resolve);
      else setTimeout(resolve, waitMs);
    });
    this.#lastMs = performance.now();
  }

  soon(wake: () => void): () => void {
    const timer = setTimeout(wake, SOON_MS);
    return () => clearTimeout(timer);
  }
}
