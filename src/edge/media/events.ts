/** Events of the native media engine. Their numbers match native/engine/event_ring.hpp. */
import { type NativeRecord, readRecords } from '../../base/record-batch.ts';
import type { PlayPosition } from '../../domain/call/needs.ts';
import type {
  JobHandle,
  LegHandle,
  MemberHandle,
  PlayerHandle,
  RecordingHandle,
  RoomHandle,
  StreamHandle,
} from './native.ts';

/** Events of one stream, other than its media. */
export type StreamEvent =
  | {
      readonly type: 'played';
      readonly handle: StreamHandle;
      readonly checkpoint: number;
      readonly at: PlayPosition;
    }
  | {
      readonly type: 'speech';
      readonly handle: StreamHandle;
      readonly started: boolean;
      /** 0–1. */
      readonly confidence: number;
      readonly atMs: number;
    }
  | {
      readonly type: 'interrupted';
      readonly handle: StreamHandle;
      /** Last discarded checkpoint. */
      readonly checkpoint: number | undefined;
      readonly at: PlayPosition;
    }
  | { readonly type: 'turn'; readonly handle: StreamHandle; readonly latencyMs: number };

export type NativeEvent =
  /** `message` is a view into the batch, valid until the next batch. */
  | { readonly type: 'media'; readonly handle: StreamHandle; readonly message: Uint8Array }
  | StreamEvent
  | {
      readonly type: 'dtmf';
      readonly handle: LegHandle;
      readonly digit: string;
      /** True if the digit was detected as a tone in the audio. */
      readonly asTone: boolean;
      readonly atMs: number;
    }
  /** `atMs` is the time at which the timeout elapsed. */
  | { readonly type: 'mediaTimeout'; readonly handle: LegHandle; readonly atMs: number }
  | {
      readonly type: 'sourceChanged';
      readonly handle: LegHandle;
      readonly change: number;
      readonly address: string;
      readonly port: number;
    }
  /** `fault` is the reason if key exchange failed. */
  | { readonly type: 'secured'; readonly handle: LegHandle; readonly fault: string | undefined }
  | { readonly type: 'playbackEnded'; readonly handle: PlayerHandle }
  | { readonly type: 'digitsSent'; readonly handle: JobHandle }
  | {
      readonly type: 'recordingEnded';
      readonly handle: RecordingHandle;
      readonly reason: number;
      readonly durationMs: number;
    }
  | {
      readonly type: 'machineDetected';
      readonly handle: JobHandle;
      readonly machine: boolean;
      readonly reason: number;
      readonly afterMs: number;
    }
  | { readonly type: 'silenceWaited'; readonly handle: JobHandle; readonly silent: boolean }
  | { readonly type: 'floorChanged'; readonly handle: RoomHandle; readonly member: MemberHandle };

const TYPE_MEDIA = 1;

/** Calls `handle` for each record in the first `length` bytes of the batch, in order. */
export function readBatch(
  batch: Uint8Array,
  length: number,
  handle: (event: NativeEvent) => void,
): void {
  readRecords(batch, length, (record) => {
    const event = eventOf(record);
    if (event !== undefined) handle(event);
  });
}

/** Readers of all events except media, by type. */
const READERS: Readonly<Record<number, (record: NativeRecord) => NativeEvent>> = {
  2: (record) => ({
    type: 'played',
    handle: record.handle as StreamHandle,
    checkpoint: record.u32(),
    at: positionOf(record),
  }),
  3: (record) => ({
    type: 'dtmf',
    handle: record.handle as LegHandle,
    digit: String.fromCharCode(record.a),
    asTone: record.b !== 0,
    atMs: record.f64(),
  }),
  4: (record) => ({ type: 'mediaTimeout', handle: record.handle as LegHandle, atMs: record.f64() }),
  5: (record) => ({ type: 'playbackEnded', handle: record.handle as PlayerHandle }),
  6: (record) => ({ type: 'digitsSent', handle: record.handle as JobHandle }),
  7: (record) => ({
    type: 'recordingEnded',
    handle: record.handle as RecordingHandle,
    reason: record.a,
    durationMs: record.u32(),
  }),
  8: (record) => ({
    type: 'machineDetected',
    handle: record.handle as JobHandle,
    machine: record.a !== 0,
    reason: record.b,
    afterMs: record.u32(),
  }),
  9: (record) => ({
    type: 'silenceWaited',
    handle: record.handle as JobHandle,
    silent: record.a !== 0,
  }),
  10: (record) => ({
    type: 'floorChanged',
    handle: record.handle as RoomHandle,
    member: record.u32() as MemberHandle,
  }),
  11: (record) => ({
    type: 'sourceChanged',
    handle: record.handle as LegHandle,
    change: record.a,
    address: Buffer.from(record.payload).toString('latin1'),
    port: record.b,
  }),
  12: (record) => ({
    type: 'secured',
    handle: record.handle as LegHandle,
    fault: record.a !== 0 ? undefined : Buffer.from(record.payload).toString('latin1'),
  }),
  13: (record) => ({
    type: 'speech',
    handle: record.handle as StreamHandle,
    started: record.a !== 0,
    confidence: record.b / 100,
    atMs: record.f64(),
  }),
  14: (record) => ({
    type: 'interrupted',
    handle: record.handle as StreamHandle,
    checkpoint: record.a === 0 ? undefined : record.u32(),
    at: positionOf(record),
  }),
  15: (record) => ({
    type: 'turn',
    handle: record.handle as StreamHandle,
    latencyMs: record.u32(),
  }),
};

function eventOf(record: NativeRecord): NativeEvent | undefined {
  if (record.type === TYPE_MEDIA)
    return { type: 'media', handle: record.handle as StreamHandle, message: record.payload };
  return READERS[record.type]?.(record);
}

/** Reads ReachedCheckpoint of native/core/base/play_position.hpp, behind the checkpoint. */
function positionOf({ payload }: NativeRecord): PlayPosition {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const at = (word: number): number => view.getUint32(4 * word, true);
  return {
    playedMs: at(1),
    message: at(2),
    messagePlayedMs: at(3),
    messageMs: at(4),
    discardedMs: at(5),
  };
}
