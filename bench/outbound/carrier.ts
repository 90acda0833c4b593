/** A carrier that answers every call immediately, over UDP. Runs as a separate process and reports the time of each INVITE. */
import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { CARRIER_SDP, linesOf, response } from '../../test/e2e/carrier-message.ts';

const socket = createSocket('udp4');
const seen = new Set<string>();
const portOf = (): number => (socket.address() as AddressInfo).port;

socket.on('message', (bytes, from) => {
  const request = bytes.toString('latin1');
  const reply = (status: string, body = ''): void =>
    socket.send(response(request, status, { port: portOf(), body }), from.port, from.address);
  if (request.startsWith('INVITE ')) {
    const [callId = ''] = linesOf(request, 'call-id');
    const number = /^INVITE sip:(\d+)/.exec(request)?.[1];
    if (!seen.has(callId)) process.send?.({ number, atMs: Date.now() });
    seen.add(callId);
    reply('180 Ringing');
    reply('200 OK', CARRIER_SDP);
  } else if (!request.startsWith('ACK ') && !request.startsWith('SIP/2.0')) {
    reply('200 OK');
  }
});

socket.bind(0, '127.0.0.1', () => {
  socket.setRecvBufferSize(4 * 1024 * 1024);
  process.send?.({ port: portOf() });
});
