import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../eventually.ts';
import { acceptance, attacker, frame, text } from './attack-server.ts';
import { another, openStream } from './fixture.ts';

const cleanups: Array<() => Promise<unknown> | unknown> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A stream to a server that accepts the upgrade and then sends arbitrary data. */
async function attacked(
  attack: (socket: import('node:net').Socket, accept: string) => void,
  client: Parameters<typeof openStream>[2] = {},
) {
  const server = await attacker((socket, request) => attack(socket, acceptance(request)));
  cleanups.push(() => server.stop());
  const stream = openStream(server.url, {}, client);
  cleanups.push(() => stream.streams.stop());
  return { ...stream, server };
}

const CLEAR = { event: 'clearAudio' };
const STOP = { event: 'stop' };

describe('the upgrade response', () => {
  it('may follow interim responses, with messages in the same segment (RFC 9110 §15.2)', async () => {
    const { reported } = await attacked((socket, accept) => {
      const early = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n';
      socket.write(Buffer.concat([Buffer.from(early + accept), text(CLEAR), text(STOP)]));
    });
    await until(() => reported.ends.length === 1, 'stop');
    expect(reported.log).toEqual(['started', 'cleared']);
    expect(reported.ends).toEqual([{ kind: 'stopRequested' }]);
  });

  it.each([
    [
      'chunked 400',
      'HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      'HTTP 400',
    ],
    ['a header that never ends', `HTTP/1.1 101 x\r\nX: ${'y'.repeat(40_000)}`, 'too long'],
    [
      'a header that ends too late',
      `HTTP/1.1 101 x\r\nX: ${'y'.repeat(40_000)}\r\n\r\n`,
      'too long',
    ],
    ['interim answers without end', 'HTTP/1.1 102 x\r\n\r\n'.repeat(4000), 'too long'],
  ])('%s causes a connect failure', async (_what, answer, words) => {
    const { reported } = await attacked((socket) => socket.write(answer));
    await until(() => reported.ends.length === 1, 'end');
    expect(reported.ends).toEqual([
      { kind: 'connectFailed', detail: expect.stringContaining(words) },
    ]);
    expect(reported.log).toEqual([]);
  });
});

describe('order', () => {
  it('applies audio, checkpoint and clear from one segment in order, and the close last', async () => {
    const { reported, media } = await attacked((socket, accept) => {
      const burst: Buffer[] = [Buffer.from(accept)];
      for (let i = 0; i < 200; i += 1) burst.push(text({ event: 'checkpoint', name: `${i}` }));
      burst.push(text(CLEAR), frame(8, Buffer.from([0x03, 0xe8])));
      socket.end(Buffer.concat(burst));
    });
    await until(() => reported.ends.length === 1, 'end');
    expect(media[0]?.log.length).toBe(202);
    expect(media[0]?.log.slice(-2)).toEqual(['clear', 'close']);
    expect(reported.ends).toMatchObject([
      { kind: 'dropped', detail: expect.stringContaining('1000') },
    ]);
  });

  it('ends once if a bot resets the connection while a message is processed', async () => {
    const { reported, streams, server } = await attacked((socket, accept) => {
      socket.write(accept);
      for (let i = 0; i < 50; i += 1) socket.write(text(CLEAR));
      setImmediate(() => socket.resetAndDestroy());
    });
    await until(() => reported.ends.length === 1, 'end');
    // Events of the first are delivered before the end of another on the same thread.
    const second = another(streams, { url: server.url });
    await until(() => second.ends.length === 1, 'the end of another');
    expect(reported.ends).toMatchObject([{ kind: 'dropped' }]);
  });
});

describe('isolation of memory and time', () => {
  it('accepts thousands of empty fragments with pings in between as one message', async () => {
    const { reported } = await attacked((socket, accept) => {
      const parts = [Buffer.from(accept), frame(1, '{"event":', false)];
      for (let i = 0; i < 2000; i += 1) parts.push(frame(0, '', false), frame(9));
      parts.push(frame(0, '"clearAudio"}'));
      socket.write(Buffer.concat(parts));
    });
    await until(() => reported.log.includes('cleared'), 'clear');
    expect(reported.ends).toEqual([]);
  });

  it('closes on an excessive length immediately, before the bytes arrive', async () => {
    const head = Buffer.alloc(10);
    head[0] = 0x81;
    head[1] = 127;
    head.writeBigUInt64BE(0xffff_ffff_ffff_ffffn, 2);
    const { reported } = await attacked((socket, accept) => {
      socket.write(Buffer.concat([Buffer.from(accept), head]));
    });
    await until(() => reported.ends.length === 1, 'end');
    expect(reported.ends).toMatchObject([
      { kind: 'dropped', detail: expect.stringContaining('limit') },
    ]);
  });

  it('closes the socket that exceeds the total limit of its account, and no other', async () => {
    const limits = { accountMessageBytes: 300_000 };
    const begun = frame(1, 'x'.repeat(250_000)).subarray(0, 100_000);
    const { reported, streams, server } = await attacked(
      (socket, accept) => socket.write(Buffer.concat([Buffer.from(accept), text(CLEAR), begun])),
      { limits },
    );
    await until(() => reported.log.includes('cleared'), 'the first');
    const second = another(streams, { url: server.url });
    await until(() => second.ends.length === 1, 'the second');
    expect(second.log).toEqual(['started', 'cleared']);
    expect(second.faults).toEqual(['buffer_full']);
    expect(second.ends).toMatchObject([
      { kind: 'dropped', detail: expect.stringContaining('300000') },
    ]);
    const other = another(streams, { url: server.url, ownerId: 'MA_ANOTHER' });
    await until(() => other.log.includes('cleared'), 'the other account');
    server.sockets[0]?.write(frame(1, 'x'.repeat(250_000)).subarray(100_000));
    await until(() => reported.faults.length === 1, 'the end of the first message');
    expect(reported.faults).toEqual(['invalid_message']);
    expect([...reported.ends, ...other.ends]).toEqual([]);
  });

  it('handles ten thousand pings of a bot that does not read at almost no cost', async () => {
    const limits = { messages: { perSecond: 100_000, burst: 100_000 } };
    const { reported, server } = await attacked(
      (socket, accept) => {
        socket.pause();
        const pings = Buffer.concat(
          Array.from({ length: 10_000 }, () => frame(9, 'x'.repeat(125))),
        );
        socket.write(Buffer.concat([Buffer.from(accept), pings, text(CLEAR)]));
      },
      { limits },
    );
    await until(() => reported.log.includes('cleared'), 'clear');
    expect(reported.ends).toEqual([]);
    server.sockets[0]?.resume();
  });

  it('drops a bot that stops in the middle of a frame for its missing pong', async () => {
    const { reported, clock } = await attacked((socket, accept) => {
      socket.write(
        Buffer.concat([Buffer.from(accept), frame(1, 'x'.repeat(1_000_000)).subarray(0, 500_000)]),
      );
    });
    await until(() => reported.log.includes('started'), 'started');
    await clock.advance(40_000);
    await until(() => reported.ends.length === 1, 'end');
    expect(reported.ends).toMatchObject([
      { kind: 'dropped', detail: expect.stringContaining('pong') },
    ]);
  });

  it('ignores unsolicited pongs for liveness, and they wake no thread', async () => {
    const { reported, clock } = await attacked((socket, accept) => {
      socket.write(Buffer.concat([Buffer.from(accept), frame(10), frame(10), text(CLEAR)]));
    });
    await until(() => reported.log.includes('cleared'), 'clear');
    await clock.advance(40_000);
    await until(() => reported.ends.length === 1, 'end');
    expect(reported.ends).toMatchObject([
      { kind: 'dropped', detail: expect.stringContaining('pong') },
    ]);
  });

  it('a message that is slow to parse does not block other sockets', async () => {
    const hostile = `{"event":"media","media":{"payload":"${'='.repeat(4_000_000)}x"}}`;
    const { reported } = await attacked((socket, accept) => {
      socket.write(Buffer.concat([Buffer.from(accept), frame(1, hostile), text(CLEAR)]));
    });
    const beganMs = performance.now();
    await until(() => reported.log.includes('cleared'), 'clear');
    expect(reported.faults).toEqual(['invalid_payload']);
    expect(performance.now() - beganMs).toBeLessThan(2000);
  });
});

it('accepts IPv6 addresses in the URL', async () => {
  const server = await attacker((socket, request) => {
    socket.write(Buffer.concat([Buffer.from(acceptance(request)), text(STOP)]));
  }, '::1');
  cleanups.push(() => server.stop());
  const { reported } = openStream(server.url);
  await until(() => reported.ends.length === 1, 'end');
  expect(reported.ends).toEqual([{ kind: 'stopRequested' }]);
});
