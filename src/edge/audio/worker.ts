/** Entry of a conversion thread. Runs one job at a time at low priority. */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { ConversionError, type Job, type JobReply } from './conversion.ts';
import { decode, warmDecoders } from './decode.ts';
import { encodeMp3 } from './encode-mp3.ts';

/** Priority below call processing. On Linux, process 0 means the calling thread. */
const NICENESS = 10;

async function work(job: Job): Promise<JobReply> {
  try {
    if (job.kind === 'decode') return { kind: 'decoded', ...(await decode(job)) };
    if (job.kind === 'warm') {
      await warmDecoders();
      return { kind: 'warmed' };
    }
    return { kind: 'encoded', bytes: await encodeMp3(job) };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return {
      kind: 'failed',
      failure: error instanceof ConversionError ? error.failure : 'failed',
      detail,
    };
  }
}

try {
  setPriority(0, NICENESS);
} catch {
  // Not permitted on this system: the thread keeps its priority.
}

const port = parentPort;
port?.on('message', (job: Job) => {
  void work(job).then((reply) => {
    const transfer = reply.kind === 'decoded' ? [reply.samples.buffer as ArrayBuffer] : [];
    port.postMessage(reply, transfer);
  });
});
