import type { Clock } from '../../base/clock.ts';
import type { Carrier } from '../../domain/provisioning/types.ts';
import {
  type Flow,
  isSecure,
  isWebSocket,
  peerOf,
  type UserAgent,
} from '../../protocol/sip/sip.ts';
import type { KnownPeer } from './admission-filter.ts';
import { carrierAt } from './source-match.ts';

/** Time in milliseconds until a change of the carriers takes effect. */
const RETENTION_MS = 1000;
const MAX_KEPT = 4096;

/** Finds the carrier of a source address. Results are cached for one second, because every message needs one. */
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

  /**
   * Carrier of a flow. A carrier that uses TLS is recognized only over TLS, because the source of a datagram is easily
   * forged. A WebSocket never is a carrier: any web page in a browser at a carrier's address can open one.
   */
  at(flow: Flow): string | undefined {
    const { address: remoteAddress, transport } = peerOf(flow);
    if (isWebSocket(transport)) return undefined;
    const nowMs = this.#clock.monotonicMs();
    const names = isSecure(transport) ? this.#secure : this.#plain;
    if (nowMs - this.#sinceMs >= RETENTION_MS || names.size >= MAX_KEPT) {
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

/** Facts for the admission filter, from the user agent once it exists. */
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
