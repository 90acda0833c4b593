/** Outgoing pings over a connection (RFC 5626 §4.4.1), in virtual time. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { ConnectionTable } from '../../../src/edge/sip/transport/connection-table.ts';
import {
  DEFAULT_STREAM_LIMITS,
  StreamTransport,
  TCP,
} from '../../../src/edge/sip/transport/stream-transport.ts';
import { until } from '../../eventually.ts';
import { SimClock } from '../../sim/clock.ts';

const OPTIONS = 'OPTIONS sip:a SIP/2.0\r\nContent-Length: 0\r\n\r\n';

it('pings a peer at the interval and closes the connection without a pong', async () => {
  const clock = new SimClock();
  const lost: string[] = [];
  let received = 0;
  const table = new ConnectionTable(DEFAULT_STREAM_LIMITS, {
    received: () => {
      received += 1;
    },
    lost: (_flow, why) => lost.push(why),
  });
  const transport = new StreamTransport({
    host: '127.0.0.1',
    clock,
    table,
    kind: TCP,
    failed: () => undefined,
  });
  let pings = '';
  let answers = true;
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      pings += chunk.toString();
      // The message after the pong shows when it has arrived.
      if (answers) socket.write(`\r\n${OPTIONS}`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const flow = await transport.connect({ transport: 'tcp', address: '127.0.0.1', port });
  const connection = table.get(flow?.connectionId ?? 0);
  const bytesRead = (): number => pings.length;
  connection?.keepAlive?.(90_000);
  for (const count of [1, 2]) {
    await clock.advance(90_000);
    await until(() => received === count);
    expect(bytesRead()).toBe(4 * count);
  }
  answers = false;
  await clock.advance(90_000);
  await until(() => bytesRead() === 12);
  expect(lost).toEqual([]);
  await clock.advance(10_000);
  expect(lost).toEqual(['no pong']);
  table.stop();
  server.close();
});
