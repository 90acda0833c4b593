import { parentPort } from 'node:worker_threads';
import { assert } from '../../base/errors.ts';
import { toFailure } from './failure.ts';
import type { Reply, Request, Told } from './thread.ts';

/** What a thread of the store does. */
export interface Served {
  readonly uncleanStart: boolean;
  handle(request: Request): Reply;
}

/** The life of a thread of the store: answers its start, then each request, and ends with `close`. `tell`: what nobody has asked for. */
export function serve(start: (tell: (told: Told) => void) => Served): void {
  assert(parentPort !== null, 'this runs as a thread');
  const port = parentPort;
  const answer = (reply: Reply): void => port.postMessage(reply);
  const begin = (): Served | undefined => {
    try {
      const served = start(answer);
      answer({ kind: 'ready', uncleanStart: served.uncleanStart });
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
      // Nothing is left to wait for: the thread ends.
      if (request.kind === 'close') port.close();
    } catch (error) {
      answer({ kind: 'failed', failure: toFailure(error) });
    }
  });
}
