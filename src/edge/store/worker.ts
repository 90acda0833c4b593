/** Entry point of the SQLite threads. */
import { workerData } from 'node:worker_threads';
import { systemRandom } from '../../base/system-random.ts';
import { Engine } from './engine.ts';
import { serve } from './serve.ts';
import type { Reply, Request, ThreadOptions } from './thread.ts';

serve(() => {
  const engine = new Engine({ ...(workerData as ThreadOptions), random: systemRandom });
  return {
    uncleanStart: engine.uncleanStart,
    lostCommits: engine.lostCommits,
    handle: (request) => handle(engine, request),
  };
});

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
    case 'empty-log':
      engine.emptyLog();
      return { kind: 'done' };
    case 'heard':
      return { kind: 'heard', changed: false };
    case 'close':
      engine.close();
      return { kind: 'done' };
  }
}
