import { Worker } from 'node:worker_threads';
import type { Clock } from '../../base/clock.ts';
import type { Job, JobReply } from './conversion.ts';

export interface ConversionThreadOptions {
  readonly clock: Clock;
  /** A job that takes longer is given up, with its thread. */
  readonly timeLimitMs: number;
  /** Jobs that may wait; beyond, they fail at once. */
  readonly maxWaiting: number;
}

interface Waiting {
  readonly job: Job;
  readonly done: (reply: JobReply) => void;
}

/** Time without jobs after which a thread ends. It holds some 30 MiB, and starts again in a tenth of a second. */
const IDLE_MS = 60_000;

/** A thread for conversions, started when one is asked for, ended by failure or idleness. Jobs run in order. */
export class ConversionThread {
  readonly #options: ConversionThreadOptions;
  readonly #queue: Waiting[] = [];
  #worker: Worker | undefined;
  #running: Waiting | undefined;
  #cancelLimit: () => void = () => undefined;
  #cancelIdle: () => void = () => undefined;
  #stopped = false;

  constructor(options: ConversionThreadOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Never rejects. */
  run(job: Job): Promise<JobReply> {
    const { promise, resolve } = Promise.withResolvers<JobReply>();
    if (this.#stopped) {
      resolve({ kind: 'failed', failure: 'failed', detail: 'the service is stopping' });
    } else if (this.#queue.length >= this.#options.maxWaiting) {
      resolve({ kind: 'failed', failure: 'busy', detail: 'too many conversions wait' });
    } else {
      this.#queue.push({ job, done: resolve });
      this.#next();
    }
    return promise;
  }

  /** Ends the thread; the job in hand and those that wait fail. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const detail = 'the service is stopping';
    for (const { done } of this.#queue.splice(0))
      done({ kind: 'failed', failure: 'failed', detail });
    await this.#abandon(detail);
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const next = this.#queue.shift();
    if (next === undefined) return;
    this.#running = next;
    this.#cancelIdle();
    const { clock, timeLimitMs } = this.#options;
    this.#cancelLimit = clock.at(clock.monotonicMs() + timeLimitMs, () => {
      void this.#abandon(`took longer than ${timeLimitMs / 1000} s`);
    });
    this.#thread().postMessage(next.job);
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    worker.on('message', (reply: JobReply) => this.#finish(reply));
    worker.on('error', (error) => void this.#abandon(error.message));
    // An idle converter keeps no process alive.
    worker.unref();
    this.#worker = worker;
    return worker;
  }

  #finish(reply: JobReply): void {
    const running = this.#running;
    this.#running = undefined;
    this.#cancelLimit();
    running?.done(reply);
    if (this.#stopped) return;
    this.#next();
    if (this.#running !== undefined || this.#worker === undefined) return;
    const { clock } = this.#options;
    const dueMs = clock.monotonicMs() + IDLE_MS;
    this.#cancelIdle = clock.at(dueMs, () => void this.#abandon('the thread was idle'));
  }

  async #abandon(detail: string): Promise<void> {
    this.#cancelIdle();
    const worker = this.#worker;
    this.#worker = undefined;
    worker?.removeAllListeners();
    if (this.#running !== undefined) this.#finish({ kind: 'failed', failure: 'failed', detail });
    await worker?.terminate();
  }
}
