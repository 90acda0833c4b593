import type { WebSocket } from 'ws';
import { type Bot, Customer } from '../e2e/customer.ts';
import { playMessage } from './play-message.ts';

const MIB = 2 ** 20;
/** Delay between two messages of the same bot, ms. */
const AGAIN_MS = 250;

const closes: Record<string, number> = {};
let messages = 0;

/** The header of a text frame of this length (RFC 6455 §5.2). */
function frameHead(bytes: number): Buffer {
  const head = Buffer.alloc(10);
  head[0] = 0x81;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(bytes), 2);
  return head;
}

const started =
  (begin: (socket: WebSocket) => void): Bot =>
  (socket) => {
    socket.once('message', () => begin(socket));
    socket.on('close', (code) => {
      closes[code] = (closes[code] ?? 0) + 1;
    });
  };

function again(socket: WebSocket, message: Buffer): void {
  if (socket.readyState !== socket.OPEN) return;
  messages += 1;
  socket.send(message, { binary: false }, () => setTimeout(again, AGAIN_MS, socket, message));
}

function begin(socket: WebSocket): void {
  messages += 1;
  const raw = (socket as unknown as { readonly _socket: { write(bytes: Buffer): void } })._socket;
  raw.write(Buffer.concat([frameHead(4 * MIB - 8), playMessage(3.75 * MIB)]));
}

const customer = await Customer.listen();
process.send?.({
  tooLong: customer.bot(
    '/too-long',
    started((socket) => again(socket, playMessage(8 * MIB))),
  ),
  longest: customer.bot(
    '/longest',
    started((socket) => again(socket, playMessage(3.9 * MIB))),
  ),
  neverEnding: customer.bot('/never-ending', started(begin)),
});
process.once('message', async () => {
  process.send?.({ closes, messages });
  await customer.close();
  process.disconnect();
});
