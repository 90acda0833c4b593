const ONCE = { once: true };

/** Rejects with the signal's reason as soon as it is aborted; otherwise what `work` comes to. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, ONCE);
    work.then(
      (value) => {
        signal.removeEventListener('abort', onAbort);
        resolve(value);
      },
      (reason) => {
        signal.removeEventListener('abort', onAbort);
        reject(reason);
      },
    );
  });
}

export interface LinkedAbort {
  readonly controller: AbortController;
  /** To be called when the work is over: a parent that goes on keeps nothing of it. */
  readonly release: () => void;
}

/**
 * A controller that `parent` aborts too, with its reason. It costs one listener, which `release` removes;
 * `AbortSignal.any` would keep weak references in both signals.
 */
export function linkedTo(parent: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  const abort = (): void => controller.abort(parent.reason);
  if (parent.aborted) abort();
  else parent.addEventListener('abort', abort, ONCE);
  return { controller, release: () => parent.removeEventListener('abort', abort) };
}
