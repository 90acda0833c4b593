/**
 * Child process of environment.test.ts: opens streams to the URLs of the command line, in this thread or in one that is
 * terminated.
 */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { until } from '../../eventually.ts';
import { mediaMessage, openStream } from './fixture.ts';

const [mode = '', ...urls] = process.argv.slice(2);

/** Number of bot commands after which its stream counts as fully active. */
const SWING = 50;

/** Streams that exchange messages until each bot has sent enough. */
async function swing(to: readonly string[]): Promise<void> {
  const streams = to.map((url) => openStream(url));
  for (const { reported, media } of streams) {
    await until(() => {
      if (reported.log.includes('started')) media[0]?.events.media([mediaMessage(1)]);
      return (media[0]?.log.length ?? 0) >= SWING;
    }, 'all streams active');
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
  for (const { reported } of urls.map((url) => openStream(url))) {
    await until(() => reported.ends.length > 0, 'the end');
    process.stdout.write(`${JSON.stringify(reported.ends[0])}\n`);
  }
  process.exit(0);
}
