import type { InboundLeg, LegEnd, LegEvents } from '../call/needs.ts';

/**
 * Attaches to a leg before its call exists. An end of the leg is kept and reported when the call attaches. Earlier
 * re-INVITEs and digits are dropped.
 */
export function gateInbound(leg: InboundLeg): InboundLeg {
  let inner: LegEvents | undefined;
  let end: LegEnd | undefined;
  leg.attach({
    ended: (how) => {
      if (inner === undefined) end = how;
      else inner.ended(how);
    },
    offered: (sdp) => inner?.offered(sdp),
    movedTo: (source) => inner?.movedTo?.(source),
    answered: (sdp) => inner?.answered(sdp),
    dtmf: (digit, durationMs) => inner?.dtmf(digit, durationMs),
    referred: (refer) => {
      if (inner?.referred === undefined) refer.refuse();
      else inner.referred(refer);
    },
  });
  // Forwards everything except `attach` to the leg.
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
