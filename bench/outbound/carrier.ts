/** A carrier that answers every call at once, on UDP; run as a process of its own. Tells its parent when each INVITE came. */
import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

const socket = createSocket('udp4');
const seen = new Set<string>();

const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 9 RTP/AVP 0 101',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:101 telephone-event/8000',
  'a=sendrecv',
  '',
].join('\r\n');

const linesOf = (text: string, name: string): string[] =>
  text.split('\r\n').filter((line) => line.toLowerCase().startsWith(`${name}:`));

/** A response with the headers that RFC 3261 §8.2.6.2 has copied from the request. */
function response(request: string, status: string, body: string): string {
  const [to = ''] = linesOf(request, 'to');
  const port = (socket.address() as AddressInfo).port;
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

socket.on('message', (bytes, from) => {
  const request = bytes.toString('latin1');
  const reply = (status: string, body = ''): void =>
    socket.send(response(request, status, body), from.port, from.address);
  if (request.startsWith('INVITE ')) {
    const [callId = ''] = linesOf(request, 'call-id');
    const number = /^INVITE sip:(\d+)/.exec(request)?.[1];
    if (!seen.has(callId)) process.send?.({ number, atMs: Date.now() });
    seen.add(callId);
    reply('180 Ringing');
    reply('200 OK', SDP);
  } else if (!request.startsWith('ACK ') && !request.startsWith('SIP/2.0')) {
    reply('200 OK');
  }
});

socket.bind(0, '127.0.0.1', () => {
  socket.setRecvBufferSize(4 * 1024 * 1024);
  process.send?.({ port: (socket.address() as AddressInfo).port });
});
