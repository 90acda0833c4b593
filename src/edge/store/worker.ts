/** Entry of the store's threads. */
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../base/errors.ts';
import { systemRandom } from '../../base/system-random.ts';
import { Engine } from './engine.ts';
import { toFailure } from './failure.ts';
import type { Reply, Request, ThreadOptions } from './thread.ts';

assert(parentPort !== null, 'worker.ts runs as a thread');
const port = parentPort;
const answer = (reply: Reply): void => port.postMessage(reply);

function start(options: ThreadOptions): Engine | undefined {
  try {
    const engine = new Engine({ ...options, random: systemRandom });
    answer({ kind: 'ready', uncleanStart: engine.uncleanStart });
    return engine;
  } catch (error) {
    answer({ kind: 'failed', failure: toFailure(error) });
    port.close();
    return undefined;
  }
}

function handle(engine: Engine, request: Request): Reply {
  switch (request.kind) {
    case 'run':
      return { kind: 'outcomes', outcomes: engine.run(request.units) };
    case 'backup':
      engine.backup(request.path);
      return { kind: 'done' };
    case 'renew':
      engine.renew();
      return { kind: 'done' };
    case 'checkpoint':
      return { kind: 'copied', logPages: engine.checkpoint() };
    case 'close':
      engine.close();
      return { kind: 'done' };
  }
}

const engine = start(workerData as ThreadOptions);
port.on('message', (request: Request) => {
  try {
    if (engine === undefined) return;
    answer(handle(engine, request));
    // Nothing is left to wait for: the thread ends.
    if (request.kind === 'close') port.close();
  } catch (error) {
    answer({ kind: 'failed', failure: toFailure(error) });
  }
});
