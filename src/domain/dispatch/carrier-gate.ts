import type { Clock } from '../../base/clock.ts';
import type {
  InboundLeg,
  InviteOptions,
  Leg,
  OutboundLegEvents,
  OutboundTarget,
  Signalling,
} from '../call/needs.ts';
import type { Capacity } from '../capacity/capacity.ts';
import type { Carriers } from '../provisioning/provisioning.ts';

/**
 * Signalling that keeps to what each carrier takes: its calls at once and its calls per second. A carrier that is full is
 * passed over like one that cannot be reached, so that the next one is tried.
 */
export class CarrierGate implements Signalling {
  readonly #inner: Signalling;
  readonly #carriers: Carriers;
  readonly #capacity: Capacity;
  readonly #clock: Clock;

  constructor(needs: {
    signalling: Signalling;
    carriers: Carriers;
    capacity: Capacity;
    clock: Clock;
  }) {
    this.#inner = needs.signalling;
    this.#carriers = needs.carriers;
    this.#capacity = needs.capacity;
    this.#clock = needs.clock;
  }

  invite(target: OutboundTarget, options: InviteOptions, events: OutboundLegEvents): Leg {
    const carrier = target.kind === 'carrier' ? this.#carriers.get(target.carrier) : undefined;
    if (carrier === undefined) return this.#inner.invite(target, options, events);
    const limits = { concurrentCalls: carrier.concurrentCallsLimit, cps: carrier.cpsLimit };
    const key = `carrier:${carrier.name}`;
    const slot = this.#capacity.take(key, limits, this.#clock.monotonicMs());
    if (!slot.ok) return fullCarrier(carrier.name, slot.error.kind, events);
    return this.#inner.invite(target, options, {
      ...events,
      ended: (end) => {
        slot.value.release();
        events.ended(end);
      },
    });
  }

  onInbound(handler: (leg: InboundLeg) => void): void {
    this.#inner.onInbound(handler);
  }

  isRegistered(username: string): boolean {
    return this.#inner.isRegistered(username);
  }
}

/** A leg that never left: its end comes in a later turn, as that of any other. */
function fullCarrier(name: string, limit: 'concurrency' | 'cps', events: OutboundLegEvents): Leg {
  queueMicrotask(() =>
    events.ended({
      by: 'local',
      how: 'unreachable',
      status: undefined,
      reason: `carrier ${name} is at its limit: ${limit}`,
    }),
  );
  return { id: '', sipCallId: '', hangup: () => undefined, sendInfoDigit: () => undefined };
}
