/** Outgoing connections over TCP. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { ConnectionTable } from '../../../src/edge/sip/transport/connection-table.ts';
import {
  DEFAULT_STREAM_LIMITS,
  type StreamKind,
  StreamTransport,
  TCP,
} from '../../../src/edge/sip/transport/stream-transport.ts';
import { SimClock } from '../../sim/clock.ts';

const cleanUp: (() => unknown)[] = [];

afterEach(() => {
  for (const act of cleanUp.splice(0).reverse()) act();
});

function transportOf(host: string, kind: StreamKind): StreamTransport {
  const table = new ConnectionTable(DEFAULT_STREAM_LIMITS, {
    received: () => undefined,
    lost: () => undefined,
  });
  cleanUp.push(() => table.stop());
  return new StreamTransport({ host, clock: new SimClock(), table, kind, failed: () => undefined });
}

async function listening(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((socket) => socket.on('error', () => undefined));
  server.listen(0, '127.0.0.1');
  cleanUp.push(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  return { server, port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
}

it('connects to peers although the service listens on a host name', async () => {
  const { port } = await listening();
  const target = { transport: 'tcp', address: '127.0.0.1', port } as const;
  const flow = await transportOf('localhost', TCP).connect(target);
  expect(flow?.remotePort).toBe(port);
});

it('reports a connection that the system refuses to open, and does not reject', async () => {
  const why: string[] = [];
  const kind: StreamKind = {
    ...TCP,
    open: () => {
      throw new Error('no such address');
    },
    failed: (_target, reason) => why.push(reason),
  };
  const target = { transport: 'tcp', address: '127.0.0.1', port: 5060 } as const;
  expect(await transportOf('127.0.0.1', kind).connect(target)).toBeUndefined();
  expect(why).toEqual(['no such address']);
});
