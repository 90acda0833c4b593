import type { Clock } from '../../base/clock.ts';
import type {
  InboundLeg,
  InviteOptions,
  Leg,
  OutboundLegEvents,
  OutboundTarget,
  Signalling,
} from '../call/needs.ts';
import type { Capacity, CapacitySlot } from '../capacity/capacity.ts';
import type { Carriers } from '../provisioning/provisioning.ts';
import type { Carrier } from '../provisioning/types.ts';

/** A carrier's place, taken before the call that is to have it exists. */
export interface HeldPlace {
  /** Signalling whose INVITE to that carrier uses the place. */
  readonly signalling: Signalling;
  /** Gives the place back; without effect when a leg had it. */
  release(): void;
}

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
    const carrier = this.#carrierOf(target);
    if (carrier === undefined) return this.#inner.invite(target, options, events);
    const place = this.#take(carrier);
    if (!place.ok) return fullCarrier(carrier.name, place.error.kind, events);
    return this.#inviteWith(place.value, target, options, events);
  }

  onInbound(handler: (leg: InboundLeg) => void): void {
    this.#inner.onInbound(handler);
  }

  isRegistered(username: string): boolean {
    return this.#inner.isRegistered(username);
  }

  /** Milliseconds until one of `targets` has room; 0: one has, or is no carrier's. */
  waitMs(targets: readonly OutboundTarget[]): number {
    const nowMs = this.#clock.monotonicMs();
    const waits = targets.map((target) => {
      const carrier = this.#carrierOf(target);
      if (carrier === undefined) return 0;
      return this.#capacity.refusal(keyOf(carrier), limitsOf(carrier), nowMs)?.retryAfterMs ?? 0;
    });
    return waits.length === 0 ? 0 : Math.min(...waits);
  }

  /** Takes the place at the first carrier with room; undefined: none has, or none is needed. */
  hold(targets: readonly OutboundTarget[]): HeldPlace | undefined {
    for (const target of targets) {
      const carrier = this.#carrierOf(target);
      const place = carrier && this.#take(carrier);
      if (place?.ok === true) return this.#held(target, place.value);
    }
    return undefined;
  }

  #held(held: OutboundTarget, place: CapacitySlot): HeldPlace {
    let isFree = true;
    return {
      release: () => {
        if (isFree) place.release();
        isFree = false;
      },
      signalling: {
        invite: (target, options, events) => {
          if (target !== held || !isFree) return this.invite(target, options, events);
          isFree = false;
          return this.#inviteWith(place, target, options, events);
        },
        onInbound: (handler) => this.onInbound(handler),
        isRegistered: (username) => this.isRegistered(username),
      },
    };
  }

  #inviteWith(
    place: CapacitySlot,
    target: OutboundTarget,
    options: InviteOptions,
    events: OutboundLegEvents,
  ): Leg {
    return this.#inner.invite(target, options, {
      ...events,
      ended: (end) => {
        place.release();
        events.ended(end);
      },
    });
  }

  #carrierOf(target: OutboundTarget): Carrier | undefined {
    return target.kind === 'carrier' ? this.#carriers.get(target.carrier) : undefined;
  }

  #take(carrier: Carrier) {
    return this.#capacity.take(keyOf(carrier), limitsOf(carrier), this.#clock.monotonicMs());
  }
}

const keyOf = ({ name }: Carrier): string => `carrier:${name}`;

const limitsOf = (carrier: Carrier) => ({
  concurrentCalls: carrier.concurrentCallsLimit,
  cps: carrier.cpsLimit,
});

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
  return { id: '', sipCallId: '', hangup: () => undefined };
}
