/** Run by environment.test.ts: streams towards the URLs of the command line, in this thread or in one that is ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { mediaMessage, openStream } from './fixture.ts';

const [mode = '', ...urls] = process.argv.slice(2);

async function talk(url: string): Promise<void> {
  const { told, media } = openStream(url);
  while (told.ends.length === 0) {
    if (told.log.includes('started')) media[0]?.events.media([mediaMessage(1)]);
    await sleep(1);
  }
  process.stdout.write(`${JSON.stringify(told.ends[0])}\n`);
}

if (!isMainThread) {
  await Promise.all((workerData as string[]).map(talk));
} else if (mode === 'worker') {
  for (let round = 0; round < 4; round += 1) {
    const worker = new Worker(new URL(import.meta.url), { workerData: urls });
    await sleep(300);
    await worker.terminate();
  }
} else {
  const talks = Promise.all(urls.map(talk));
  if (mode === 'exit') setTimeout(() => process.exit(0), 150);
  await talks;
  process.exit(0);
}
