/** Legs with ICE on one shared port, and legs of another engine as the browsers at the other end. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { silentLogger } from '../../src/base/logger.ts';
import type {
  MediaLeg,
  MediaLegEvents,
  MediaProtection,
  MediaSession,
} from '../../src/domain/call/needs.ts';
import { createMedia, type MediaEngine, type MediaIdentity } from '../../src/edge/media/engine.ts';
import { bindingRequest } from '../../test/edge/media/stun-peer.ts';

const HOST = '127.0.0.1';
export const QUIET: MediaLegEvents = { dtmf: () => undefined, silent: () => undefined };
const FIRST_PORT = 24_000;
const ICE_PORT = 23_998;

export const OPUS: MediaSession['codec'] = {
  name: 'OPUS',
  clockRate: 48_000,
  sampleRate: 16_000,
  channels: 1,
  opus: { bitrate: 0, fec: true, dtx: false },
};

export const session = (more: Partial<MediaSession>): MediaSession => ({
  address: HOST,
  port: 0,
  codec: OPUS,
  payloadType: { send: 111, receive: 111 },
  telephoneEvent: undefined,
  ptimeMs: 20,
  direction: 'sendrecv',
  protection: 'none',
  ...more,
});

const engineAt = (
  portMin: number,
  count: number,
  more: { readonly icePort?: number; readonly identity?: MediaIdentity } = {},
): MediaEngine =>
  createMedia({
    rtpHost: HOST,
    publicHost: HOST,
    portMin,
    portMax: portMin + 2 * count - 1,
    drive: 'thread',
    keepAliveMs: 15_000,
    logger: silentLogger,
    wallMs: () => performance.timeOrigin + performance.now(),
    ...more,
  });

const password = 'p'.repeat(22);
const iceOf = (name: string) => ({
  localUfrag: name,
  localPassword: password,
  remoteUfrag: 'peer',
});
const checkOf = (name: string): Buffer =>
  bindingRequest({ username: `${name}:peer`, password, useCandidate: true });

/** A leg of ours, and where the browser's end of it will be. */
interface End {
  readonly leg: MediaLeg;
  readonly port: number;
  readonly ice: NonNullable<MediaSession['ice']>;
}

export class Browsers {
  readonly ours: MediaEngine;
  readonly theirs: MediaEngine;
  readonly #port: Socket;
  ends: readonly End[] = [];

  private constructor(count: number, identity: MediaIdentity | undefined, port: Socket) {
    const more = identity === undefined ? {} : { identity };
    this.#port = port;
    this.ours = engineAt(FIRST_PORT + 4 * count, count, { icePort: ICE_PORT, ...more });
    this.theirs = engineAt(FIRST_PORT, count, more);
  }

  /** `count` legs whose peers have checked from ports that legs of the other engine are about to have. */
  static async open(count: number, identity?: MediaIdentity): Promise<Browsers> {
    const made = new Browsers(count, identity, createSocket({ type: 'udp4', reusePort: true }));
    const ends: Promise<Deferred>[] = [];
    for (let i = 0; i < count; i += 1) ends.push(made.#check(`leg${i}`, FIRST_PORT + 2 * i));
    const checked = await Promise.all(ends);
    for (const { socket } of checked) await closed(socket);
    made.#port.bind(ICE_PORT, HOST);
    await once(made.#port, 'listening');
    made.ends = checked;
    return made;
  }

  async #check(name: string, port: number): Promise<Deferred> {
    const leg = await this.ours.openLeg({ mediaTimeoutMs: 0 }, QUIET);
    const ice = iceOf(name);
    leg.configure(session({ address: '', ice, rtcpMux: true }));
    const socket = createSocket('udp4');
    socket.bind(port, HOST);
    await once(socket, 'listening');
    // Once more where the leg did not know its name yet.
    const again = setInterval(() => socket.send(checkOf(name), ICE_PORT, HOST), 50);
    socket.send(checkOf(name), ICE_PORT, HOST);
    await once(socket, 'message');
    clearInterval(again);
    return { leg, port, ice, socket };
  }

  /** Sends our port to the browser's end at that port. */
  notify(port: number, name: string): void {
    this.#port.send(checkOf(name), port, HOST);
  }

  answerOf(leg: MediaLeg, protection: MediaProtection, name?: string): void {
    const ice = name === undefined ? undefined : iceOf(name);
    leg.configure(session({ port: ICE_PORT, rtcpMux: true, protection, ice }));
  }

  async stop(): Promise<void> {
    this.#port.close();
    await this.ours.stop();
    await this.theirs.stop();
  }
}

interface Deferred extends End {
  readonly socket: Socket;
}

async function closed(socket: Socket): Promise<void> {
  socket.close();
  await once(socket, 'close');
}
