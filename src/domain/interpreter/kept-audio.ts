/** Ends recordings and streams of calls whose parties have not agreed to them. */
import type { Call } from '../call/call.ts';
import type { Bridge } from '../call/needs.ts';
import { connectParties, mayKeepAudio } from '../call/types.ts';
import { streamsOf } from './audio-stream.ts';
import type { InterpreterNeeds } from './needs.ts';

type Needs = Pick<InterpreterNeeds, 'media' | 'recorder'>;

/** Ends the recordings and streams of a call, also those that start, unless its parties have agreed or were not asked. */
export function endUnagreed(call: Call, { recorder }: Pick<Needs, 'recorder'>): void {
  const agreed = mayKeepAudio(call);
  if (agreed.ok) return;
  const streams = streamsOf(call);
  const wasRecorded = recorder.stop(call);
  for (const stream of streams) stream.stop('apiRequest');
  if (!wasRecorded && streams.length === 0) return;
  call.log.add('warning', 'recordings and streams ended', { reason: agreed.error.detail });
}

/** Notes that two calls hear each other, and ends what their consent does not allow. The returned function undoes it. */
export function hearEachOther(a: Call, b: Call, needs: Pick<Needs, 'recorder'>): () => void {
  const undo = connectParties(a, b);
  for (const call of [a, b]) endUnagreed(call, needs);
  return undo;
}

/** Connects the audio of two calls. */
export function connectAudio(a: Call, b: Call, needs: Needs): Bridge {
  const undo = hearEachOther(a, b, needs);
  const bridge = needs.media.bridge(a.media, b.media);
  return {
    close: () => {
      undo();
      bridge.close();
    },
  };
}
