/** Composes the storage of SIP messages and their export. */
import { isIP } from 'node:net';
import { HepExporter } from '../../edge/sip/trace/hep-exporter.ts';
import { MessageRing } from '../../edge/sip/trace/message-ring.ts';
import type { Derived } from '../settings.ts';
import { SipTraces } from '../sip-traces.ts';
import type { Basics } from './foundation.ts';

const MIB = 2 ** 20;

export function joinSipTraces({ settings, clock, logger }: Basics, derived: Derived) {
  const ring = new MessageRing(settings.sip.traceMiB * MIB);
  const { host, port, captureId, password, hideCredentials: hidesCredentials } = settings.hep;
  const target = { host, port, captureId, password, hidesCredentials };
  const own = isIP(derived.sipPublicHost) === 0 ? '127.0.0.1' : derived.sipPublicHost;
  const hep =
    host === '' ? undefined : new HepExporter(ring, { ...target, ownAddress: own, clock, logger });
  const traces = new SipTraces({
    ring,
    own: { name: settings.sip.userAgent, address: own },
    exporter: hep,
  });
  return { traces, hep };
}
