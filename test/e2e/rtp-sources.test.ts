/** Accepted RTP sources of a call: the SDP address and the signaling address by default, others only by setting. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemRandom as random } from '../../src/base/system-random.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { writeWav } from '../../src/phone/audio/wav.ts';
import { SipLine } from '../../src/phone/sip-line.ts';
import { readAnswer } from '../../src/protocol/sdp/sdp.ts';
import { makeUser, type SipUser } from './phone.ts';
import { openPair, type Pair } from './scene.ts';
import { tone } from './tones.ts';

const FRAME_MS = 20;
const SDP_HOST = '127.0.0.9';
const THIRD_HOST = '127.0.0.2';

/** A socket that counts received packets and sends 20 ms packets of silence. */
class Source {
  readonly socket: Socket;
  received = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('message', () => {
      this.received += 1;
    });
  }

  static async open(address: string): Promise<Source> {
    const socket = createSocket('udp4').bind(0, address);
    await once(socket, 'listening');
    return new Source(socket);
  }

  get port(): number {
    return this.socket.address().port;
  }

  /** Sends one packet every 20 ms. Resolves after `packets` packets, or when `until` returns true. */
  stream(port: number, packets: number, until = (): boolean => false): Promise<void> {
    const packet = Buffer.alloc(172, 0xff);
    packet.writeUInt16BE(0x8000, 0);
    packet.writeUInt32BE(random.integer(2 ** 31), 8);
    const startMs = performance.now();
    let sent = 0;
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        const due = Math.min(packets, Math.floor((performance.now() - startMs) / FRAME_MS));
        for (; sent < due; sent += 1) {
          packet.writeUInt16BE(sent, 2);
          packet.writeUInt32BE(sent * 160, 4);
          this.socket.send(packet, port, '127.0.0.1');
        }
        if (sent < packets && !until()) return;
        clearInterval(timer);
        resolve();
      }, FRAME_MS);
    });
  }
}

/** Places a call from a phone that never sends RTP and whose SDP names this socket. */
async function silentCall(pair: Pair, user: SipUser, source: Source) {
  const line = await SipLine.open({
    ...user,
    host: '127.0.0.1',
    port: pair.service.sipPort,
    transport: 'udp',
    clock,
    random,
  });
  const { address, port } = source.socket.address();
  const offer = [
    ...['v=0', `o=- 1 1 IN IP4 ${address}`, 's=-', `c=IN IP4 ${address}`, 't=0 0'],
    ...[`m=audio ${port} RTP/AVP 0`, 'a=ptime:20', ''],
  ].join('\r\n');
  const answered = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<void>();
  const call = line.call('1000', offer, {
    ringing: () => undefined,
    connected: (sdp = '') => {
      const answer = readAnswer(offer, sdp);
      answered.resolve(answer.ok ? answer.value.port : 0);
    },
    offered: () => undefined,
    ended: ({ how, status }) => {
      answered.reject(new Error(`not answered: ${how} ${status ?? ''}`));
      ended.resolve();
    },
  });
  return {
    rtpPort: await answered.promise,
    close: async () => {
      call.hangup();
      await ended.promise;
      await line.close();
    },
  };
}

describe.each([
  ['by default', false],
  ['with rtp.acceptOtherSources', true],
])('%s', (_, accepts) => {
  let pair: Pair;
  let user: SipUser;
  const sources: Source[] = [];
  const open = async (address: string): Promise<Source> => {
    const source = await Source.open(address);
    sources.push(source);
    return source;
  };

  beforeAll(async () => {
    pair = await openPair({ CARILLON_RTP_ACCEPT_OTHER_SOURCES: String(accepts) });
    const wav = writeWav({ rate: 8000, samples: tone([1000], 30_000) });
    const url = pair.customer.page(
      '/tone.wav',
      (response) => void response.writeHead(200, { 'content-type': 'audio/wav' }).end(wav),
    );
    const answer_url = pair.customer.xml('/quiet', `<Response><Play>${url}</Play></Response>`);
    user = await makeUser(pair.service, 'quiet', { answer_url });
  });
  afterAll(async () => {
    for (const { socket } of sources) socket.close();
    await pair.close();
  });

  it('SDP and signaling name one address: a third address gets no audio, another port of the same address does', async () => {
    const [phone, third, symmetric] = [
      await open('127.0.0.1'),
      await open(THIRD_HOST),
      await open('127.0.0.1'),
    ];
    const call = await silentCall(pair, user, phone);
    await third.stream(call.rtpPort, accepts ? 220 : 100);
    expect(third.received).toBe(0);
    await symmetric.stream(call.rtpPort, 1000, () => symmetric.received > 3);
    expect(symmetric.received).toBeGreaterThan(3);
    expect(third.received).toBe(0);
    await call.close();
  });

  it('SDP and signaling differ: prefers the signaling address', async () => {
    const [phone, third, near] = [
      await open(SDP_HOST),
      await open(THIRD_HOST),
      await open('127.0.0.1'),
    ];
    const call = await silentCall(pair, user, phone);
    await third.stream(call.rtpPort, 60);
    expect(third.received).toBe(0);
    await near.stream(call.rtpPort, 1000, () => near.received > 3);
    expect(near.received).toBeGreaterThan(3);
    await call.close();
  });

  it(`SDP and signalling differ: a third address gets ${accepts ? 'the audio after some seconds' : 'nothing'}`, async () => {
    const [phone, third] = [await open(SDP_HOST), await open(THIRD_HOST)];
    const call = await silentCall(pair, user, phone);
    await third.stream(call.rtpPort, accepts ? 1000 : 250, () => third.received > 3);
    expect(third.received > 3).toBe(accepts);
    await call.close();
    const { text } = await pair.service.get('/metrics');
    const refused = /^voice_rtp_unknown_source_packets_total (\d+)$/m.exec(text)?.[1];
    expect(Number(refused)).toBeGreaterThan(100);
  });
});
