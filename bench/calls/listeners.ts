/** Phones with active audio calls during a measurement. They record gaps between received RTP packets with kernel timestamps. */
import { systemRandom as random } from '../../src/base/system-random.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { UdpTransport } from '../../src/edge/sip/transport/udp-transport.ts';
import { SipLine } from '../../src/phone/sip-line.ts';
import { buildOffer, readAnswer, staticCodec } from '../../src/protocol/sdp/sdp.ts';
import type { Login } from './register-phones.ts';
import { HOST } from './sipp.ts';

const FRAME_MS = 20;
const FRAME_BYTES = 160;
const HEADER_BYTES = 12;
/** RTP version 2, PCMU. */
const HEADER_START = 0x8000;
const SILENCE = 0xff;
const ANSWER_LIMIT_MS = 10_000;

class Listener {
  readonly gaps: number[] = [];
  readonly #line: SipLine;
  readonly #rtp: UdpTransport;
  readonly #packet = Buffer.alloc(HEADER_BYTES + FRAME_BYTES, SILENCE);
  #lastMs: number | undefined;
  #sequence = 0;
  #timer: NodeJS.Timeout | undefined;

  private constructor(line: SipLine, rtp: UdpTransport) {
    this.#line = line;
    this.#rtp = rtp;
  }

  static async call(sipPort: number, login: Login): Promise<Listener> {
    const at = { host: HOST, port: sipPort, transport: 'udp', clock, random } as const;
    const line = await SipLine.open({ ...login, ...at });
    const rtp: UdpTransport = new UdpTransport(HOST, 0, {
      received: (_bytes, _address, _port, waitedMs) => listener.#received(waitedMs),
      failed: () => undefined,
    });
    const port = await rtp.start();
    const listener = new Listener(line, rtp);
    await listener.#talk(port);
    return listener;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([this.#line.close(), this.#rtp.stop()]);
  }

  #talk(port: number): Promise<void> {
    const codec = staticCodec('PCMU');
    const offer = buildOffer({
      address: HOST,
      port,
      sessionId: 1,
      version: 1,
      ptimeMs: FRAME_MS,
      telephoneEventPayloadType: undefined,
      codecs: codec === undefined ? [] : [codec],
      direction: 'sendrecv',
    });
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('a listener got no answer')), ANSWER_LIMIT_MS);
      this.#line.call('1000', offer, {
        ringing: () => undefined,
        connected: (sdp) => {
          const session = readAnswer(offer, sdp ?? '');
          if (!session.ok) return;
          clearTimeout(late);
          this.#timer = setInterval(
            () => this.#send(session.value.address, session.value.port),
            FRAME_MS,
          );
          resolve();
        },
        offered: () => undefined,
        ended: (end) =>
          reject(new Error(`a listener's call ended: ${end.how} ${end.status ?? ''}`)),
      });
    });
  }

  #received(waitedMs: number): void {
    const atMs = performance.now() - waitedMs;
    if (this.#lastMs !== undefined) this.gaps.push(atMs - this.#lastMs);
    this.#lastMs = atMs;
  }

  #send(address: string, port: number): void {
    this.#packet.writeUInt16BE(HEADER_START, 0);
    this.#packet.writeUInt16BE(this.#sequence & 0xffff, 2);
    this.#packet.writeUInt32BE((this.#sequence * FRAME_BYTES) >>> 0, 4);
    this.#packet.writeUInt32BE(1, 8);
    this.#sequence += 1;
    this.#rtp.send(this.#packet, address, port, () => undefined);
  }
}

export class Listeners {
  readonly #all: readonly Listener[];

  private constructor(all: readonly Listener[]) {
    this.#all = all;
  }

  static async start(sipPort: number, logins: readonly Login[]): Promise<Listeners> {
    const all: Listener[] = [];
    for (const login of logins) all.push(await Listener.call(sipPort, login));
    return new Listeners(all);
  }

  /** Since the last time that it was asked, in words. */
  takeGaps(): string {
    const gaps = this.#all.flatMap((listener) => listener.gaps.splice(0)).sort((a, b) => a - b);
    const at = (share: number): string => (gaps[Math.floor(gaps.length * share)] ?? 0).toFixed(1);
    return `RTP gap of ${this.#all.length} running calls p50 · p99 · most ${at(0.5)} · ${at(0.99)} · ${(gaps.at(-1) ?? 0).toFixed(1)} ms`;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((listener) => listener.close()));
  }
}
