import type { Result } from '../../base/result.ts';
import type { CapacityLimits, CapacityRefusal, CapacitySlot } from './types.ts';

/** Slots of accounts, trunks and carriers, counted by this process alone or by all nodes together. */
export interface Slots {
  /** True if other nodes share the same limits. */
  readonly isShared: boolean;
  /** Reserves a slot for a call that starts now, or returns the refusal. Never rejects. */
  take(key: string, limits: CapacityLimits): Promise<Result<CapacitySlot, CapacityRefusal>>;
  /** Returns the number of held slots. Rejects with CLUSTER_UNAVAILABLE if it is unknown. */
  running(key: string): Promise<number>;
}
