/** A carrier whose host name has addresses of both families, one of which does not answer (RFC 3263 §4.3). */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { hasIpv6 } from '../has-ipv6.ts';
import { eventually } from './service.ts';
import { headerIn, sdpOf, WirePeer } from './wire-peer.ts';
import { type WireCallee, WireStage } from './wire-stage.ts';

const NAME = 'both-families';
const FOUR = { sip: '127.0.0.3', family: 'IP4', public: '127.0.0.1' };
const SIX = { sip: '::1', family: 'IP6', public: '::1' };
type Side = typeof FOUR;
const FRAME_MS = 20;

/** Lets the service resolve the name to these addresses, in this order. */
const resolving = (...addresses: readonly string[]): string =>
  `--import data:text/javascript,${encodeURIComponent(`
    import dns from 'node:dns/promises';
    import { syncBuiltinESMExports } from 'node:module';
    const { lookup } = dns;
    const found = ${JSON.stringify(addresses.map((address) => ({ address })))};
    dns.lookup = async (name, options) => name === '${NAME}' ? found : lookup(name, options);
    syncBuiltinESMExports();`)}`;

/** An RTP endpoint that sends its own payload every 20 ms and counts packets with the peer's payload. */
class Voice {
  readonly #socket: Socket;
  readonly #octet: number;
  #timer: NodeJS.Timeout | undefined;
  heard = 0;

  private constructor(socket: Socket, octets: { readonly own: number; readonly peer: number }) {
    this.#socket = socket;
    this.#octet = octets.own;
    socket.on('message', (packet) => {
      if (packet.at(-1) === octets.peer) this.heard += 1;
    });
  }

  static async at(address: string, own: number, peer: number): Promise<Voice> {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4').bind(0, address);
    await once(socket, 'listening');
    return new Voice(socket, { own, peer });
  }

  get sdp(): string {
    const { address, port } = this.#socket.address();
    return sdpOf({ address, media: `m=audio ${port} RTP/AVP 0` });
  }

  /** Sends to the address of this description. */
  talkTo(sdp: string): void {
    const address = /^c=IN IP\d (\S+)\r$/m.exec(sdp)?.[1];
    const port = Number(/^m=audio (\d+) /m.exec(sdp)?.[1]);
    const packet = Buffer.alloc(172, this.#octet);
    packet.writeUInt16BE(0x8000, 0);
    packet.writeUInt32BE(this.#octet, 8);
    let sent = 0;
    this.#timer = setInterval(() => {
      packet.writeUInt16BE(sent, 2);
      packet.writeUInt32BE(sent * 160, 4);
      sent += 1;
      this.#socket.send(packet, port, address);
    }, FRAME_MS);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#socket.close();
  }
}

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

describe.skipIf(!hasIpv6)('a call to a name with addresses of both families', () => {
  it.each<[Side, Side]>([
    [FOUR, SIX],
    [SIX, FOUR],
  ])('offers the family of each address, and has audio both ways: %o', async (dead, alive) => {
    const stage = await WireStage.open(
      {
        CARILLON_SIP_HOST: '::',
        CARILLON_SIP_PUBLIC_HOST: FOUR.public,
        CARILLON_SIP_PUBLIC_HOST6: SIX.public,
        CARILLON_RTP_HOST: '::',
        CARILLON_RTP_PUBLIC_HOST: FOUR.public,
        CARILLON_RTP_PUBLIC_HOST6: SIX.public,
        NODE_OPTIONS: resolving(dead.sip, alive.sip),
      },
      { calling: '127.0.0.2', called: alive.sip },
    );
    closers.push(() => stage.close());
    const silent = await WirePeer.udp(dead.sip, stage.called.port);
    closers.push(() => silent.close());
    const patched = await stage.service.admin('PATCH', '/carriers/called', { host: NAME });
    expect(patched.status).toBe(200);
    const near = await Voice.at('127.0.0.2', 0x2a, 0x55);
    const far = await Voice.at(alive.sip, 0x55, 0x2a);
    closers.push(
      () => near.close(),
      () => far.close(),
    );

    const call = stage.caller(await stage.dialling());
    call.invite({ body: near.sdp });
    const unanswered = await silent.request('INVITE');
    expect(unanswered.body).toContain(`\r\nc=IN ${dead.family} ${dead.public}\r\n`);
    const callee: WireCallee = await stage.callee();
    expect(callee.invite.body).toContain(`\r\nc=IN ${alive.family} ${alive.public}\r\n`);
    expect(callee.invite.body).toMatch(
      new RegExp(`^o=.* IN ${alive.family} ${alive.public}\r$`, 'm'),
    );
    expect(headerIn(callee.invite, 'Call-ID')).toBe(headerIn(unanswered, 'Call-ID'));
    await callee.accept(far.sdp);
    near.talkTo((await call.answered()).body);
    far.talkTo(callee.invite.body);
    await eventually('audio both ways', () =>
      near.heard > 20 && far.heard > 20 ? true : undefined,
    );
    await call.hangUp();
    await callee.hungUp();
    await stage.quiet();
  });
});
