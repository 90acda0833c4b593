/** Parameters of a stream's status callback (dialect §1.7: the common fields and the extended set observed in practice). */
import type { StreamId } from '../../base/ids.ts';
import { withoutUserInfo } from '../../base/mask.ts';
import type { Call } from '../call/call.ts';
import { partyParameter } from '../callback/callback.ts';
import type { CallbackParameters, CallbackTarget } from '../callback/types.ts';
import type { AudioStreamRequest } from './stream.ts';

export function streamParameters(
  call: Call,
  stream: AudioStreamRequest & {
    readonly streamId: StreamId;
    readonly statusCallback: CallbackTarget;
  },
  event: string,
  error: string,
): CallbackParameters {
  const { facts } = call;
  return [
    ['From', partyParameter(facts.from)],
    ['To', partyParameter(facts.to)],
    ['CallUUID', call.uuid],
    ['Event', event],
    ['StreamID', stream.streamId],
    ['ServiceURL', withoutUserInfo(stream.url)],
    ['ParentAuthID', facts.parentAuthId],
    ['status_callback_url', stream.statusCallback.url],
    ['status_callback_method', stream.statusCallback.method],
    ['Timestamp', new Date(call.nowUs() / 1000).toISOString().replace('T', ' ').slice(0, 19)],
    ['Error', error],
    ['bidirectional', String(stream.bidirectional)],
    ['audioTrack', stream.audioTrack],
    ['streamTimeout', String(Math.round(stream.timeoutMs / 1000))],
    ['contentType', `${stream.encoding};rate=${stream.rate}`],
    ['extraHeaders', stream.extraHeadersText],
    ['maxRetries', String(stream.maxRetries)],
    ['keepCallAlive', String(stream.keepCallAlive)],
    ['Direction', facts.direction],
    ['CallStatus', call.isEnded ? 'completed' : 'in-progress'],
  ];
}
