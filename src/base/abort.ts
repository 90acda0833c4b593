const ONCE = { once: true };

/** Settles like `work`, but rejects with the signal's reason as soon as it is aborted. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  if (signal.aborted) {
    // Without a handler, a later rejection of the work would end the process.
    work.catch(() => undefined);
    return Promise.reject(signal.reason);
  }
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

/** Settles like `work`, but resolves with `aborted` as soon as the signal is aborted. The work itself continues. */
export function unlessAbortedOr<T>(
  signal: AbortSignal | undefined,
  work: Promise<T>,
  aborted: T,
): Promise<T> {
  if (signal === undefined) return work;
  return unlessAborted(signal, work).catch((reason: unknown) => {
    if (signal.aborted) return aborted;
    throw reason;
  });
}

export interface LinkedAbort {
  readonly controller: AbortController;
  /** Must be called when the work has ended, to remove the listener from the parent signal. */
  readonly release: () => void;
}

/**
 * Creates a controller that aborts with `parent` and its reason. Uses one listener, which `release` removes.
 * `AbortSignal.any` would keep weak references in both signals.
 */
export function linkedTo(parent: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  const abort = (): void => controller.abort(parent.reason);
  if (parent.aborted) abort();
  else parent.addEventListener('abort', abort, ONCE);
  return { controller, release: () => parent.removeEventListener('abort', abort) };
}
