import { assert } from '../../base/errors.ts';
import type { MachineDetectionOptions, MachineDetectionResult } from '../../domain/call/needs.ts';
import type { Hub } from './hub.ts';
import type { JobHandle, LegHandle } from './native.ts';

/** Names in the order of the native MachineReason. */
const REASONS: readonly MachineDetectionResult['reason'][] = [
  'initialSilence',
  'greeting',
  'words',
  'wordLength',
  'human',
  'timeout',
  'beep',
  'ended',
];

/** Result of a detection that ended early. */
export const NOT_DETECTED: MachineDetectionResult = { machine: false, reason: 'ended', afterMs: 0 };

/** Maximum number of listeners: half of the native limit (Leg::kMaxTaps). The other half is reserved for recordings. */
const MAX_WAITING = 6;

/** Pending detections on one leg. Each gets a result when the leg closes. */
export class Listening {
  readonly #hub: Hub;
  readonly #leg: LegHandle;
  readonly #waiting = new Set<() => void>();

  constructor(hub: Hub, leg: LegHandle) {
    this.#hub = hub;
    this.#leg = leg;
  }

  detectMachine(
    options: MachineDetectionOptions,
    signal?: AbortSignal,
  ): Promise<MachineDetectionResult> {
    if (signal?.aborted === true) return Promise.resolve(NOT_DETECTED);
    const { promise, resolve } = Promise.withResolvers<MachineDetectionResult>();
    const { tap, end } = this.#add(resolve, NOT_DETECTED, (event) =>
      event.type === 'machineDetected'
        ? {
            machine: event.machine,
            reason: REASONS[event.reason] ?? 'timeout',
            afterMs: event.afterMs,
          }
        : undefined,
    );
    this.#hub.engine.detectMachine({ leg: this.#leg, job: tap, ...options });
    return endedBy(signal, promise, end);
  }

  waitForSilence(ms: number, maxMs: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { tap, end } = this.#add(resolve, false, (event) =>
      event.type === 'silenceWaited' ? event.silent : undefined,
    );
    this.#hub.engine.waitForSilence({ leg: this.#leg, job: tap, silenceMs: ms, limitMs: maxMs });
    return endedBy(signal, promise, end);
  }

  close(): void {
    for (const end of [...this.#waiting]) end();
  }

  /** Starts a native listener. `read` converts its event to the result; if it ends early, `fallback` is the result. */
  #add<T>(
    resolve: (value: T) => void,
    fallback: T,
    read: (event: Parameters<Parameters<Hub['listen']>[1]>[0]) => T | undefined,
  ): { readonly tap: JobHandle; readonly end: () => void } {
    assert(this.#waiting.size < MAX_WAITING, `at most ${MAX_WAITING} wait to hear one leg`);
    const tap = this.#hub.newHandle<JobHandle>();
    const finish = (value: T): void => {
      if (!this.#waiting.delete(end)) return;
      this.#hub.forget(tap);
      this.#hub.engine.removeTap(this.#leg, tap);
      resolve(value);
    };
    const end = (): void => finish(fallback);
    this.#waiting.add(end);
    this.#hub.listen(tap, (event) => {
      const value = read(event);
      if (value !== undefined) finish(value);
    });
    return { tap, end };
  }
}

/** Calls `end` if the signal is aborted before the result. */
function endedBy<T>(
  signal: AbortSignal | undefined,
  result: Promise<T>,
  end: () => void,
): Promise<T> {
  if (signal === undefined) return result;
  signal.addEventListener('abort', end, { once: true });
  return result.finally(() => signal.removeEventListener('abort', end));
}
