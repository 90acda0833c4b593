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

function eventOf(record: NativeRecord): NativeEvent | undefined {
  const { type, handle, a, b } = record;
  switch (type) {
    case TYPE_MEDIA:
      return { type: 'media', handle: handle as StreamHandle, message: record.payload };
    case 2:
      return {
        type: 'played',
        handle: handle as StreamHandle,
        checkpoint: record.u32(),
        at: positionOf(record),
      };
    case 3:
      return {
        type: 'dtmf',
        handle: handle as LegHandle,
        digit: String.fromCharCode(a),
        asTone: b !== 0,
        atMs: record.f64(),
      };
    case 4:
      return { type: 'mediaTimeout', handle: handle as LegHandle, atMs: record.f64() };
    case 5:
      return { type: 'playbackEnded', handle: handle as PlayerHandle };
    case 6:
      return { type: 'digitsSent', handle: handle as JobHandle };
    case 7:
      return {
        type: 'recordingEnded',
        handle: handle as RecordingHandle,
        reason: a,
        durationMs: record.u32(),
      };
    case 8:
      return {
        type: 'machineDetected',
        handle: handle as JobHandle,
        machine: a !== 0,
        reason: b,
        afterMs: record.u32(),
      };
    case 9:
      return { type: 'silenceWaited', handle: handle as JobHandle, silent: a !== 0 };
    case 10:
      return {
        type: 'floorChanged',
        handle: handle as RoomHandle,
        member: record.u32() as MemberHandle,
      };
    case 11:
      return {
        type: 'sourceChanged',
        handle: handle as LegHandle,
        change: a,
        address: Buffer.from(record.payload).toString('latin1'),
        port: b,
      };
    case 12:
      return {
        type: 'secured',
        handle: handle as LegHandle,
        fault: a !== 0 ? undefined : Buffer.from(record.payload).toString('latin1'),
      };
    case 13:
      return {
        type: 'speech',
        handle: handle as StreamHandle,
        started: a !== 0,
        confidence: b / 100,
        atMs: record.f64(),
      };
    case 14:
      return {
        type: 'interrupted',
        handle: handle as StreamHandle,
        checkpoint: a === 0 ? undefined : record.u32(),
        at: positionOf(record),
      };
    case 15:
      return { type: 'turn', handle: handle as StreamHandle, latencyMs: record.u32() };
    default:
      return undefined;
  }
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
