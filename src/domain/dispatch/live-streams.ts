/** Starts, lists and stops audio streams for the REST API (dialect §1.8). */
import type { StreamId } from '../../base/ids.ts';
import { withoutUserInfo } from '../../base/mask.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Call } from '../call/call.ts';
import { mayKeepAudio } from '../call/types.ts';
import {
  failedStreamsOf,
  type InterpreterNeeds,
  type LiveAudioStream,
  openAudioStream,
  streamsOf,
  undisclosed,
} from '../interpreter/interpreter.ts';
import type { ControlRefusal, LiveStream, StreamRequest } from './control.ts';

export function startStream(
  call: Call,
  request: StreamRequest,
  needs: InterpreterNeeds,
): Result<LiveStream, ControlRefusal> {
  if (!needs.settings.allowInsecureStreams && /^ws:/i.test(request.serviceUrl)) {
    return err({ kind: 'insecureStream' });
  }
  const agreed = mayKeepAudio(call);
  if (!agreed.ok) return agreed;
  const missing = undisclosed(call, request, needs);
  if (missing !== undefined) return err({ kind: 'wrongState', detail: missing });
  const { bidirectional, audioTrack, encoding, rate, statusCallback, extraHeaders } = request;
  const stream = openAudioStream(
    call,
    {
      url: request.serviceUrl,
      bidirectional,
      audioTrack,
      keepCallAlive: false,
      encoding,
      rate,
      timeoutMs: request.timeoutMs,
      statusCallback,
      extraHeaders,
      extraHeadersText: extraHeaders.map(([name, value]) => `${name}=${value}`).join(','),
      maxRetries: 0,
      speech: request.speech,
      ...(request.clean && { clean: request.clean }),
      playPositions: request.playPositions ?? false,
      notes: false,
      transfers: false,
    },
    needs,
  );
  if (stream !== undefined) return ok(describe(call, stream));
  // The limit is reached, so it equals the number of open streams of this kind.
  const alike = streamsOf(call).filter((open) => open.request.bidirectional === bidirectional);
  return err({ kind: 'tooMany', limit: alike.length });
}

/** Open streams, and those that no bot accepted. */
export const listStreams = (call: Call): readonly LiveStream[] => [
  ...failedStreamsOf(call).map((stream) => ({
    ...described(call, stream),
    status: 'failed' as const,
    endUs: stream.endUs,
  })),
  ...streamsOf(call).map((stream) => describe(call, stream)),
];

/** Stops streams. Returns false if there were none. The ID of an earlier connection selects the reconnected stream. */
export function stopStreams(call: Call, streamId: StreamId | undefined, drain: boolean): boolean {
  const meant = streamsOf(call).filter(
    (stream) => streamId === undefined || stream.isCalled(streamId),
  );
  for (const stream of meant) stream.stop('apiRequest', { drain });
  return meant.length > 0;
}

const describe = (call: Call, stream: LiveAudioStream): LiveStream => ({
  ...described(call, stream),
  status: stream.connected ? 'in-progress' : 'initiated',
  endUs: undefined,
});

function described(
  call: Call,
  { request, streamId, startUs }: Pick<LiveAudioStream, 'request' | 'streamId' | 'startUs'>,
): Omit<LiveStream, 'status' | 'endUs'> {
  return {
    streamId,
    callUuid: call.uuid,
    serviceUrl: withoutUserInfo(request.url),
    audioTrack: request.audioTrack,
    bidirectional: request.bidirectional,
    contentType: request.encoding,
    rate: request.rate,
    timeoutMs: request.timeoutMs,
    statusCallback: request.statusCallback,
    startUs,
  };
}
