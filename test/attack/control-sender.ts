/** Worker of `control-stream.ts`: sends a datagram of the size of an RTP packet every 20 ms, as the service does in a call. */
import { createSocket } from 'node:dgram';
import { workerData } from 'node:worker_threads';

const FRAME_MS = 20;
const RTP_BYTES = 172;
const { port } = workerData as { readonly port: number };
const socket = createSocket('udp4');
const packet = Buffer.alloc(RTP_BYTES);
let dueMs = performance.now();

function send(): void {
  socket.send(packet, port, '127.0.0.1');
  dueMs += FRAME_MS;
  setTimeout(send, Math.max(0, dueMs - performance.now()));
}
send();
