/** The SIP port for WebSockets against clients that send each kind of invalid frame (RFC 6455), as in the Autobahn suite. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../eventually.ts';
import { type Rig, startRig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ webSockets: { ws: 0 } });
});
afterAll(() => rig.signalling.stop());

const MASK = Buffer.from([1, 2, 3, 4]);

interface FrameOptions {
  readonly final?: boolean;
  readonly bits?: number;
  readonly masked?: boolean;
}

function frame(
  opcode: number,
  payload: string | Buffer = '',
  { final = true, bits = 0, masked = true }: FrameOptions = {},
): Buffer {
  const body = Buffer.from(payload);
  const length = body.length < 126 ? [body.length] : [126, body.length >> 8, body.length & 0xff];
  const [first = 0, ...more] = length;
  const head = Buffer.from([
    (final ? 0x80 : 0) | bits | opcode,
    (masked ? 0x80 : 0) | first,
    ...more,
  ]);
  if (!masked) return Buffer.concat([head, body]);
  return Buffer.concat([head, MASK, body.map((octet, at) => octet ^ (MASK[at % 4] ?? 0))]);
}

/** A client after its handshake. */
async function client(): Promise<{ readonly socket: Socket; received(): Buffer }> {
  const socket = connect(rig.signalling.ports().ws ?? 0, '127.0.0.1');
  socket.on('error', () => undefined);
  let received = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
  });
  socket.write(
    'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: sip\r\n\r\n',
  );
  await until(() => received.includes('\r\n\r\n'), 'the upgrade');
  expect(received.toString('latin1')).toContain(' 101 ');
  const start = received.indexOf('\r\n\r\n') + 4;
  return { socket, received: () => received.subarray(start) };
}

/** Sends the frames and returns the code of the close frame, or undefined if the connection ended without one. */
async function closeCode(...frames: readonly Buffer[]): Promise<number | undefined> {
  const { socket, received } = await client();
  const closed = once(socket, 'close');
  socket.write(Buffer.concat(frames));
  await closed;
  const bytes = received();
  return bytes[0] === 0x88 && (bytes[1] ?? 0) >= 2 ? bytes.readUInt16BE(2) : undefined;
}

const close = (code: number): Buffer => {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code);
  return frame(8, payload);
};

describe('invalid frames of a client end only its connection', () => {
  it.each([
    ['an unmasked frame', 1002, [frame(1, 'x', { masked: false })]],
    ['RSV1 without an extension', 1002, [frame(1, 'x', { bits: 0x40 })]],
    ['RSV2', 1002, [frame(9, '', { bits: 0x20 })]],
    ['opcode 3', 1002, [frame(3, 'x')]],
    ['opcode 11', 1002, [frame(11, 'x')]],
    ['a ping of 126 octets', 1002, [frame(9, Buffer.alloc(126))]],
    ['a fragmented ping', 1002, [frame(9, 'a', { final: false })]],
    ['a continuation without a beginning', 1002, [frame(0, 'x')]],
    ['a message within a message', 1002, [frame(1, 'a', { final: false }), frame(1, 'b')]],
    ['invalid UTF-8', 1007, [frame(1, Buffer.from([0xc0, 0xaf]))]],
    ['a close of one octet', 1002, [frame(8, 'x')]],
    ['the close code 1005', 1002, [close(1005)]],
    ['the close code 999', 1002, [close(999)]],
  ] as const)('%s: %i', async (_, code, frames) => {
    expect(await closeCode(...frames)).toBe(code);
  });
});

it('answers pings, and reads a message from fragments with a ping in between', async () => {
  const { socket, received } = await client();
  const message = [
    'OPTIONS sip:127.0.0.1 SIP/2.0',
    'Via: SIP/2.0/WS a.invalid;branch=z9hG4bKframes',
    'From: <sip:a@127.0.0.1>;tag=1',
    'To: <sip:127.0.0.1>',
    'Call-ID: frames',
    'CSeq: 1 OPTIONS',
    'Max-Forwards: 70',
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n');
  socket.write(frame(1, message.slice(0, 100), { final: false }));
  socket.write(frame(9, 'now'));
  socket.write(frame(0, message.slice(100)));
  await until(() => received().includes(Buffer.from('SIP/2.0 200')), 'the response');
  expect(received().subarray(0, 5).toString('latin1')).toBe('\x8a\x03now');
  socket.destroy();
});
