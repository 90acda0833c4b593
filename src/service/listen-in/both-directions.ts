/** Delivers sent and received audio of a call, frame by frame on one time axis. */
import { randomUUID } from 'node:crypto';
import { asStreamId } from '../../base/ids.ts';
import type { MediaLeg, MediaStream } from '../../domain/call/needs.ts';
import { readMediaMessage } from '../../protocol/audio-stream/audio-stream.ts';

export const RATE = 16_000;
const FRAME_MS = 20;
const FRAME_SAMPLES = (RATE * FRAME_MS) / 1000;
/** Number of frames after which a direction without audio counts as silent, so that the other is not delayed. */
const MAX_WAITING = 10;
const SILENCE = new Int16Array(FRAME_SAMPLES);
const QUEUE_MS = 1000;

/** Receives frames of 20 ms. `said` comes from the leg's peer, `received` is sent to it. */
export type BothDirections = (said: Int16Array, received: Int16Array) => void;

/** Listens until `close` or the end of the leg. Throws if the leg already carries its maximum of streams. */
export function listenToBothDirections(
  leg: Pick<MediaLeg, 'openStream'>,
  reported: BothDirections,
): MediaStream {
  const said: Int16Array[] = [];
  const received: Int16Array[] = [];
  const pair = (): void => {
    while (
      (said.length > 0 && received.length > 0) ||
      Math.max(said.length, received.length) > MAX_WAITING
    ) {
      reported(said.shift() ?? SILENCE, received.shift() ?? SILENCE);
    }
  };
  return leg.openStream(
    {
      streamId: asStreamId(randomUUID()),
      encoding: 'audio/x-l16',
      rate: RATE,
      tracks: 'both',
      bidirectional: false,
      extraHeadersJson: '"{}"',
      queueMs: QUEUE_MS,
    },
    {
      media(messages) {
        for (const message of messages) {
          const { track, payload } = readMediaMessage(message);
          if (payload.length !== 2 * FRAME_SAMPLES) continue;
          const samples = new Int16Array(payload.buffer, payload.byteOffset, FRAME_SAMPLES);
          (track === 'inbound' ? said : received).push(samples);
        }
        pair();
      },
      played: () => undefined,
      degraded: () => undefined,
      dtmf: () => undefined,
    },
  );
}

/** Returns the level of a frame in dB below full scale. -100 means silence. */
export function levelOf(frames: readonly Int16Array[]): number {
  let sum = 0;
  let count = 0;
  for (const frame of frames) {
    for (const sample of frame) sum += sample * sample;
    count += frame.length;
  }
  const level = 10 * Math.log10(sum / Math.max(1, count) / 32_768 ** 2);
  return Math.max(-100, Math.round(10 * level) / 10);
}
