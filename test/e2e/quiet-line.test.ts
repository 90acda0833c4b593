/** RTP that a call sends without content to play: to a silent peer, to a peer on hold, and to a peer that stops sending. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeRtp } from '../../src/phone/rtp/packet.ts';
import { sdpOf } from './wire-peer.ts';
import { type WireCaller, WireStage } from './wire-stage.ts';

const PHONE = '127.0.0.2';
const SILENCE = new Uint8Array(160).fill(0xff);
/** Media timeout, ms. The minimum value of the setting; the legs of the first two tests end earlier. */
const MEDIA_TIMEOUT_MS = 4000;
/** Time for RTP in transit after a direction change, including delays on a loaded machine, ms. */
const SETTLED_MS = 300;

let stage: WireStage;
beforeAll(async () => {
  stage = await WireStage.open({ CARILLON_RTP_MEDIA_TIMEOUT_MS: String(MEDIA_TIMEOUT_MS) });
});
afterAll(() => stage.close());

/** The RTP port of a phone: counts received packets and sends audio. */
class KeyListener {
  readonly arrivals: number[] = [];
  readonly #socket: Socket;
  #talk: NodeJS.Timeout | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', () => this.arrivals.push(performance.now()));
  }

  static async open(): Promise<KeyListener> {
    const socket = createSocket('udp4').bind(0, PHONE);
    await once(socket, 'listening');
    return new KeyListener(socket);
  }

  get media(): string {
    return `m=audio ${this.#socket.address().port} RTP/AVP 0 101`;
  }

  /** Sends a packet of silence every 20 ms to the RTP port in the SDP `answer`. */
  talk(answer: string): void {
    const port = Number(/^m=audio (\d+)/m.exec(answer)?.[1]);
    let sequence = 0;
    this.#talk = setInterval(() => {
      sequence += 1;
      const packet = { payloadType: 0, marker: false, sequence, ssrc: 7, payload: SILENCE };
      this.#socket.send(writeRtp({ ...packet, timestamp: sequence * 160 }), port, '127.0.0.1');
    }, 20);
  }

  hush(): void {
    clearInterval(this.#talk);
  }

  /** Counts the packets that arrive within `ms` from now. */
  async within(ms: number): Promise<number> {
    const before = this.arrivals.length;
    await wait(ms);
    return this.arrivals.length - before;
  }

  close(): void {
    this.hush();
    this.#socket.close();
  }
}

interface Talk {
  readonly call: WireCaller;
  readonly listener: KeyListener;
  /** Sends a re-INVITE with this direction. */
  readonly turn: (direction: string) => Promise<string>;
}

let version = 1;

async function talking(elements: string, using: (talk: Talk) => Promise<void>): Promise<void> {
  const listener = await KeyListener.open();
  const body = (direction: string): string => {
    version += 1;
    return sdpOf({ address: PHONE, direction, version, media: listener.media });
  };
  try {
    const call = stage.caller(await stage.number(elements));
    call.invite({ body: body('sendrecv') });
    listener.talk((await call.answered()).body);
    const turn = async (direction: string): Promise<string> => {
      call.reinvite({ body: body(direction) });
      return (await call.answered()).body;
    };
    await using({ call, listener, turn });
  } finally {
    listener.close();
  }
}

const WAITS = '<Speak>One</Speak><Wait length="30"/>';
const PLAYS = `<Speak>${'One two three four five. '.repeat(20)}</Speak>`;

describe('RTP without content to play', () => {
  it("sends silence while the peer sends, and stops two seconds after the peer's last packet", async () => {
    await talking(WAITS, async ({ call, listener }) => {
      await wait(SETTLED_MS);
      expect(await listener.within(1000)).toBeGreaterThan(30);
      listener.hush();
      await wait(2000 + SETTLED_MS);
      expect(await listener.within(1000)).toBe(0);
      await call.hangUp();
    });
  });

  it.each([
    ['sendonly', 'recvonly'],
    ['inactive', 'inactive'],
  ])(
    'a peer on hold with %s gets no audio, and gets all audio after the hold',
    async (hold, answer) => {
      await talking(PLAYS, async ({ call, listener, turn }) => {
        await wait(SETTLED_MS);
        expect(await listener.within(500)).toBeGreaterThan(10);
        expect(await turn(hold)).toContain(`a=${answer}`);
        if (hold === 'inactive') listener.hush();
        await wait(SETTLED_MS);
        expect(await listener.within(1500)).toBe(0);
        await turn('sendrecv');
        await wait(SETTLED_MS);
        expect(await listener.within(500)).toBeGreaterThan(10);
        await call.hangUp();
      });
    },
  );

  it('sends played audio to a peer that only listens', async () => {
    await talking(PLAYS, async ({ call, listener, turn }) => {
      listener.hush();
      expect(await turn('recvonly')).toContain('a=sendonly');
      await wait(SETTLED_MS);
      expect(await listener.within(500)).toBeGreaterThan(10);
      await call.hangUp();
    });
  });

  it('ends the call as Media Timeout when the peer sends no packet for the configured time', async () => {
    await talking(WAITS, async ({ call, listener }) => {
      await wait(SETTLED_MS);
      listener.hush();
      const silentMs = performance.now();
      stage.calling.answer(await stage.calling.request('BYE', 2 * MEDIA_TIMEOUT_MS), '200 OK');
      const tookMs = performance.now() - silentMs;
      expect(tookMs).toBeGreaterThan(MEDIA_TIMEOUT_MS - SETTLED_MS);
      const record = await stage.service.cdrOf(call.callId);
      expect(JSON.stringify(record)).toContain('Media Timeout');
    });
  });
});
