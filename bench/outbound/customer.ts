/** A customer's server, which answers every request with a hangup. Runs as a child process and reports each hangup to its parent. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, reply) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (piece: string) => {
    body += piece;
  });
  request.on('end', () => {
    const parameters = new URLSearchParams(body);
    const event = parameters.get('Event');
    if (event !== 'StartApp') process.send?.({ event, callUuid: parameters.get('CallUUID') });
    reply.writeHead(200, { 'content-type': 'application/xml' });
    reply.end('<Response><Hangup/></Response>');
  });
});

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
