/** How streams stand in the records of their call. */

import { maskSecrets } from '../../base/mask.ts';
import { ZERO } from '../../base/money.ts';
import type { Call } from '../call/call.ts';
import { closeStream, connectedUs } from '../cdr/cdr.ts';
import type { OpenStream } from '../cdr/needs.ts';
import type { StreamTermination } from '../cdr/types.ts';
import type { AudioStreamRequest, LiveAudioStream } from './stream.ts';

/** Dialect §1.5. */
const MAX_BIDIRECTIONAL = 1;
const MAX_ONE_WAY = 4;
/** Streams of one call that are recorded one by one; a document that opens them for ever cannot grow a record. */
const MAX_RECORDED = 200;
/** Streams of one call that no bot took and that are told all the same. */
const MAX_REFUSED = 20;

/** Why one more stream is too many; undefined when it is not. */
export function limitOfStreams(
  streams: readonly LiveAudioStream[],
  bidirectional: boolean,
): string | undefined {
  const alike = streams.filter((stream) => stream.request.bidirectional === bidirectional).length;
  const most = bidirectional ? MAX_BIDIRECTIONAL : MAX_ONE_WAY;
  if (alike < most) return undefined;
  return bidirectional
    ? 'one bidirectional stream per call'
    : `${MAX_ONE_WAY} one-way streams per call`;
}

export function keepOpenStream(
  call: Call,
  request: AudioStreamRequest,
  streamId: string,
  startUs: number,
): void {
  if (call.openStreams.length + call.closedStreams.length >= MAX_RECORDED) return;
  call.openStreams = [
    ...call.openStreams,
    {
      ...describeStream(request),
      streamId,
      startUs,
      earlierUs: 0,
      sinceUs: startUs,
      endUs: undefined,
      perMinute: call.price.streamPerMinute,
      pulseSeconds: call.price.streamPulseSeconds,
    },
  ];
}

/** The stream's connection has broken: time without one does not count. False when it is not recorded. */
export const keepLostStream = (call: Call, streamId: string, atUs: number): boolean =>
  change(call, streamId, (stream) => ({ ...stream, endUs: atUs }));

/** It is connected once more. */
export const keepStreamAgain = (call: Call, streamId: string, sinceUs: number): boolean =>
  change(call, streamId, (stream) => ({
    ...stream,
    earlierUs: connectedUs(stream, sinceUs),
    sinceUs,
    endUs: undefined,
  }));

function change(
  call: Call,
  streamId: string,
  changed: (stream: OpenStream) => OpenStream,
): boolean {
  const isMeant = (stream: OpenStream): boolean => stream.streamId === streamId;
  if (!call.openStreams.some(isMeant)) return false;
  call.openStreams = call.openStreams.map((stream) => (isMeant(stream) ? changed(stream) : stream));
  return true;
}

/** False when it is not recorded. */
export function closeOpenStream(
  call: Call,
  streamId: string,
  { atUs, reason }: { readonly atUs: number; readonly reason: StreamTermination },
): boolean {
  const open = call.openStreams.find((stream) => stream.streamId === streamId);
  if (open === undefined) return false;
  call.openStreams = call.openStreams.filter((stream) => stream !== open);
  const closed = closeStream(open, atUs, call.price.currency, reason);
  call.closedStreams = [...call.closedStreams, closed];
  return true;
}

/** A stream that no bot ever took: the record says so, for a length of nothing and without a charge. */
export function keepRefusedStream(
  call: Call,
  request: AudioStreamRequest,
  streamId: string,
  terminationReason: StreamTermination,
): void {
  if (call.closedStreams.filter(({ billedSeconds }) => billedSeconds === 0).length >= MAX_REFUSED)
    return;
  const nowUs = call.endUs ?? call.nowUs();
  call.closedStreams = [
    ...call.closedStreams,
    {
      ...describeStream(request),
      streamId,
      startUs: nowUs,
      endUs: nowUs,
      connectedUs: 0,
      billedSeconds: 0,
      billedAmount: ZERO,
      currency: call.price.currency,
      terminationReason,
    },
  ];
}

const describeStream = (request: AudioStreamRequest) => ({
  serviceUrl: maskSecrets(withoutSecrets(request.url)),
  audioTrack: request.audioTrack,
  bidirectional: request.bidirectional,
  contentType: `${request.encoding};rate=${request.rate}`,
});

/** User information of a URL never goes into logs, callbacks or records. */
export const withoutSecrets = (url: string): string => url.replace(/^(\w+:\/\/)[^/?#]*@/, '$1');
