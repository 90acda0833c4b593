/** The port shared by all legs with ICE, over real UDP and TCP sockets: mapping of packets to legs. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket as TcpSocket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import type { MediaLeg } from '../../../src/domain/call/needs.ts';
import { createMedia, type MediaEngine } from '../../../src/edge/media/engine.ts';
import { freePort } from '../../e2e/service.ts';
import { eventually } from '../../eventually.ts';
import { parseRtp, REMOTE, rtp } from './peer.ts';
import { bindingRequest, type Check, readAnswer } from './stun-peer.ts';

const QUIET = { dtmf: () => undefined, silent: () => undefined };
const HOST = '127.0.0.1';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function engine(): Promise<{ media: MediaEngine; port: number }> {
  const portMin = (await freePort()) & ~1;
  const media = createMedia({
    rtpHost: HOST,
    publicHost: HOST,
    icePort: await freePort(),
    portMin,
    portMax: portMin + 40,
    threads: 2,
    drive: 'thread',
    wallMs: Date.now,
    logger: silentLogger,
  });
  closing.push(() => media.stop());
  const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
  leg.close();
  return { media, port: leg.icePort ?? 0 };
}

const iceOf = (name: string) => ({
  localUfrag: `our${name}`,
  localPassword: name.repeat(22),
  remoteUfrag: `their${name}`,
});
const checkOf = (name: string): Check => ({
  username: `our${name}:their${name}`,
  password: name.repeat(22),
  useCandidate: true,
});

async function legOf(media: MediaEngine, name: string): Promise<MediaLeg> {
  const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
  leg.configure({ ...REMOTE, address: '', ice: iceOf(name), rtcpMux: true, protection: 'none' });
  return leg;
}

/** A peer on a separate port with its received packets. */
async function peer(port: number) {
  const socket: Socket = createSocket('udp4');
  socket.bind(0, HOST);
  await once(socket, 'listening');
  closing.push(() => socket.close());
  const received: Buffer[] = [];
  const from = new Set<number>();
  socket.on('message', (bytes, { port: source }) => {
    received.push(bytes);
    from.add(source);
  });
  return { received, from, send: (bytes: Uint8Array) => socket.send(bytes, port, HOST) };
}

/** Resolves when the socket closes, with or without an error. */
const closed = (socket: TcpSocket): Promise<void> =>
  new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.once('close', () => resolve());
  });

const isRtp = (bytes: Buffer): boolean => (bytes[0] ?? 0) >= 128 && (bytes[1] ?? 0) < 128;

/** One speaker per sending, so that a test that waits also sends. */
const speaker = (ssrc: number) => {
  let sequence = 0;
  return (): Uint8Array => {
    sequence += 1;
    return rtp({ sequence, timestamp: 160 * sequence, ssrc, payload: new Uint8Array(160) });
  };
};

/** Number of sleeps of the newest thread that serves that port in this process; -1 before the thread has its name. */
function sleeps(): number {
  const names = readdirSync('/proc/self/task').filter(
    (id) => readFileSync(`/proc/self/task/${id}/comm`, 'utf8') === 'carillon-dtls\n',
  );
  if (names.length === 0) return -1;
  const newest = Math.max(...names.map(Number));
  const status = readFileSync(`/proc/self/task/${newest}/status`, 'utf8');
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
}

describe('the port that browsers share', () => {
  it('is idle for legs of phones and carriers', async () => {
    const { media } = await engine();
    await eventually('its thread', () => sleeps() >= 0 || undefined);
    const before = sleeps();
    for (let i = 0; i < 10; i += 1) {
      const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
      leg.configure({ ...REMOTE, address: HOST });
      leg.close();
    }
    // Commands run in order: after this one, earlier ones would have run too.
    const browser = await legOf(media, 'a');
    await eventually('a leg of a browser', () => sleeps() > before || undefined);
    const between = sleeps();
    browser.close();
    await eventually('its end', () => sleeps() > between || undefined);
    expect(sleeps() - before).toBeLessThan(5);
  });

  it('maps each peer to its leg: by the user name of its checks, then by its address', async () => {
    const { media, port } = await engine();
    const names = ['a', 'b', 'c'];
    const legs = await Promise.all(names.map((name) => legOf(media, name)));
    const peers = await Promise.all(names.map(() => peer(port)));
    for (const [index, name] of names.entries()) {
      const { received, send } = peers[index]!;
      send(bindingRequest(checkOf(name)));
      const answer = await eventually('the answer', () =>
        received.find((one) => (one[0] ?? 255) < 4),
      );
      expect(readAnswer(answer, name.repeat(22))).toMatchObject({ type: 0x0101, authentic: true });
      const say = speaker(index + 1);
      const leg = legs[index]!;
      await eventually('its packets at its leg', () => {
        send(say());
        return leg.quality().packetsReceived > 20 || undefined;
      });
      await eventually('packets of the leg', () => received.filter(isRtp).length > 5 || undefined);
    }
    expect(peers.map(({ from }) => [...from])).toEqual(names.map(() => [port]));
    const ssrcs = peers.map(
      ({ received }) => new Set(received.filter(isRtp).map((one) => parseRtp(one).ssrc)),
    );
    expect(ssrcs.map(({ size }) => size)).toEqual([1, 1, 1]);
    expect(new Set(ssrcs.flatMap((own) => [...own])).size).toBe(3);
  });

  it('ignores unknown user names, wrong passwords, and packets without a check', async () => {
    const { media, port } = await engine();
    const leg = await legOf(media, 'a');
    const known = await peer(port);
    const unknownPeer = await peer(port);
    known.send(bindingRequest(checkOf('a')));
    await eventually('the answer', () => known.received.length > 0 || undefined);
    const check = bindingRequest(checkOf('z'));
    unknownPeer.send(check);
    unknownPeer.send(bindingRequest({ ...checkOf('a'), password: 'z'.repeat(22) }));
    const refused = await eventually('a refusal', () => unknownPeer.received[0]);
    expect(readAnswer(refused, '').errorCode).toBe(401);
    const say = speaker(9);
    for (let i = 0; i < 30; i += 1) unknownPeer.send(say());
    known.send(bindingRequest(checkOf('a')));
    await eventually(
      'a later answer',
      () => known.received.filter((one) => (one[0] ?? 9) < 4).length > 1 || undefined,
    );
    expect(unknownPeer.received).toHaveLength(1);
    expect(leg.quality().packetsReceived).toBe(0);
  });

  it('ignores a captured check that is replayed from another address', async () => {
    const { media, port } = await engine();
    await legOf(media, 'a');
    const known = await peer(port);
    const thief = await peer(port);
    const check = bindingRequest(checkOf('a'));
    known.send(check);
    await eventually('packets', () => known.received.filter(isRtp).length > 2 || undefined);
    thief.send(check);
    const count = known.received.length;
    await eventually('more packets', () => known.received.length > count + 10 || undefined);
    expect(thief.received).toEqual([]);
  });

  it('supports a call over TCP with split frames', async () => {
    const { media, port } = await engine();
    const leg = await legOf(media, 'a');
    const socket = connect(port, HOST);
    closing.push(() => socket.destroy());
    let bytes = Buffer.alloc(0);
    socket.on('data', (more) => {
      bytes = Buffer.concat([bytes, more]);
    });
    const frames = (): Buffer[] => {
      const found: Buffer[] = [];
      for (let at = 0; at + 2 <= bytes.length; ) {
        const length = bytes.readUInt16BE(at);
        if (at + 2 + length > bytes.length) break;
        found.push(bytes.subarray(at + 2, at + 2 + length));
        at += 2 + length;
      }
      return found;
    };
    const framed = (one: Uint8Array): Buffer =>
      Buffer.concat([Buffer.from([one.length >> 8, one.length & 255]), one]);
    const check = framed(bindingRequest(checkOf('a')));
    socket.setNoDelay(true);
    socket.write(check.subarray(0, 1));
    socket.write(check.subarray(1, 30));
    socket.write(check.subarray(30));
    const answer = await eventually('the answer', () => frames().find((one) => (one[0] ?? 9) < 4));
    expect(readAnswer(answer, 'a'.repeat(22))).toMatchObject({ type: 0x0101, authentic: true });
    const say = speaker(5);
    await eventually('packets at the leg', () => {
      socket.write(framed(say()));
      return leg.quality().packetsReceived > 20 || undefined;
    });
    await eventually('packets of the leg', () => frames().filter(isRtp).length > 10 || undefined);
    leg.close();
    await closed(socket);
  });

  it('closes a TCP connection with invalid data', async () => {
    const { media, port } = await engine();
    await legOf(media, 'a');
    for (const nonsense of [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.from([0, 4, 128, 0, 0, 0]),
    ]) {
      const socket = connect(port, HOST);
      socket.resume();
      socket.write(nonsense);
      await closed(socket);
    }
  });
});
