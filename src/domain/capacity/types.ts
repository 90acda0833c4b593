export interface CapacityLimits {
  readonly concurrentCalls: number;
  readonly cps: number;
}

export type CapacityRefusal = {
  /** `away`: nobody can say how many there are. */
  readonly kind: 'concurrency' | 'cps' | 'away';
  readonly retryAfterMs: number;
};

/** A slot taken for one call. Given back exactly once; giving it back again does nothing. */
export interface CapacitySlot {
  release(): void;
  /** Instead, when nothing came of it: it has started no call, and does not count as a start of this second. */
  undo(): void;
}
