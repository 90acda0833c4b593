/** How streams stand in the records of their call. */
import type { Call } from '../call/call.ts';
import { closeStream } from '../cdr/cdr.ts';
import type { StreamTermination } from '../cdr/types.ts';
import type { AudioStreamRequest, LiveAudioStream } from './audio-stream.ts';

/** Dialect §1.5. */
const MAX_BIDIRECTIONAL = 1;
const MAX_ONE_WAY = 4;
/** Connections of one call that are recorded one by one; a bot that makes us reconnect for ever cannot grow a record. */
const MAX_RECORDED = 200;

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
      streamId,
      serviceUrl: withoutSecrets(request.url),
      audioTrack: request.audioTrack,
      bidirectional: request.bidirectional,
      contentType: `${request.encoding};rate=${request.rate}`,
      startUs,
      endUs: undefined,
      perMinute: call.price.streamPerMinute,
      pulseSeconds: call.price.streamPulseSeconds,
    },
  ];
}

/** False when the stream was never connected, and so is neither recorded nor billed. */
export function closeOpenStream(call: Call, streamId: string, reason: StreamTermination): boolean {
  const open = call.openStreams.find((stream) => stream.streamId === streamId);
  if (open === undefined) return false;
  call.openStreams = call.openStreams.filter((stream) => stream !== open);
  const closed = closeStream(open, call.endUs ?? call.nowUs(), call.price.currency, reason);
  call.closedStreams = [...call.closedStreams, closed];
  return true;
}

/** User information of a URL never goes into logs, callbacks or records. */
export const withoutSecrets = (url: string): string => url.replace(/^(\w+:\/\/)[^/@]*@/, '$1');
