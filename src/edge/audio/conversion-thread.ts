import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../base/clock.ts';
import { type Job, type JobReply, partOf } from './conversion.ts';

export interface ConversionThreadOptions {
  readonly clock: Clock;
  /** Time limit for one job, ms. A longer job is aborted and its thread terminated. */
  readonly timeLimitMs: number;
  /** Maximum number of waiting jobs. Further jobs fail immediately. */
  readonly maxWaiting: number;
}

interface Waiting {
  readonly job: Job;
  readonly done: (reply: JobReply) => void;
}

/** Idle time after which a thread ends, ms. A thread uses about 30 MiB and restarts within 0.1 s. */
const IDLE_MS = 60_000;

/** A worker thread for conversions. Starts on demand, ends after a failure or when idle. Runs jobs in order. */
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

  /** Runs a job. Never rejects. */
  run(job: Job): Promise<JobReply> {
    const { promise, resolve } = Promise.withResolvers<JobReply>();
    if (this.#stopped) {
      resolve({ kind: 'failed', failure: 'failed', detail: 'the service is stopping' });
    } else if (this.#queue.length >= this.#options.maxWaiting) {
      resolve({ kind: 'failed', failure: 'busy', detail: 'too many conversions are waiting' });
    } else {
      this.#queue.push({ job, done: resolve });
      this.#next();
    }
    return promise;
  }

  /** Terminates the thread. The running job and all waiting jobs fail. */
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
    try {
      this.#thread().postMessage(next.job);
    } catch (error) {
      // The system starts no further thread.
      void this.#abandon(error instanceof Error ? error.message : String(error));
    }
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    worker.on('message', (reply: JobReply) => this.#finish(reply));
    worker.on('error', (error) => void this.#abandon(error.message));
    // An idle worker does not keep the process alive.
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

  /** The running job fails after its thread has ended and its part of a file is deleted. Until then no other job starts. */
  async #abandon(detail: string): Promise<void> {
    this.#cancelIdle();
    this.#cancelLimit();
    const worker = this.#worker;
    this.#worker = undefined;
    worker?.removeAllListeners();
    // Without a listener, an error before the end of the thread would end this process.
    worker?.on('error', () => undefined);
    const running = this.#running;
    await worker?.terminate();
    if (running === undefined) return;
    if (running.job.kind === 'encodeMp3') {
      await rm(partOf(running.job), { force: true }).catch(() => undefined);
    }
    if (this.#running === running) this.#finish({ kind: 'failed', failure: 'failed', detail });
  }
}
