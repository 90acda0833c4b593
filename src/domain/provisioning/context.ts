import { type Clock, wallUs } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import type { Random } from '../../base/ids.ts';

/** Dependencies shared by all provisioning classes. */
export interface ProvisioningContext {
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Runs `act`, which checks that referenced objects exist and then writes. If one was deleted between check and write, `act`
 * runs again, and its check reports the object as unknown.
 */
export async function checkedReferences<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'REFERENCE_GONE') throw error;
    return act();
  }
}

/** Returns the current time, microseconds UTC. */
export const nowUs = (context: ProvisioningContext): number => wallUs(context.clock);
