/** A SIPp carrier holds a call: it gets no RTP of played audio, but still gets RTCP reports (RFC 3264 §8.4, RFC 3550). */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SippStage } from './sipp-stage.ts';
import { missing } from './tools.ts';

const CALLED = '127.0.0.10';
/** RTP port of the listener. Even; the next port receives RTCP. */
const EAR_PORT = 41_870;
/** Time from the listener's first packet after which the hold is in effect, ms. The hold comes 1 s after the answer. */
const HELD_AFTER_MS = 2000;

async function listener(port: number, arrivals: number[]): Promise<Socket> {
  const socket = createSocket('udp4').bind(port, CALLED);
  await once(socket, 'listening');
  socket.on('message', () => arrivals.push(performance.now()));
  return socket;
}

describe.skipIf(missing('sipp'))('a carrier that holds a call', () => {
  let stage: SippStage;
  beforeAll(async () => {
    stage = await SippStage.open(8600);
    await stage.carrier({ name: 'holds', host: CALLED });
  });
  afterAll(() => stage.close());

  it.each(['sendonly', 'inactive'])('with %s gets RTCP but no RTP', async (hold) => {
    const [rtp, rtcp]: [number[], number[]] = [[], []];
    const listeners = [await listener(EAR_PORT, rtp), await listener(EAR_PORT + 1, rtcp)];
    try {
      const more = ['-key', 'ear_port', String(EAR_PORT), '-key', 'hold', hold];
      const callee = stage.called(CALLED, 'carrier-holds', { limitS: 40, more });
      const xml = `<Response><Speak>${'One two three four five. '.repeat(12)}</Speak><Wait length="6"/><Hangup/></Response>`;
      await stage.placed(`1415555019${hold.length}`, xml, hold);
      const { status, report } = await callee.done;
      expect(status, report).toBe(0);
      const [began = 0] = rtp;
      const heldMs = began + HELD_AFTER_MS;
      // Audio arrived before the hold.
      expect(rtp.length).toBeGreaterThan(5);
      expect(rtp.filter((at) => at > heldMs)).toEqual([]);
      expect(rtcp.filter((at) => at > heldMs).length).toBeGreaterThan(1);
    } finally {
      for (const socket of listeners) socket.close();
    }
  });
});
