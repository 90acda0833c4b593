/** Tells the initiator of some work whether the work has changed stored data, however deep in the calls that happened. */
import { AsyncLocalStorage } from 'node:async_hooks';

interface Noted {
  hasWritten: boolean;
}

const noted = new AsyncLocalStorage<Noted>();

/** Runs `work`, which receives a function that returns whether a write has succeeded since its start. */
export function notingWrites<T>(work: (hasWritten: () => boolean) => Promise<T>): Promise<T> {
  const here: Noted = { hasWritten: false };
  return noted.run(here, () => work(() => here.hasWritten));
}

/** Notes that `write` has succeeded, for the work that requested it. Returns `write`. */
export function noteWrite<T>(write: Promise<T>): Promise<T> {
  const here = noted.getStore();
  if (here === undefined || here.hasWritten) return write;
  return write.then((answer) => {
    here.hasWritten = true;
    return answer;
  });
}
