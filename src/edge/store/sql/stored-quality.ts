import type { MediaQuality } from '../../../base/media-quality.ts';
import { aNumber, maybe, struct } from '../shape.ts';
import { StoredObject, type Upgrade } from '../stored-kind.ts';

const REQUIRED = [
  'packetsReceived',
  'packetsSent',
  'packetsLost',
  'packetsLate',
  'jitterMs',
  'lossFraction',
];

export const qualityShape = struct<MediaQuality>({
  packetsReceived: aNumber(),
  packetsSent: aNumber(),
  packetsLost: aNumber(),
  packetsLate: aNumber(),
  jitterMs: aNumber(),
  lossFraction: aNumber(),
  discardFraction: maybe(aNumber()),
  burstDensity: maybe(aNumber()),
  burstMs: maybe(aNumber()),
  gapMs: maybe(aNumber()),
  rating: maybe(aNumber()),
  playoutDelayMs: maybe(aNumber()),
  mos: maybe(aNumber()),
  roundTripMs: maybe(aNumber()),
  unheardMs: maybe(aNumber()),
  peer: maybe(struct({ lossFraction: aNumber(), jitterMs: aNumber(), mos: aNumber() })),
});

/** Removes nulls, which JSON contains where a number was not finite. */
export const withoutNulls: Upgrade = (older) => ({
  ...Object.fromEntries(REQUIRED.map((name) => [name, 0])),
  ...Object.fromEntries(Object.entries(older).filter(([, value]) => value !== null)),
});

export const QUALITY = new StoredObject<MediaQuality>({
  name: 'quality of a call',
  version: 1,
  shape: qualityShape,
  upgrades: [withoutNulls],
});
