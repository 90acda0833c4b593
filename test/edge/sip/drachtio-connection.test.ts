import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { DrachtioConnection } from '../../../src/edge/sip/drachtio/connection.ts';
import {
  FrameReader,
  frame,
  MAX_SENT_BYTES,
  type Reply,
} from '../../../src/edge/sip/drachtio/frames.ts';
import { until } from '../../eventually.ts';
import { SimClock } from '../../sim/clock.ts';

const LAST_ROUTE = 'info';
const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server that reads nothing after it has accepted the subscriptions. */
async function deafServer(): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    const reader = new FrameReader();
    socket.on('data', (chunk) => {
      for (const payload of reader.read(chunk)) {
        const [id = '', , verb] = payload.toString().split('|');
        socket.write(frame(['x', 'response', id, 'OK', '']));
        if (verb === LAST_ROUTE) socket.pause();
      }
    });
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

it('reports the failure of every message immediately if the server reads too slowly', async () => {
  const events = { up: () => undefined, down: () => undefined, sip: () => undefined };
  const connection = new DrachtioConnection({
    host: '127.0.0.1',
    port: await deafServer(),
    secret: 'cymru',
    clock: new SimClock(),
    logger: silentLogger,
    events,
  });
  closing.push(() => connection.stop());
  connection.start();
  await until(() => connection.isUp);
  const message = Buffer.alloc(MAX_SENT_BYTES);
  const replies: Reply[] = [];
  let sent = 0;
  while (connection.isUp) {
    connection.send(['', ''], message, (reply) => replies.push(reply));
    sent += 1;
  }
  expect(replies).toHaveLength(sent);
  expect(replies.at(-1)).toMatchObject({ isOk: false, words: ['the server reads too slowly'] });
});
