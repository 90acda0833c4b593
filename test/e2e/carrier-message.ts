/** SIP messages of carriers in tests and benchmarks, written without code of this project. */

/** Returns all header lines with this name (lower case), unmodified and in order. */
export const linesOf = (text: string, name: string): string[] =>
  text.split('\r\n').filter((line) => line.toLowerCase().startsWith(`${name}:`));

export const headerOf = (text: string, name: string): string =>
  (linesOf(text, name)[0] ?? '').slice(name.length + 1).trim();

/** Returns an SDP body for PCMU at `port` of 127.0.0.1. */
export const carrierSdp = (port: number, direction: 'sendrecv' | 'inactive' = 'sendrecv'): string =>
  [
    'v=0',
    'o=- 1 1 IN IP4 127.0.0.1',
    's=-',
    'c=IN IP4 127.0.0.1',
    't=0 0',
    `m=audio ${port} RTP/AVP 0 13 101`,
    'a=rtpmap:0 PCMU/8000',
    'a=rtpmap:101 telephone-event/8000',
    `a=${direction}`,
    '',
  ].join('\r\n');

/** SDP with a port on which no socket listens. */
export const CARRIER_SDP = carrierSdp(9);

/** Builds a response with the headers that RFC 3261 §8.2.6.2 copies from the request. */
export function response(
  request: string,
  status: string,
  of: { readonly port: number; readonly body?: string },
): string {
  const [to = ''] = linesOf(request, 'to');
  const { port, body = '' } = of;
  return [
    `SIP/2.0 ${status}`,
    ...linesOf(request, 'via'),
    ...linesOf(request, 'from'),
    to.includes(';tag=') ? to : `${to};tag=carrier`,
    ...linesOf(request, 'call-id'),
    ...linesOf(request, 'cseq'),
    `Contact: <sip:carrier@127.0.0.1:${port}>`,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
