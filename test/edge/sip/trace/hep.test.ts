import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { HepExporter, type HepOptions } from '../../../../src/edge/sip/trace/hep-exporter.ts';
import { MessageRing, type TracedMessage } from '../../../../src/edge/sip/trace/message-ring.ts';
import { until } from '../../../eventually.ts';
import { SimClock } from '../../../sim/clock.ts';
import { A, flowTo, INVITE, message } from './messages.ts';

const SECRET = INVITE.replace('CSeq', 'Authorization: Digest response="s3cret"\r\nCSeq');

interface Received {
  readonly text: string;
  readonly chunk: (type: number) => Buffer | undefined;
}

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A Homer on loopback and a service that reports to it. */
async function homer(more: Partial<HepOptions> = {}) {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const received: Received[] = [];
  socket.on('message', (bytes) => received.push(read(bytes)));
  const clock = new SimClock();
  const ring = new MessageRing(1024);
  const exporter = new HepExporter(ring, {
    host: '127.0.0.1',
    port: socket.address().port,
    captureId: 77,
    password: 'pw',
    hidesCredentials: true,
    ownAddress: () => '192.0.2.99',
    clock,
    logger: { warn: () => undefined } as unknown as HepOptions['logger'],
    ...more,
  });
  stops.push(
    () => exporter.stop(),
    () => socket.close(),
  );
  const note = (noted: TracedMessage): void => {
    ring.note(noted);
    exporter.note(noted);
  };
  return { received, clock, ring, exporter, note };
}

function read(bytes: Buffer): Received {
  expect(bytes.toString('latin1', 0, 4)).toBe('HEP3');
  expect(bytes.readUInt16BE(4)).toBe(bytes.length);
  const chunks = new Map<number, Buffer>();
  for (let at = 6; at < bytes.length; at += bytes.readUInt16BE(at + 4)) {
    chunks.set(bytes.readUInt16BE(at + 2), bytes.subarray(at + 6, at + bytes.readUInt16BE(at + 4)));
  }
  return { text: chunks.get(15)?.toString() ?? '', chunk: (type) => chunks.get(type) };
}

describe('reports to Homer', () => {
  it('contain addresses, ports, time, capture ID, key and the UUID of the call, but no password', async () => {
    const { received, clock, ring, note } = await homer();
    const atMs = clock.wallMs();
    note(
      message('c', SECRET, {
        atMs,
        flow: flowTo('198.51.100.7', 5062, { localAddress: '0.0.0.0' }),
      }),
    );
    ring.belongs('c', { uuid: A, parent: undefined });
    await clock.advance(100);
    await until(() => received.length === 1);
    const { chunk, text } = received[0] as Received;
    expect([...(chunk(1) ?? [])]).toEqual([2]);
    expect([...(chunk(2) ?? [])]).toEqual([17]);
    expect([...(chunk(3) ?? [])]).toEqual([198, 51, 100, 7]);
    expect([...(chunk(4) ?? [])]).toEqual([192, 0, 2, 99]);
    expect(chunk(7)?.readUInt16BE()).toBe(5062);
    expect(chunk(9)?.readUInt32BE()).toBe(Math.floor(atMs / 1000));
    expect([...(chunk(11) ?? [])]).toEqual([1]);
    expect(chunk(12)?.readUInt32BE()).toBe(77);
    expect(chunk(14)?.toString()).toBe('pw');
    expect(chunk(17)?.toString()).toBe(A);
    expect(text).toContain('INVITE sip:a@b');
    expect(text).not.toContain('s3cret');
  });

  it('wait for the identification of the call, at most a second', async () => {
    const { received, clock, ring, note } = await homer();
    note(message('known', INVITE, { atMs: clock.wallMs() }));
    note(message('unknown', INVITE, { atMs: clock.wallMs() }));
    note(message('reg', 'REGISTER sip:a SIP/2.0\r\n\r\n', { atMs: clock.wallMs() }));
    await clock.advance(100);
    await until(() => received.length === 1);
    expect(received[0]?.chunk(17)?.toString()).toBe('reg');
    ring.belongs('known', { uuid: A, parent: undefined });
    await clock.advance(100);
    await until(() => received.length === 2);
    expect(received[1]?.chunk(17)?.toString()).toBe(A);
    await clock.advance(1000);
    await until(() => received.length === 3);
    expect(received[2]?.chunk(17)?.toString()).toBe('unknown');
  });

  it('may include credentials', async () => {
    const { received, clock, note } = await homer({ hidesCredentials: false });
    note(message('c', SECRET, { atMs: clock.wallMs() }));
    await clock.advance(1200);
    await until(() => received.length === 1);
    expect(received[0]?.text).toContain('s3cret');
  });

  it('beyond the limit are dropped and counted', async () => {
    const { clock, exporter, note } = await homer();
    for (let index = 0; index < 6000; index += 1) {
      note(message('c', INVITE, { atMs: clock.wallMs() }));
    }
    expect(exporter.counts().dropped).toBe(1000);
  });

  it('of media are sent as RTCP', async () => {
    const { received, exporter, clock } = await homer();
    exporter.report({
      from: { address: '127.0.0.1', port: 20_001 },
      to: { address: '192.0.2.1', port: 4001 },
      isUdp: true,
      atMs: clock.wallMs(),
      payload: Buffer.from('{"type":200}'),
      correlation: A,
    });
    await until(() => received.length === 1);
    expect([...(received[0]?.chunk(11) ?? [])]).toEqual([5]);
    expect(received[0]?.text).toBe('{"type":200}');
  });
});
