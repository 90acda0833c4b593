/** Events of the native media engine; their numbers are those of native/engine/event_ring.hpp. */
import { type NativeRecord, readRecords } from '../../base/record-batch.ts';

export type NativeEvent =
  /** `message` is a view into the batch, valid until the next batch. */
  | { readonly type: 'media'; readonly handle: number; readonly message: Uint8Array }
  | { readonly type: 'played'; readonly handle: number; readonly checkpoint: number }
  | {
      readonly type: 'dtmf';
      readonly handle: number;
      readonly digit: string;
      /** Heard within the audio. */
      readonly asTone: boolean;
      readonly atMs: number;
    }
  /** `atMs`: when the time was over. */
  | { readonly type: 'mediaTimeout'; readonly handle: number; readonly atMs: number }
  | {
      readonly type: 'sourceChanged';
      readonly handle: number;
      readonly change: number;
      readonly address: string;
      readonly port: number;
    }
  | { readonly type: 'playbackEnded'; readonly handle: number }
  | { readonly type: 'digitsSent'; readonly handle: number }
  | {
      readonly type: 'recordingEnded';
      readonly handle: number;
      readonly reason: number;
      readonly durationMs: number;
    }
  | {
      readonly type: 'machineDetected';
      readonly handle: number;
      readonly machine: boolean;
      readonly reason: number;
      readonly afterMs: number;
    }
  | { readonly type: 'silenceWaited'; readonly handle: number; readonly silent: boolean }
  | { readonly type: 'floorChanged'; readonly handle: number; readonly member: number };

const TYPE_MEDIA = 1;

/** Calls `handle` for each record of the batch's first `length` bytes, in order. */
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
      return { type: 'media', handle, message: record.payload };
    case 2:
      return { type: 'played', handle, checkpoint: record.u32() };
    case 3:
      return {
        type: 'dtmf',
        handle,
        digit: String.fromCharCode(a),
        asTone: b !== 0,
        atMs: record.f64(),
      };
    case 4:
      return { type: 'mediaTimeout', handle, atMs: record.f64() };
    case 5:
      return { type: 'playbackEnded', handle };
    case 6:
      return { type: 'digitsSent', handle };
    case 7:
      return { type: 'recordingEnded', handle, reason: a, durationMs: record.u32() };
    case 8:
      return {
        type: 'machineDetected',
        handle,
        machine: a !== 0,
        reason: b,
        afterMs: record.u32(),
      };
    case 9:
      return { type: 'silenceWaited', handle, silent: a !== 0 };
    case 10:
      return { type: 'floorChanged', handle, member: record.u32() };
    case 11:
      return {
        type: 'sourceChanged',
        handle,
        change: a,
        address: Buffer.from(record.payload).toString('latin1'),
        port: b,
      };
    default:
      return undefined;
  }
}
