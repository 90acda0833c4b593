/** W3C Trace Context (Recommendation of 2021-11-23) for calls. A call UUID has the length of a trace ID. */

/** Returns the trace ID of a call: 32 hexadecimal digits, derived from its UUID. */
export const traceIdOf = (callUuid: string): string => callUuid.replaceAll('-', '').toLowerCase();

/** Returns the ID of the span of the whole call: 16 hexadecimal digits. */
export const callSpanId = (callUuid: string): string => traceIdOf(callUuid).slice(16);

export const traceparent = (traceId: string, spanId: string): string =>
  `00-${traceId}-${spanId}-01`;

/** Returns a span ID from 8 random bytes. Never all zero. */
export function spanIdOf(bytes: Uint8Array): string {
  const id = Buffer.from(bytes.subarray(0, 8)).toString('hex');
  return /^0+$/.test(id) ? '0000000000000001' : id;
}
