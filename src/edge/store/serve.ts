import { parentPort } from 'node:worker_threads';
import { assert } from '../../base/errors.ts';
import { toFailure } from './failure.ts';
import type { LostCommits } from './log-examination.ts';
import type { Reply, Reported, Request } from './thread.ts';

/** Operations of a store thread. */
export interface Served {
  readonly uncleanStart: boolean;
  readonly lostCommits?: LostCommits | undefined;
  handle(request: Request): Reply;
}

/**
 * Main loop of a store thread: answers its start, then each request, until `close`. `notify` sends a message without a request.
 */
export function serve(start: (notify: (reported: Reported) => void) => Served): void {
  assert(parentPort !== null, 'this file must run as a worker thread');
  const port = parentPort;
  const answer = (reply: Reply): void => port.postMessage(reply);
  const begin = (): Served | undefined => {
    try {
      const served = start(answer);
      const { uncleanStart, lostCommits } = served;
      answer({ kind: 'ready', uncleanStart, lostCommits });
      return served;
    } catch (error) {
      answer({ kind: 'failed', failure: toFailure(error) });
      port.close();
      return undefined;
    }
  };
  const served = begin();
  port.on('message', (request: Request) => {
    try {
      if (served === undefined) return;
      answer(served.handle(request));
      // Closing the port lets the thread end.
      if (request.kind === 'close') port.close();
    } catch (error) {
      answer({ kind: 'failed', failure: toFailure(error) });
    }
  });
}
