import { SECOND_MS, secondsOf } from '../../../base/duration.ts';
import type { StoredNotification } from '../../../domain/callback/types.ts';
import type { OpenCall, OpenStream } from '../../../domain/cdr/needs.ts';
import type { Cdr } from '../../../domain/cdr/types.ts';
import {
  aFlag,
  aNumber,
  anInteger,
  aText,
  isObject,
  listOf,
  maybe,
  oneOf,
  struct,
} from '../shape.ts';
import { StoredObject, type Upgrade, unchanged } from '../stored-kind.ts';
import {
  notificationShape,
  readSubject,
  type StoredSubject,
  writeSubject,
} from './stored-callback.ts';
import { qualityShape, withoutNulls } from './stored-quality.ts';
import {
  finishedStream,
  fromEachConnection,
  type StoredStream,
  storedStream,
  streamShape,
} from './stored-stream.ts';

type StoredOpenStream = Omit<OpenStream, 'pulseMs'> & { readonly pulseSeconds: number };
export type StoredCdr = Omit<Cdr, 'billedMs' | 'streams'> & {
  readonly billedSeconds: number;
  readonly streams: readonly StoredStream[];
};

/** JSON of an open record. */
export type StoredCall = Omit<
  OpenCall,
  'cdr' | 'pulseMs' | 'streamPulseMs' | 'streams' | 'hangupNotification'
> & {
  readonly cdr: StoredCdr;
  readonly pulseSeconds: number;
  readonly streamPulseSeconds: number;
  readonly streams: readonly StoredOpenStream[];
  readonly hangupNotification?: StoredSubject<StoredNotification> | undefined;
};

const openStreamShape = struct<StoredOpenStream>({
  streamId: aText(),
  serviceUrl: aText(),
  audioTrack: aText(),
  bidirectional: aFlag(),
  contentType: aText(),
  startUs: aNumber(),
  earlierUs: aNumber(),
  sinceUs: aNumber(),
  endUs: maybe(aNumber()),
  perMinute: anInteger(),
  pulseSeconds: aNumber(),
});

export const cdrShape = struct<StoredCdr>({
  callUuid: aText(),
  accountId: aText(),
  subAccount: maybe(aText()),
  direction: oneOf('inbound', 'outbound'),
  context: oneOf('voice-api', 'sip-endpoint', 'did', 'dial', 'trunk'),
  from: aText(),
  to: aText(),
  callerName: aText(),
  requestUuid: maybe(aText()),
  parentCallUuid: maybe(aText()),
  bridgeUuid: maybe(aText()),
  startUs: aNumber(),
  ringUs: maybe(aNumber()),
  answerUs: maybe(aNumber()),
  endUs: aNumber(),
  billedSeconds: aNumber(),
  perMinute: anInteger(),
  cost: anInteger(),
  streamingCost: anInteger(),
  currency: aText(),
  hangupCause: aText(),
  hangupCauseCode: aNumber(),
  hangupCauseName: aText(),
  hangupSource: aText(),
  hangupDisposition: oneOf(
    'send_bye',
    'recv_bye',
    'send_cancel',
    'recv_cancel',
    'send_refuse',
    'recv_refuse',
  ),
  failureReason: maybe(aText()),
  sipCallId: maybe(aText()),
  sipUserAgent: maybe(aText()),
  remoteAddress: maybe(aText()),
  carrier: maybe(aText()),
  codec: maybe(aText()),
  quality: maybe(qualityShape),
  endpointId: maybe(aText()),
  trunkId: maybe(aText()),
  terminatedTo: maybe(aText()),
  campaignId: maybe(aText()),
  machine: maybe(aFlag()),
  stirVerification: maybe(aText()),
  stirAttestation: maybe(aText()),
  consent: maybe(oneOf('given', 'refused')),
  consentUs: maybe(aNumber()),
  streams: listOf(streamShape),
});

type Json = Readonly<Record<string, unknown>>;

/** Upgrades records of version 0.1.0, which had one connection per stream and no pulse count across streams. */
const fromFirstRecords: Upgrade = (older) => {
  const { cdr, streams } = older;
  if (!isObject(cdr) || !Array.isArray(streams)) return older;
  const { quality } = cdr;
  const finished = cdr['streams'];
  const open = streams.map(
    (stream: Json): Json => ({ earlierUs: 0, sinceUs: stream['startUs'], ...stream }),
  );
  return {
    streamPulseSeconds: open[0]?.['pulseSeconds'] ?? older['pulseSeconds'],
    ...older,
    cdr: {
      ...cdr,
      quality: isObject(quality) ? withoutNulls(quality) : undefined,
      streams: Array.isArray(finished) ? finished.map(fromEachConnection) : finished,
    },
    streams: open,
  };
};

export const OPEN_CALL = new StoredObject<StoredCall>({
  name: 'open call',
  version: 4,
  shape: struct<StoredCall>({
    cdr: cdrShape,
    pulseSeconds: aNumber(),
    streamPulseSeconds: aNumber(),
    reserved: anInteger(),
    streams: listOf(openStreamShape),
    hangupNotification: maybe(notificationShape),
    heartbeatUs: aNumber(),
    waiting: maybe(oneOf(true)),
  }),
  upgrades: [fromFirstRecords, unchanged, unchanged, unchanged],
});

/** JSON omits undefined values. Copying a whole record and clearing a field costs a third of omitting the field. */
const LEFT_OUT = {
  ofCall: { pulseMs: undefined, streamPulseMs: undefined },
  ofCdr: { billedMs: undefined },
};

export function storedCall(call: OpenCall): StoredCall {
  const { cdr, streams, hangupNotification } = call;
  return {
    ...call,
    ...LEFT_OUT.ofCall,
    cdr: storedCdr(cdr),
    pulseSeconds: secondsOf(call.pulseMs),
    streamPulseSeconds: secondsOf(call.streamPulseMs),
    streams: streams.map(({ pulseMs: pulse, ...stream }) => ({
      ...stream,
      pulseSeconds: secondsOf(pulse),
    })),
    hangupNotification: hangupNotification && writeSubject(hangupNotification),
  };
}

export const storedCdr = (cdr: Cdr): StoredCdr => ({
  ...cdr,
  ...LEFT_OUT.ofCdr,
  billedSeconds: secondsOf(cdr.billedMs),
  streams: cdr.streams.map(storedStream),
});

export function finishedCdr({ billedSeconds, streams, ...record }: StoredCdr): Cdr {
  return { ...record, billedMs: billedSeconds * SECOND_MS, streams: streams.map(finishedStream) };
}

export function openCall(stored: StoredCall): OpenCall {
  const { cdr, pulseSeconds, streamPulseSeconds, streams, hangupNotification, ...rest } = stored;
  return {
    ...rest,
    cdr: finishedCdr(cdr),
    pulseMs: pulseSeconds * SECOND_MS,
    streamPulseMs: streamPulseSeconds * SECOND_MS,
    streams: streams.map(({ pulseSeconds: pulse, ...stream }) => ({
      ...stream,
      pulseMs: pulse * SECOND_MS,
    })),
    hangupNotification: hangupNotification && readSubject(hangupNotification),
  };
}
