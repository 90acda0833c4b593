/** Reads the binary batches of the native side; the layout is that of native/engine/event_ring.hpp. */

export type NativeEvent =
  /** `message` is a view into the batch, valid until the next batch. */
  | { readonly type: 'media'; readonly handle: number; readonly message: Uint8Array }
  | { readonly type: 'played'; readonly handle: number; readonly checkpoint: number }
  | {
      readonly type: 'dtmf';
      readonly handle: number;
      readonly digit: string;
      readonly atMs: number;
    }
  | { readonly type: 'mediaTimeout'; readonly handle: number }
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

const HEADER_BYTES = 16;
const TYPE_MEDIA = 1;

/** Calls `handle` for each record of the batch's first `length` bytes, in order. */
export function readBatch(
  batch: Uint8Array,
  length: number,
  handle: (event: NativeEvent) => void,
): void {
  const view = new DataView(batch.buffer, batch.byteOffset, batch.byteLength);
  for (let at = 0; at + HEADER_BYTES <= length; ) {
    const size = view.getUint32(at, true);
    const event = readRecord(batch, view, at);
    if (event !== undefined) handle(event);
    at += size;
  }
}

function readRecord(batch: Uint8Array, view: DataView, at: number): NativeEvent | undefined {
  const type = view.getUint8(at + 4);
  const handle = view.getUint32(at + 8, true);
  const payload = at + HEADER_BYTES;
  if (type === TYPE_MEDIA) {
    const bytes = view.getUint32(at + 12, true);
    return { type: 'media', handle, message: batch.subarray(payload, payload + bytes) };
  }
  const a = view.getUint8(at + 5);
  switch (type) {
    case 2:
      return { type: 'played', handle, checkpoint: view.getUint32(payload, true) };
    case 3:
      return {
        type: 'dtmf',
        handle,
        digit: String.fromCharCode(a),
        atMs: view.getFloat64(payload, true),
      };
    case 4:
      return { type: 'mediaTimeout', handle };
    case 5:
      return { type: 'playbackEnded', handle };
    case 6:
      return { type: 'digitsSent', handle };
    case 7:
      return {
        type: 'recordingEnded',
        handle,
        reason: a,
        durationMs: view.getUint32(payload, true),
      };
    case 8:
      return {
        type: 'machineDetected',
        handle,
        machine: a !== 0,
        reason: view.getUint16(at + 6, true),
        afterMs: view.getUint32(payload, true),
      };
    case 9:
      return { type: 'silenceWaited', handle, silent: a !== 0 };
    case 10:
      return { type: 'floorChanged', handle, member: view.getUint32(payload, true) };
    default:
      return undefined;
  }
}
