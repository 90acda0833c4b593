/** Outgoing connections over TCP. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { ConnectionTable } from '../../../src/edge/sip/transport/connection-table.ts';
import {
  DEFAULT_STREAM_LIMITS,
  type StreamKind,
  StreamTransport,
  TCP,
} from '../../../src/edge/sip/transport/stream-transport.ts';
import { until } from '../../eventually.ts';
import { SimClock } from '../../sim/clock.ts';

const cleanUp: (() => unknown)[] = [];

afterEach(() => {
  for (const act of cleanUp.splice(0).reverse()) act();
});

function transportOf(host: string, kind: StreamKind): StreamTransport {
  return setUp(host, kind).transport;
}

function setUp(host: string, kind: StreamKind) {
  const clock = new SimClock();
  let received = 0;
  const table = new ConnectionTable(DEFAULT_STREAM_LIMITS, {
    received: () => {
      received += 1;
    },
    lost: () => undefined,
  });
  cleanUp.push(() => table.stop());
  const transport = new StreamTransport({ host, clock, table, kind, failed: () => undefined });
  return { transport, table, clock, received: () => received };
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

const message = (start: string): Buffer => Buffer.from(`${start}\r\nContent-Length: 0\r\n\r\n`);

it.each(['INVITE', 'REGISTER'])(
  'opens another connection if the peer has sent nothing for 4 s after %s',
  async (method) => {
    const { server, port } = await listening();
    let isLost = true;
    server.on('connection', (socket) =>
      socket.on('data', () => {
        if (!isLost) socket.write(message('SIP/2.0 100 Trying'));
      }),
    );
    const { transport, table, clock, received } = setUp('127.0.0.1', TCP);
    const connected = async (): Promise<number> => {
      const flow = await transport.connect({ transport: 'tcp', address: '127.0.0.1', port });
      return flow?.connectionId ?? 0;
    };
    const send = (id: number, start: string): void =>
      table.send(id, message(`${start} sip:a SIP/2.0`), () => undefined);
    const first = await connected();
    // Some peers ignore OPTIONS, and ACK has no response.
    for (const start of ['OPTIONS', 'ACK']) send(first, start);
    await clock.advance(60_000);
    expect(await connected()).toBe(first);
    send(first, method);
    await clock.advance(3_999);
    expect(await connected()).toBe(first);
    await clock.advance(1);
    isLost = false;
    const second = await connected();
    expect(second).not.toBe(first);
    expect(table.get(first)).toBeDefined();
    send(second, method);
    await until(() => received() > 0);
    await clock.advance(60_000);
    expect(await connected()).toBe(second);
  },
);

it('keeps a connection whose peer sends a single CRLF as keep-alive', async () => {
  const { server, port } = await listening();
  const accepted = once(server, 'connection');
  const { transport, table, clock, received } = setUp('127.0.0.1', TCP);
  const flow = await transport.connect({ transport: 'tcp', address: '127.0.0.1', port });
  const [peer] = (await accepted) as [Socket];
  // The message shows that the line break after it has arrived.
  peer.write(Buffer.concat([message('SIP/2.0 100 Trying'), Buffer.from('\r\n')]));
  await until(() => received() === 1);
  await clock.advance(60_000);
  expect(table.get(flow?.connectionId ?? 0)).toBeDefined();
  peer.write(message('SIP/2.0 100 Trying'));
  await until(() => received() === 2);
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

it('abandons a connection that is being opened when it stops', async () => {
  const { port } = await listening();
  const { transport, table, clock } = setUp('127.0.0.1', TCP);
  await transport.start(0);
  const target = { transport: 'tcp', address: '127.0.0.1', port } as const;
  const connecting = transport.connect(target);
  table.stop();
  await transport.stop();
  expect(await connecting).toBeUndefined();
  expect([table.size, clock.nextMs()]).toEqual([0, undefined]);
});
