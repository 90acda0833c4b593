import { type Clock, wallUs } from '../../base/clock.ts';
import type { Random } from '../../base/ids.ts';

/** Dependencies shared by all provisioning classes. */
export interface ProvisioningContext {
  readonly clock: Clock;
  readonly random: Random;
}

/** Returns the current time, microseconds UTC. */
export const nowUs = (context: ProvisioningContext): number => wallUs(context.clock);
