/** Control measurement of RTP gaps: packets that do not pass through the service, so their gaps are those of the machine. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface ControlStream {
  /** Stops the stream. Resolves to the times between consecutive packets, in ms. */
  stop(): Promise<readonly number[]>;
}

/** Receives in this thread, as the legitimate calls do, what another thread sends every 20 ms. */
export async function startControlStream(): Promise<ControlStream> {
  const listener = createSocket('udp4');
  listener.bind({ address: '127.0.0.1', port: 0 });
  await once(listener, 'listening');
  const gapsMs: number[] = [];
  let lastMs: number | undefined;
  listener.on('message', () => {
    const nowMs = performance.now();
    if (lastMs !== undefined) gapsMs.push(nowMs - lastMs);
    lastMs = nowMs;
  });
  const { port } = listener.address();
  const sender = new Worker(new URL('./control-sender.ts', import.meta.url), {
    workerData: { port },
  });
  return {
    async stop() {
      await sender.terminate();
      listener.close();
      return gapsMs;
    },
  };
}
