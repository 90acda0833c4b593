import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/ids.ts';

/** What every part of provisioning is given. */
export interface ProvisioningContext {
  readonly clock: Clock;
  readonly random: Random;
}

/** Microseconds UTC. */
export const nowUs = (context: ProvisioningContext): number =>
  Math.round(context.clock.wallMs() * 1000);
