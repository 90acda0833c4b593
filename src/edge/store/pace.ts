/** When the next transaction may begin. */
export interface Pace {
  /** Resolves when it may. */
  turn(): Promise<void>;
  /** Calls `wake` once a unit that nobody waits for is to be written. The returned function cancels it. */
  soon(wake: () => void): () => void;
  /** Such units have transactions of their own, so that several calls' are written together. Absent: they go with the next one. */
  readonly keepsApart?: boolean;
}

/** For stores in memory: virtual time must not wait for a timer. */
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

/** Commits are at least this far apart, milliseconds: under load each takes what several calls asked for. */
const GAP_MS = 2;
/**
 * What nobody waits for is written after this. Ends of calls change the same pages, of which each commit writes every one once:
 * the longer it is, the fewer. A hangup callback waits so long.
 */
const SOON_MS = 50;

/** At the end of this turn of the event loop, or `GAP_MS` after the transaction before. */
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
