import { Worker } from 'node:worker_threads';
import { ServiceError } from '../../base/errors.ts';
import type { Runner } from './executor.ts';
import { type Failure, toError } from './failure.ts';
import type { LostCommits } from './log-examination.ts';
import type { Synchronous } from './sqlite.ts';
import type { Outcome, Unit } from './unit.ts';

export interface ThreadOptions {
  readonly file: string;
  readonly role: 'writer' | 'reader';
  readonly synchronous: Synchronous;
  readonly checkpoints: 'here' | 'elsewhere';
  readonly key: Uint8Array;
}

export type Request =
  | { readonly kind: 'run'; readonly units: readonly Unit[] }
  | { readonly kind: 'backup'; readonly path: string }
  | { readonly kind: 'renew' }
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'empty-log' }
  /** Asks whether other nodes have changed data since the last request of this kind. */
  | { readonly kind: 'heard' }
  | { readonly kind: 'close' };

/** Replies to requests, in order. The first message of a thread answers its start. */
export type Reply =
  | {
      readonly kind: 'ready';
      readonly uncleanStart: boolean;
      readonly lostCommits: LostCommits | undefined;
    }
  | { readonly kind: 'outcomes'; readonly outcomes: readonly Outcome[] }
  | { readonly kind: 'copied'; readonly logPages: number }
  | { readonly kind: 'heard'; readonly changed: boolean }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | Reported;

/** Unsolicited message: earlier reads may be outdated. `hears`: whether future changes will be announced. */
export interface Reported {
  readonly kind: 'told';
  readonly hears: boolean;
}

/** Young-generation heap of a store thread, MB. V8's default keeps 8 MB in a thread that mostly waits. */
const YOUNG_MB = 6;

/** Runs an engine on a separate thread, one request at a time. */
export class StoreThread implements Runner {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  #pending: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | undefined;
  #death: Error | undefined;
  #onReported: (reported: Reported) => void = () => undefined;
  uncleanStart = false;
  lostCommits: LostCommits | undefined;

  /** Resolves when the database is open and migrated. */
  static start(options: ThreadOptions): Promise<StoreThread> {
    return StoreThread.startAt(new URL('./worker.ts', import.meta.url), options);
  }

  /** Starts a thread. `entry`: file that handles the requests. */
  static async startAt(entry: URL, options: unknown): Promise<StoreThread> {
    const thread = new StoreThread(entry, options);
    const ready = await thread.#reply();
    if (ready.kind === 'failed') throw toError(ready.failure);
    if (ready.kind === 'ready') {
      thread.uncleanStart = ready.uncleanStart;
      thread.lostCommits = ready.lostCommits;
    }
    return thread;
  }

  private constructor(entry: URL, options: unknown) {
    this.#worker = new Worker(entry, {
      workerData: options,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#worker.on('message', (reply: Reply) => {
      if (reply.kind === 'told') {
        this.#onReported(reply);
        return;
      }
      const pending = this.#pending;
      this.#pending = undefined;
      pending?.resolve(reply);
    });
    this.#worker.on('error', (error) => this.#died(error));
    this.#ended = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#died(new ServiceError('STORE_CLOSED', 'the store thread has ended'));
        resolve();
      });
    });
  }

  /** Registers the listener for unsolicited messages of a PostgreSQL thread. Call it before the first request. */
  onReported(listener: (reported: Reported) => void): void {
    this.#onReported = listener;
  }

  async run(units: readonly Unit[]): Promise<readonly Outcome[]> {
    const reply = await this.#ask({ kind: 'run', units });
    return reply.kind === 'outcomes' ? reply.outcomes : [];
  }

  async backup(path: string): Promise<void> {
    await this.#ask({ kind: 'backup', path });
  }

  async renew(): Promise<void> {
    await this.#ask({ kind: 'renew' });
  }

  /** Copies the write-ahead log into the database. Returns the length of the log in pages. */
  async checkpoint(): Promise<number> {
    const reply = await this.#ask({ kind: 'checkpoint' });
    return reply.kind === 'copied' ? reply.logPages : 0;
  }

  /** Empties the write-ahead log, unless another connection reads. */
  async emptyLog(): Promise<void> {
    await this.#ask({ kind: 'empty-log' });
  }

  /** Returns whether other nodes have changed data. PostgreSQL only. */
  async received(): Promise<boolean> {
    const reply = await this.#ask({ kind: 'heard' });
    return reply.kind === 'heard' && reply.changed;
  }

  async close(): Promise<void> {
    await this.#ask({ kind: 'close' });
    // Waits for the thread to end instead of terminating it, which could interrupt SQLite's cleanup.
    await this.#ended;
  }

  async #ask(request: Request): Promise<Reply> {
    if (this.#death !== undefined) throw this.#death;
    const answered = this.#reply();
    this.#worker.postMessage(request);
    const reply = await answered;
    if (reply.kind === 'failed') throw toError(reply.failure);
    return reply;
  }

  #reply(): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
    });
  }

  #died(error: Error): void {
    this.#death ??= error;
    this.#pending?.reject(error);
    this.#pending = undefined;
  }
}
