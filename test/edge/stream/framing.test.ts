/**
 * The stream socket against a server that sends each kind of frame, valid and invalid: the sections of the Autobahn test
 * suite (https://github.com/crossbario/autobahn-testsuite) as far as they concern a client without extensions.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../../eventually.ts';
import { type Attacker, acceptance, attacker, frame } from './attack-server.ts';
import { openStream } from './fixture.ts';

interface ReceivedFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** Splits the masked frames of a client. */
class ClientFrames {
  readonly frames: ReceivedFrame[] = [];
  #rest = Buffer.alloc(0);

  add(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const [first, second] = this.#rest;
      if (first === undefined || second === undefined) return;
      const short = second & 0x7f;
      const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
      if (this.#rest.length < 6 + extra) return;
      const length =
        extra === 0 ? short : this.#rest.readUIntBE(extra === 8 ? 4 : 2, extra === 8 ? 6 : 2);
      const start = 6 + extra;
      if (this.#rest.length < start + length) return;
      const mask = this.#rest.subarray(start - 4, start);
      const payload = this.#rest
        .subarray(start, start + length)
        .map((octet, at) => octet ^ (mask[at % 4] ?? 0));
      this.frames.push({ opcode: first & 0x0f, payload: Buffer.from(payload) });
      this.#rest = this.#rest.subarray(start + length);
    }
  }
}

const servers: Attacker[] = [];
afterAll(async () => {
  for (const server of servers) await server.stop();
});

/** Sends the frames to a new stream. Returns its events and what it sent. */
async function sent(...frames: readonly Buffer[]) {
  const received = new ClientFrames();
  const server = await attacker((socket, request) => {
    socket.on('data', (bytes: Buffer) => received.add(bytes));
    socket.write(Buffer.concat([Buffer.from(acceptance(request)), ...frames]));
  });
  servers.push(server);
  const stream = openStream(server.url);
  const closeCode = (): number | undefined => {
    const close = received.frames.find(({ opcode }) => opcode === 8);
    return close === undefined
      ? undefined
      : close.payload.length < 2
        ? 1005
        : close.payload.readUInt16BE();
  };
  return { ...stream, received, closeCode };
}

const CLEAR = '{"event":"clearAudio"}';
const close = (code: number, reason: string | Buffer = ''): Buffer => {
  const payload = Buffer.concat([Buffer.alloc(2), Buffer.from(reason)]);
  payload.writeUInt16BE(code);
  return frame(8, payload);
};
/** Sets bits of the first octet. */
const withBits = (bits: number, bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes);
  copy[0] = (copy[0] ?? 0) | bits;
  return copy;
};

describe('frames of every length', () => {
  it.each([22, 125, 126, 127, 128, 65_535, 65_536])('%i octets', async (length) => {
    const { reported, streams } = await sent(frame(1, CLEAR.padEnd(length)));
    await until(() => reported.log.includes('cleared'), 'the message');
    expect(reported.ends).toEqual([]);
    await streams.stop();
  });
});

describe('pings', () => {
  it.each([0, 1, 125])('of %i octets get a pong with the same payload', async (length) => {
    const payload = Buffer.alloc(length, 0xfe);
    const { received, streams } = await sent(frame(9, payload));
    await until(() => received.frames.some(({ opcode }) => opcode === 10), 'the pong');
    expect(received.frames.find(({ opcode }) => opcode === 10)?.payload).toEqual(payload);
    await streams.stop();
  });

  it('between the fragments of a message are answered before it', async () => {
    const parts = [frame(1, CLEAR.slice(0, 5), false), frame(9, 'a'), frame(0, CLEAR.slice(5))];
    const { reported, received, streams } = await sent(...parts);
    await until(() => reported.log.includes('cleared'), 'the message');
    await until(() => received.frames.some(({ opcode }) => opcode === 10), 'the pong');
    await streams.stop();
  });

  it('a pong without a ping has no effect', async () => {
    const { reported, streams } = await sent(frame(10, 'x'), frame(1, CLEAR));
    await until(() => reported.log.includes('cleared'), 'the message');
    await streams.stop();
  });
});

describe('text', () => {
  it('a character may be split over fragments', async () => {
    const message = Buffer.from('{"event":"checkpoint","name":"κόσμε 😀"}');
    const parts = [...message].map((octet, at) =>
      frame(at === 0 ? 1 : 0, Buffer.from([octet]), at === message.length - 1),
    );
    const { media, reported, streams } = await sent(...parts);
    await until(() => media[0]?.log.length === 1, 'the checkpoint');
    media[0]?.events.played(media[0].log[0]?.replace('checkpoint ', '') ?? '');
    await until(() => reported.log.includes('played κόσμε 😀'), 'the name of the checkpoint');
    await streams.stop();
  });

  it.each([
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a value beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['a lonely continuation', [0x80]],
    ['an unfinished character', [0xe2, 0x82]],
    ['an octet that never occurs', [0xff]],
  ])('%s is refused', async (_, octets) => {
    const { reported, closeCode } = await sent(frame(1, Buffer.from([0x22, ...octets, 0x22])));
    await until(() => reported.ends.length + reported.faults.length > 0, 'the refusal');
    // The message is refused; a stricter endpoint closes with 1007.
    expect([undefined, 1007]).toContain(closeCode());
    expect(reported.log).toEqual(['started']);
  });
});

describe('violations of the protocol close with 1002', () => {
  it.each([
    ['RSV1 without an extension', [withBits(0x40, frame(1, CLEAR))]],
    ['RSV2', [withBits(0x20, frame(1, CLEAR))]],
    ['RSV3', [withBits(0x10, frame(9))]],
    ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map(
      (opcode) => [`opcode ${opcode}`, [frame(opcode, 'x')]] as const,
    ),
    ['a ping of 126 octets', [frame(9, Buffer.alloc(126))]],
    ['a fragmented ping', [frame(9, 'a', false)]],
    ['a fragmented close', [withoutFinal(close(1000))]],
    ['a continuation without a beginning', [frame(0, CLEAR)]],
    ['a message within a message', [frame(1, '{', false), frame(1, CLEAR)]],
    ['a masked frame', [maskedBit(frame(1, CLEAR))]],
    ['a close of one octet', [frame(8, 'x')]],
    ['a close of 126 octets', [frame(8, Buffer.alloc(126, 0x03))]],
    ...[0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535].map(
      (code) => [`the close code ${code}`, [close(code)]] as const,
    ),
  ] as readonly (readonly [string, readonly Buffer[]])[])('%s', async (_, frames) => {
    const { reported, closeCode } = await sent(...frames);
    await until(() => reported.ends.length === 1, 'the end');
    await until(() => closeCode() !== undefined, 'the close');
    expect(closeCode()).toBe(1002);
    expect(reported.log).toEqual(['started']);
  });
});

describe('close', () => {
  it.each([1000, 1001, 1003, 1007, 1011, 3000, 3999, 4000, 4999])(
    'code %i is echoed, and later frames are ignored',
    async (code) => {
      const { reported, closeCode } = await sent(close(code, 'bye'), frame(1, CLEAR), frame(9));
      await until(() => reported.ends.length === 1, 'the end');
      await until(() => closeCode() !== undefined, 'the close');
      expect(closeCode()).toBe(code);
      expect(reported.log).toEqual(['started']);
    },
  );

  it('without a code gets a close', async () => {
    const { reported, received } = await sent(frame(8));
    await until(() => reported.ends.length === 1, 'the end');
    await until(() => received.frames.some(({ opcode }) => opcode === 8), 'the close');
  });
});

it('refuses an extension that it did not offer (RFC 6455 §4.1)', async () => {
  const server = await attacker((socket, request) => {
    const extension = 'Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n';
    socket.write(acceptance(request).replace(/\r\n$/, extension));
  });
  servers.push(server);
  const { reported } = openStream(server.url);
  await until(() => reported.ends.length === 1, 'the end');
  expect(reported.ends).toMatchObject([{ kind: 'connectFailed' }]);
});

function withoutFinal(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[0] = (copy[0] ?? 0) & 0x7f;
  return copy;
}

/** Declares a mask of zeros, so that the payload stays the same. */
function maskedBit(bytes: Buffer): Buffer {
  const head = Buffer.from(bytes.subarray(0, 2));
  head[1] = (head[1] ?? 0) | 0x80;
  return Buffer.concat([head, Buffer.alloc(4), bytes.subarray(2)]);
}
