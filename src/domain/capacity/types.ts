export interface CapacityLimits {
  readonly concurrentCalls: number;
  readonly cps: number;
}

export type CapacityRefusal = {
  readonly kind: 'concurrency' | 'cps';
  readonly retryAfterMs: number;
};

/** A slot taken for one call. Given back exactly once; giving it back again does nothing. */
export interface CapacitySlot {
  release(): void;
}
