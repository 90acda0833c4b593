import { getSystemErrorName } from 'node:util';
import type {
  LineRate,
  MediaRecording,
  RecordEnd,
  RecordOptions,
} from '../../domain/call/needs.ts';
import type { Hub } from './hub.ts';
import type { Place, RecordingHandle } from './native.ts';

/** Names in the order of the native RecordingEnd. */
const REASONS: readonly RecordEnd['reason'][] = [
  'stopped',
  'silence',
  'maxLength',
  'legEnded',
  'failed',
];

const systemError = (errno: number): string => getSystemErrorName(-errno);

/** Recording of a leg or a room. */
export interface NativeRecording extends MediaRecording {
  /** Replaces the audio to the peer by silence, unless the recording contains the ringback. */
  ringback(isRingback: boolean): void;
}

/**
 * Starts a recording of a leg or a room whose rate is `placeRate`, at 16 kHz if that rate allows it. `finished`
 * resolves when the file is complete.
 */
export function startRecording(
  hub: Hub,
  place: Place,
  placeRate: LineRate,
  options: RecordOptions,
): NativeRecording {
  const { promise, resolve } = Promise.withResolvers<RecordEnd>();
  const recording = hub.newHandle<RecordingHandle>();
  let over = false;
  hub.listen(recording, (event) => {
    if (event.type !== 'recordingEnded') return;
    over = true;
    hub.forget(recording);
    const errno = hub.engine.removeRecording(place, recording);
    const reason = REASONS[event.reason] ?? 'failed';
    const error = reason === 'failed' && errno !== 0 ? systemError(errno) : undefined;
    resolve({ reason, durationMs: event.durationMs, error });
  });
  const { path, channels, stereo, silenceEndMs, maxMs, ringback = false } = options;
  const errno = hub.engine.record({
    place,
    recording,
    path,
    side: channels,
    stereo,
    rate: placeRate >= 16_000 ? 16_000 : 8000,
    silenceEndMs,
    maxMs,
    suppressDigits: hub.suppressDigits,
  });
  if (errno !== 0) {
    over = true;
    hub.forget(recording);
    resolve({ reason: 'failed', durationMs: 0, error: systemError(errno) });
  }
  return {
    finished: promise,
    pause: (paused) => {
      if (!over) hub.engine.pauseRecording(place, recording, paused);
    },
    ringback: (isRingback) => {
      if (!over && !ringback) hub.engine.leaveOutSent(place, recording, isRingback);
    },
    stop: () => {
      if (!over) hub.engine.stopRecording(place, recording);
    },
  };
}
