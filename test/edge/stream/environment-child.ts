/** Run by environment.test.ts: streams towards the URLs of the command line, in this thread or in one that is ended. */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { until } from '../../eventually.ts';
import { mediaMessage, openStream } from './fixture.ts';

const [mode = '', ...urls] = process.argv.slice(2);

/** Commands of a bot after which its stream is in full swing. */
const SWING = 50;

/** Streams that speak to their bots, until each has said a lot itself. */
async function swing(to: readonly string[]): Promise<void> {
  const streams = to.map((url) => openStream(url));
  for (const { told, media } of streams) {
    await until(() => {
      if (told.log.includes('started')) media[0]?.events.media([mediaMessage(1)]);
      return (media[0]?.log.length ?? 0) >= SWING;
    }, 'full swing');
  }
}

if (!isMainThread) {
  await swing(workerData as string[]);
  parentPort?.postMessage('swing');
} else if (mode === 'worker') {
  for (let round = 0; round < 4; round += 1) {
    const worker = new Worker(new URL(import.meta.url), { workerData: urls });
    await once(worker, 'message');
    await worker.terminate();
  }
} else if (mode === 'exit') {
  await swing(urls);
  process.exit(0);
} else {
  for (const { told } of urls.map((url) => openStream(url))) {
    await until(() => told.ends.length > 0, 'the end');
    process.stdout.write(`${JSON.stringify(told.ends[0])}\n`);
  }
  process.exit(0);
}
