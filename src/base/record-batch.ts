/** Reads binary batches of events from native threads. The layout is defined in native/engine/record_ring.hpp. */

export interface NativeRecord {
  readonly type: number;
  readonly a: number;
  readonly b: number;
  readonly handle: number;
  /** A view into the batch, valid until the next batch. */
  readonly payload: Uint8Array;
  u32(): number;
  f64(): number;
}

const HEADER_BYTES = 16;

/** Calls `handle` for each record in the first `length` bytes of the batch, in order. */
export function readRecords(
  batch: Uint8Array,
  length: number,
  handle: (record: NativeRecord) => void,
): void {
  const view = new DataView(batch.buffer, batch.byteOffset, batch.byteLength);
  for (let at = 0; at + HEADER_BYTES <= length; at += view.getUint32(at, true)) {
    const from = at + HEADER_BYTES;
    handle({
      type: view.getUint8(at + 4),
      a: view.getUint8(at + 5),
      b: view.getUint16(at + 6, true),
      handle: view.getUint32(at + 8, true),
      payload: batch.subarray(from, from + view.getUint32(at + 12, true)),
      u32: () => view.getUint32(from, true),
      f64: () => view.getFloat64(from, true),
    });
  }
}
