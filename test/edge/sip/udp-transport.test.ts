/** The UDP socket of signalling over loopback. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ADDON } from '../../../src/base/native-addon.ts';
import { UdpTransport } from '../../../src/edge/sip/transport/udp-transport.ts';
import { until } from '../../eventually.ts';

interface Received {
  readonly text: string;
  readonly address: string;
  readonly port: number;
  readonly waitedMs: number;
}

async function listening(
  host = '127.0.0.1',
  onMessage: (received: Received) => void = () => undefined,
) {
  const received: Received[] = [];
  const failures: Error[] = [];
  const undelivered: string[] = [];
  const udp = new UdpTransport(host, 0, {
    received: (bytes, address, port, waitedMs) => {
      const one = { text: Buffer.from(bytes).toString(), address, port, waitedMs };
      received.push(one);
      onMessage(one);
    },
    undelivered: (start) => undelivered.push(start.toString()),
    failed: (error) => failures.push(error),
  });
  const port = await udp.start();
  onTestFinished(() => udp.stop());
  return { udp, port, received, failures, undelivered };
}

async function peer() {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return socket;
}

/** Returns a port without a listener. */
async function closedPort(host: string): Promise<number> {
  const socket = createSocket(host === '::1' ? 'udp6' : 'udp4').bind(0, host);
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

function stall(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

const never = (): void => expect.unreachable();

describe('the UDP socket', () => {
  it('receives complete datagrams with their source, and sends to it', async () => {
    const [{ udp, port, received }, socket] = [await listening(), await peer()];
    const long = 'x'.repeat(60_000);
    for (const text of ['one', '', long]) socket.send(text, port, '127.0.0.1');
    await until(() => received.length === 3);
    expect(received.map(({ text }) => text)).toEqual(['one', '', long]);
    expect(received[0]).toMatchObject({ address: '127.0.0.1', port: socket.address().port });
    const reply = once(socket, 'message');
    udp.send(Buffer.from('two'), '127.0.0.1', socket.address().port, never);
    expect(String((await reply)[0])).toBe('two');
  });

  it.each(['127.0.0.1', '::1', '::'])(
    'on %s reports datagrams to closed ports and continues with others',
    async (host) => {
      const { udp, port, received, undelivered } = await listening(host);
      const own = host === '127.0.0.1' ? host : '::1';
      const nobody = await closedPort(own);
      const long = `lost ${'x'.repeat(400)}`;
      for (let round = 1; round <= 3; round += 1) {
        udp.send(Buffer.from(long), own, nobody, never);
        udp.send(Buffer.from(`found ${round}`), own, port, never);
        await until(() => undelivered.length === round && received.length === round);
      }
      expect(undelivered).toEqual([long, long, long]);
      expect(received.map(({ text }) => text)).toEqual(['found 1', 'found 2', 'found 3']);
    },
  );

  it('reports how long a datagram waited while the event loop was blocked, for all of a turn together', async () => {
    const [{ port, received }, { udp: sender }] = [await listening(), await listening()];
    const count = 200;
    for (let n = 0; n < count; n += 1)
      sender.send(Buffer.from(String(n)), '127.0.0.1', port, never);
    stall(120);
    await until(() => received.length === count);
    expect(received.map(({ text }) => Number(text))).toEqual(Array.from(Array(count).keys()));
    expect(received[0]?.waitedMs).toBeGreaterThan(100);
    expect(received[0]?.waitedMs).toBeLessThan(5000);
  });

  it('continues with other messages when the handling of one fails', async () => {
    const { port, received, failures } = await listening('127.0.0.1', ({ text }) => {
      if (text === 'bad') throw new Error('unreadable');
    });
    const socket = await peer();
    for (const text of ['bad', 'good']) socket.send(text, port, '127.0.0.1');
    await until(() => received.length === 2);
    expect(failures).toHaveLength(1);
  });

  it('continues when the handling of an undelivered datagram fails', async () => {
    const failures: Error[] = [];
    const udp = new UdpTransport('127.0.0.1', 0, {
      received: never,
      undelivered: () => {
        throw new Error('unreadable');
      },
      failed: (error) => failures.push(error),
    });
    await udp.start();
    onTestFinished(() => udp.stop());
    const nobody = await closedPort('127.0.0.1');
    for (let round = 1; round <= 2; round += 1) {
      udp.send(Buffer.from('lost'), '127.0.0.1', nobody, never);
      await until(() => failures.length === round);
    }
    expect(failures[0]).toMatchObject({ message: 'unreadable' });
  });

  it('treats an exception of a native callback as uncaught, and delivers later datagrams', async () => {
    const worker = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads');
      const { SignalSocket } = require(workerData);
      process.on('uncaughtException', ({ message }) => parentPort.postMessage(message));
      const onMessages = ([bytes]) => {
        if (String(bytes) === 'bad') throw new Error('unreadable');
        parentPort.postMessage(String(bytes));
      };
      const options = { host: '127.0.0.1', port: 0, receiveBuffer: 0, sendBuffer: 0 };
      parentPort.postMessage(new SignalSocket(options, onMessages, () => undefined).port());`,
      { eval: true, workerData: ADDON },
    );
    onTestFinished(async () => void (await worker.terminate()));
    const heard: unknown[] = [];
    worker.on('message', (message) => heard.push(message));
    await until(() => heard.length === 1);
    const socket = await peer();
    const port = Number(heard[0]);
    socket.send('bad', port, '127.0.0.1');
    await until(() => heard.length === 2);
    socket.send('good', port, '127.0.0.1');
    await until(() => heard.length === 3);
    expect(heard).toEqual([port, 'unreadable', 'good']);
  });

  it('uses IPv4 over an IPv6 socket with plain addresses', async () => {
    const [{ udp, port, received }, socket] = [await listening('::'), await peer()];
    socket.send('one', port, '127.0.0.1');
    await until(() => received.length === 1);
    expect(received[0]?.address).toBe('127.0.0.1');
    const reply = once(socket, 'message');
    udp.send(Buffer.from('two'), '127.0.0.1', socket.address().port, never);
    expect(String((await reply)[0])).toBe('two');
  });

  it('reports a failed send, and sends nothing once it is closed', async () => {
    const { udp } = await listening();
    const failed = new Promise<void>((resolve) => {
      udp.send(Buffer.alloc(70_000), '127.0.0.1', 9, resolve);
    });
    await failed;
    await udp.stop();
    await new Promise<void>((resolve) => udp.send(Buffer.from('late'), '127.0.0.1', 9, resolve));
  });

  it('releases its memory once it is closed', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const closed = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const udp = new UdpTransport('127.0.0.1', 0, { received: never, failed: never });
        await udp.start();
        await udp.stop();
        return new WeakRef(udp);
      }),
    );
    await until(() => {
      collect();
      return closed.every((udp) => udp.deref() === undefined);
    });
  });

  it('counts datagrams dropped by the kernel', async () => {
    const [{ udp, port, received }, { udp: sender }] = [await listening(), await listening()];
    const big = Buffer.alloc(60_000);
    for (let n = 0; n < 400; n += 1) sender.send(big, '127.0.0.1', port, never);
    await until(() => received.length > 0);
    // The count is updated with the next datagram received after the loss.
    await until(() => {
      sender.send(Buffer.from('more'), '127.0.0.1', port, never);
      return udp.lost > 0;
    });
  });
});
