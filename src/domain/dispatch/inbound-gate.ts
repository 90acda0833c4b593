import type { InboundLeg, LegEnd, LegEvents } from '../call/needs.ts';

/** Re-INVITEs and digits before a call stands behind the leg are of no use; an end is kept for it. */
export function gateInbound(leg: InboundLeg): InboundLeg {
  let inner: LegEvents | undefined;
  let end: LegEnd | undefined;
  leg.attach({
    ended: (how) => {
      if (inner === undefined) end = how;
      else inner.ended(how);
    },
    offered: (sdp) => inner?.offered(sdp),
    answered: (sdp) => inner?.answered(sdp),
    dtmf: (digit, durationMs) => inner?.dtmf(digit, durationMs),
  });
  // A proxy by prototype: everything but `attach` is the leg's own.
  return new Proxy(leg, {
    get(target, property) {
      if (property === 'attach') {
        return (events: LegEvents) => {
          inner = events;
          if (end !== undefined) events.ended(end);
        };
      }
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
