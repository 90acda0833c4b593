import type { Clock } from '../../base/clock.ts';
import type { Carrier } from '../../domain/provisioning/types.ts';
import type { Flow, UserAgent } from '../../protocol/sip/sip.ts';
import type { Acquaintance } from './front-desk.ts';
import { carrierAt } from './source-match.ts';

/** A change of the carriers counts after this time. */
const KEPT_MS = 1000;
const MAX_KEPT = 4096;

/** Which carrier calls from an address, asked for each message: found once a second. */
export class CarrierSources {
  readonly #carriers: () => readonly Carrier[];
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #names = new Map<string, string | undefined>();
  #sinceMs = Number.NEGATIVE_INFINITY;

  constructor(carriers: () => readonly Carrier[], clock: Pick<Clock, 'monotonicMs'>) {
    this.#carriers = carriers;
    this.#clock = clock;
  }

  at(address: string): string | undefined {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#sinceMs >= KEPT_MS || this.#names.size >= MAX_KEPT) {
      this.#names.clear();
      this.#sinceMs = nowMs;
    }
    if (this.#names.has(address)) return this.#names.get(address);
    const name = carrierAt(address, this.#carriers());
    this.#names.set(address, name);
    return name;
  }
}

/** What the front desk asks the user agent, once there is one. */
export const acquaintanceOf = (
  agent: () => UserAgent | undefined,
  sources: CarrierSources,
  clock: Pick<Clock, 'monotonicMs'>,
): Acquaintance => ({
  knows: (flow: Flow) => agent()?.knows(flow, clock.monotonicMs()) ?? false,
  isCarrier: (address) => sources.at(address) !== undefined,
  hasNonce: (authorization, flow) =>
    agent()?.hasNonce(authorization, flow, clock.monotonicMs()) ?? false,
});
