import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/ids.ts';

/** Dependencies shared by all provisioning classes. */
export interface ProvisioningContext {
  readonly clock: Clock;
  readonly random: Random;
}

/** Returns the current time, microseconds UTC. */
export const nowUs = (context: ProvisioningContext): number =>
  Math.round(context.clock.wallMs() * 1000);
