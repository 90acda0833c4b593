import { SECOND_MS, secondsOf } from '../../../base/duration.ts';
import type { StreamCdr } from '../../../domain/cdr/types.ts';
import { aFlag, aNumber, anInteger, aText, maybe, oneOf, struct } from '../shape.ts';
import { eachOf, StoredObject, type Upgrade, unchanged } from '../stored-kind.ts';

/** JSON of a finished stream in a call's record. */
export type StoredStream = Omit<StreamCdr, 'billedMs'> & { readonly billedSeconds: number };

export const streamShape = struct<StoredStream>({
  streamId: aText(),
  serviceUrl: aText(),
  audioTrack: aText(),
  bidirectional: aFlag(),
  contentType: aText(),
  startUs: aNumber(),
  endUs: aNumber(),
  connectedUs: aNumber(),
  billedSeconds: aNumber(),
  billedAmount: anInteger(),
  currency: aText(),
  terminationReason: oneOf('API request', 'Call hangup', 'Connection error', 'Stream timeout'),
  disclosedUs: maybe(aNumber()),
  turns: maybe(
    struct({ count: aNumber(), interruptions: aNumber(), p50Ms: aNumber(), p95Ms: aNumber() }),
  ),
});

/**
 * Upgrades records of version 0.1.0, which stored each connection as a separate stream that was connected for its whole
 * length.
 */
export const fromEachConnection: Upgrade = (older) => ({
  connectedUs: Number(older['endUs']) - Number(older['startUs']),
  ...older,
});

const STREAM = new StoredObject<StoredStream>({
  name: 'stream of a call',
  version: 3,
  shape: streamShape,
  upgrades: [fromEachConnection, unchanged, unchanged],
});

export const STREAMS = eachOf(STREAM);

export const storedStream = ({ billedMs, ...stream }: StreamCdr): StoredStream => ({
  ...stream,
  billedSeconds: secondsOf(billedMs),
});

export const finishedStream = ({ billedSeconds, ...stream }: StoredStream): StreamCdr => ({
  ...stream,
  billedMs: billedSeconds * SECOND_MS,
});
