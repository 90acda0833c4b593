import type { Clock } from '../../base/clock.ts';
import type { Carrier } from '../../domain/provisioning/types.ts';
import { type Flow, isSecure, peerOf, type UserAgent } from '../../protocol/sip/sip.ts';
import type { KnownPeer } from './admission-filter.ts';
import { carrierAt } from './source-match.ts';

/** A change of the carriers counts after this time. */
const KEPT_MS = 1000;
const MAX_KEPT = 4096;

/** Which carrier calls from an address, asked for each message: found once a second. */
export class CarrierSources {
  readonly #carriers: () => readonly Carrier[];
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #plain = new Map<string, string | undefined>();
  readonly #secure = new Map<string, string | undefined>();
  #sinceMs = Number.NEGATIVE_INFINITY;

  constructor(carriers: () => readonly Carrier[], clock: Pick<Clock, 'monotonicMs'>) {
    this.#carriers = carriers;
    this.#clock = clock;
  }

  /** A carrier of TLS is believed over TLS alone: the source of a datagram is easily forged. */
  at(flow: Flow): string | undefined {
    const { address: remoteAddress, transport } = peerOf(flow);
    const nowMs = this.#clock.monotonicMs();
    const names = isSecure(transport) ? this.#secure : this.#plain;
    if (nowMs - this.#sinceMs >= KEPT_MS || names.size >= MAX_KEPT) {
      this.#plain.clear();
      this.#secure.clear();
      this.#sinceMs = nowMs;
    }
    if (names.has(remoteAddress)) return names.get(remoteAddress);
    const carriers = this.#carriers();
    const believed = isSecure(transport)
      ? carriers
      : carriers.filter((carrier) => carrier.transport !== 'tls');
    const name = carrierAt(remoteAddress, believed);
    names.set(remoteAddress, name);
    return name;
  }
}

/** What the front desk asks the user agent, once there is one. */
export const acquaintanceOf = (
  agent: () => UserAgent | undefined,
  sources: CarrierSources,
  clock: Pick<Clock, 'monotonicMs'>,
): KnownPeer => ({
  knows: (flow) => agent()?.knows(flow, clock.monotonicMs()) ?? false,
  isCarrier: (flow) => sources.at(flow) !== undefined,
  carrierOf: (flow) => sources.at(flow),
  hasNonce: (authorization, flow) =>
    agent()?.hasNonce(authorization, flow, clock.monotonicMs()) ?? false,
});
