/** Stream limits per call, and the recorded facts of a stream. */

import type { StreamId } from '../../base/ids.ts';
import { maskSecrets, withoutUserInfo } from '../../base/mask.ts';
import type { StreamFacts } from '../call/call.ts';
import type { AudioStreamRequest, LiveAudioStream } from './stream.ts';

/** Limits of dialect §1.5. */
const MAX_BIDIRECTIONAL = 1;
const MAX_ONE_WAY = 4;

/** Returns why another stream is refused, or undefined if it is allowed. */
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

export const factsOf = (request: AudioStreamRequest, streamId: StreamId): StreamFacts => ({
  streamId,
  serviceUrl: maskSecrets(withoutUserInfo(request.url)),
  audioTrack: request.audioTrack,
  bidirectional: request.bidirectional,
  contentType: `${request.encoding};rate=${request.rate}`,
});
