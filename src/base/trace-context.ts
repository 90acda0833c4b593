/** W3C Trace Context (Recommendation of 2021-11-23) for calls: a call's UUID is as long as the id of a trace. */

/** 32 hexadecimal digits: whoever has the UUID finds the trace. */
export const traceIdOf = (callUuid: string): string => callUuid.replaceAll('-', '').toLowerCase();

/** 16 hexadecimal digits: the span of the whole call. */
export const callSpanId = (callUuid: string): string => traceIdOf(callUuid).slice(16);

export const traceparent = (traceId: string, spanId: string): string =>
  `00-${traceId}-${spanId}-01`;

/** Of 8 random bytes, never all zero. */
export function spanIdOf(bytes: Uint8Array): string {
  const id = Buffer.from(bytes.subarray(0, 8)).toString('hex');
  return /^0+$/.test(id) ? '0000000000000001' : id;
}
