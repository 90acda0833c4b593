import type { Result } from '../../base/result.ts';
import type { CapacityLimits, CapacityRefusal, CapacitySlot } from './types.ts';

/** Slots of accounts, trunks and carriers: counted by this process alone, or by all nodes together. */
export interface Slots {
  /** Other nodes take of the same limits. */
  readonly isShared: boolean;
  /** Takes a slot for a call that starts now, or says why not. Never rejects. */
  take(key: string, limits: CapacityLimits): Promise<Result<CapacitySlot, CapacityRefusal>>;
  /** Slots that are held. Rejects with CLUSTER_UNAVAILABLE when that cannot be said. */
  running(key: string): Promise<number>;
}
