export interface CapacityLimits {
  readonly concurrentCalls: number;
  readonly cps: number;
}

export type CapacityRefusal = {
  /** `away`: the number of active calls is unknown. */
  readonly kind: 'concurrency' | 'cps' | 'away';
  readonly retryAfterMs: number;
};

/** A slot reserved for one call. Released exactly once; further releases have no effect. */
export interface CapacitySlot {
  release(): void;
  /** Releases the slot of a call that was never placed. It does not count as a start of this second. */
  undo(): void;
}
