/** Sender process of `rtp-spray`: sends sequential RTP to every RTP port of the service and counts the packets it gets back. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { writeRtp } from '../../src/phone/rtp/packet.ts';

export interface SprayOrder {
  readonly portMin: number;
  readonly portMax: number;
  readonly seconds: number;
}

export interface SprayReport {
  readonly sent: number;
  /** Packets received by the unknown source. */
  readonly got: number;
}

const HOST = '127.0.0.1';
const FRAME_MS = 20;
const FRAME_SAMPLES = 160;
/** A loud frame, so that it would be audible in any call that plays it. */
const LOUD = new Uint8Array(FRAME_SAMPLES);

const [order] = (await once(process, 'message')) as [SprayOrder];
const report = await run(order);
process.send?.(report, () => process.exit(0));

async function run({ portMin, portMax, seconds }: SprayOrder): Promise<SprayReport> {
  const socket = createSocket('udp4');
  socket.bind({ address: HOST, port: 0 });
  await once(socket, 'listening');
  const counts = { sent: 0, got: 0 };
  socket.on('message', () => {
    counts.got += 1;
  });
  socket.on('error', () => undefined);
  const startMs = performance.now();
  for (let frame = 0; frame * FRAME_MS < seconds * 1000; frame += 1) {
    const place = { sequence: frame & 0xffff, timestamp: frame * FRAME_SAMPLES, ssrc: 0xbadbad };
    const packet = writeRtp({ payloadType: 0, marker: false, ...place, payload: LOUD });
    for (let port = portMin; port < portMax; port += 2) {
      socket.send(packet, port, HOST);
      counts.sent += 1;
    }
    await pause(Math.max(0, startMs + (frame + 1) * FRAME_MS - performance.now()));
  }
  socket.close();
  return counts;
}
