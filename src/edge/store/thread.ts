import { Worker } from 'node:worker_threads';
import { ServiceError } from '../../base/errors.ts';
import type { Runner } from './executor.ts';
import { type Failure, toError } from './failure.ts';
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
  /** Whether others have changed something since the last time. */
  | { readonly kind: 'heard' }
  | { readonly kind: 'close' };

/** One for each request, in order; the first message of a thread answers its start. */
export type Reply =
  | { readonly kind: 'ready'; readonly uncleanStart: boolean }
  | { readonly kind: 'outcomes'; readonly outcomes: readonly Outcome[] }
  | { readonly kind: 'copied'; readonly logPages: number }
  | { readonly kind: 'heard'; readonly changed: boolean }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | Told;

/** No answer: what is known from earlier reads does not count. `hears`: from now on it is told so when others change something. */
export interface Told {
  readonly kind: 'told';
  readonly hears: boolean;
}

/** Room for new objects: with V8's default a thread that waits most of the time keeps 8 MB of it. */
const YOUNG_MB = 6;

/** An engine on a thread of its own, one request at a time. */
export class StoreThread implements Runner {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  #pending: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | undefined;
  #death: Error | undefined;
  #onTold: (told: Told) => void = () => undefined;
  uncleanStart = false;

  /** Resolves once the database is open and up to date. */
  static start(options: ThreadOptions): Promise<StoreThread> {
    return StoreThread.startAt(new URL('./worker.ts', import.meta.url), options);
  }

  /** `entry`: a file that serves requests of these kinds. */
  static async startAt(entry: URL, options: unknown): Promise<StoreThread> {
    const thread = new StoreThread(entry, options);
    const ready = await thread.#reply();
    if (ready.kind === 'failed') throw toError(ready.failure);
    thread.uncleanStart = ready.kind === 'ready' && ready.uncleanStart;
    return thread;
  }

  private constructor(entry: URL, options: unknown) {
    this.#worker = new Worker(entry, {
      workerData: options,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#worker.on('message', (reply: Reply) => {
      if (reply.kind === 'told') {
        this.#onTold(reply);
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

  /** Of PostgreSQL alone; to be called before anything is asked of it. */
  onTold(listener: (told: Told) => void): void {
    this.#onTold = listener;
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

  /** Returns the pages of the log. */
  async checkpoint(): Promise<number> {
    const reply = await this.#ask({ kind: 'checkpoint' });
    return reply.kind === 'copied' ? reply.logPages : 0;
  }

  /** Of PostgreSQL alone. */
  async heard(): Promise<boolean> {
    const reply = await this.#ask({ kind: 'heard' });
    return reply.kind === 'heard' && reply.changed;
  }

  async close(): Promise<void> {
    await this.#ask({ kind: 'close' });
    // It ends by itself: a thread that is terminated may still be inside of SQLite's own clean-up.
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
