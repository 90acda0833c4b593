/** Source address of RTP, RTCP and ICE responses on a machine with several addresses. Loopback has all of 127.0.0.0/8. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import type { MediaLeg } from '../../../src/domain/call/needs.ts';
import { createMedia, type MediaEngine } from '../../../src/edge/media/engine.ts';
import { freePort } from '../../e2e/service.ts';
import { eventually } from '../../eventually.ts';
import { hasIpv6 } from '../../has-ipv6.ts';
import { REMOTE, rtp } from './peer.ts';
import { bindingRequest, readAnswer } from './stun-peer.ts';

const QUIET = { dtmf: () => undefined, silent: () => undefined };
const PEER = '127.0.0.1';
/** Own addresses. The route to the peer has 127.0.0.1. */
const [ANNOUNCED, OTHER] = ['127.0.0.5', '127.0.0.6'];
const NOT_LOCAL = '192.0.2.7';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function engine(rtpHost: string, publicHost = ANNOUNCED): Promise<MediaEngine> {
  const media = createMedia({
    rtpHost,
    publicHost,
    icePort: await freePort(),
    portMin: 30_500,
    portMax: 30_598,
    drive: 'thread',
    wallMs: Date.now,
    logger: silentLogger,
  });
  closing.push(() => media.stop());
  return media;
}

/** A peer that keeps the latest source address of received packets. */
class Peer {
  readonly socket: Socket;
  readonly received: Buffer[] = [];
  from = '';
  #sequence = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('message', (bytes, { address }) => {
      this.received.push(bytes);
      this.from = address;
    });
    closing.push(() => socket.close());
  }

  static async open(port = 0, host = PEER): Promise<Peer> {
    const socket = createSocket('udp4').bind(port, host);
    await once(socket, 'listening');
    return new Peer(socket);
  }

  get port(): number {
    return this.socket.address().port;
  }

  say(port: number, host: string): void {
    this.#sequence += 1;
    const [sequence, timestamp] = [this.#sequence, 160 * this.#sequence];
    const packet = rtp({ sequence, timestamp, ssrc: 5, payload: new Uint8Array(160).fill(0xff) });
    this.socket.send(packet, port, host);
  }

  /** Sends packets to the leg until its packets have this source. */
  async hears(host: string, { port }: MediaLeg, to = host): Promise<void> {
    await eventually(`packets from ${host}, not ${this.from}`, () => {
      this.say(port, to);
      return this.from === host || undefined;
    });
  }

  /** Waits for this number of further packets, and returns the source of the last one. */
  async later(count: number, every = (): void => undefined): Promise<string> {
    const until = this.received.length + count;
    await eventually('packets', () => {
      every();
      return this.received.length >= until || undefined;
    });
    return this.from;
  }
}

async function legTo(media: MediaEngine, port: number): Promise<MediaLeg> {
  const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
  leg.configure({ ...REMOTE, address: PEER, port });
  return leg;
}

const everywhere = hasIpv6 ? ['0.0.0.0', '::'] : ['0.0.0.0'];

describe.each(everywhere)('RTP sockets bound to %s', (rtpHost) => {
  it('send from the address in SDP before the peer has sent anything, also RTCP', async () => {
    const media = await engine(rtpHost);
    const peer = await Peer.open(30_600);
    const rtcp = await Peer.open(30_601);
    const leg = await legTo(media, peer.port);
    expect(await peer.later(5)).toBe(ANNOUNCED);
    leg.close();
    expect(await rtcp.later(1)).toBe(ANNOUNCED);
  });

  it('send from the address to which the peer sends, whatever third parties send', async () => {
    const media = await engine(rtpHost);
    const peer = await Peer.open();
    const leg = await legTo(media, peer.port);
    await peer.hears(OTHER, leg);
    const stranger = await Peer.open(0, '127.0.0.9');
    const source = await peer.later(60, () => {
      peer.say(leg.port, OTHER);
      stranger.say(leg.port, ANNOUNCED);
    });
    expect(source).toBe(OTHER);
    expect(leg.quality().packetsReceived).toBeGreaterThan(10);
    expect(stranger.received).toEqual([]);
  });

  it('behind NAT, send to a silent peer and then from the address to which it sends', async () => {
    const media = await engine(rtpHost, NOT_LOCAL);
    const peer = await Peer.open();
    const leg = await legTo(media, peer.port);
    expect(await peer.later(3)).toBe(PEER);
    await peer.hears(OTHER, leg);
  });

  it('of legs with ICE answer checks and send media from the address to which the browser sends', async () => {
    const media = await engine(rtpHost);
    const leg = await media.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    const port = leg.icePort ?? 0;
    const password = 'a'.repeat(22);
    const ice = { localUfrag: 'oura', localPassword: password, remoteUfrag: 'theira' };
    leg.configure({ ...REMOTE, address: '', ice, rtcpMux: true, protection: 'none' });
    const peer = await Peer.open();
    const check = { username: 'oura:theira', password, useCandidate: true };
    peer.socket.send(bindingRequest(check), port, OTHER);
    const answer = await eventually('the response', () =>
      peer.received.find((bytes) => (bytes[0] ?? 9) < 4),
    );
    expect(readAnswer(answer, password)).toMatchObject({ type: 0x0101, authentic: true });
    expect(peer.from).toBe(OTHER);
    expect(await peer.later(30, () => peer.say(port, OTHER))).toBe(OTHER);
    expect(leg.quality().packetsReceived).toBeGreaterThan(5);
  });
});
