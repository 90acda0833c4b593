import { Executor, type ExecutorListeners } from './executor.ts';
import { atOnce } from './pace.ts';
import { StoreThread, type ThreadOptions } from './thread.ts';

/** The thread that reads a database file. A rewritten file gets a new thread. */
export class DiskReader {
  readonly executor: Executor;
  readonly #options: ThreadOptions;
  #thread: StoreThread;

  private constructor(options: ThreadOptions, thread: StoreThread, listeners: ExecutorListeners) {
    this.#options = options;
    this.#thread = thread;
    this.executor = new Executor(thread, atOnce, listeners);
  }

  static async start(writer: ThreadOptions, listeners: ExecutorListeners): Promise<DiskReader> {
    const options: ThreadOptions = { ...writer, role: 'reader' };
    return new DiskReader(options, await StoreThread.start(options), listeners);
  }

  /** Copies the log to the database file. */
  checkpoint(): ReturnType<StoreThread['checkpoint']> {
    return this.#thread.checkpoint();
  }

  /** Empties the log, unless another connection reads. */
  emptyLog(): Promise<void> {
    return this.#thread.emptyLog();
  }

  /** Ends the thread, waits for `rewrite`, and starts a new thread. Reads wait for it. */
  async replace(rewrite: () => Promise<unknown>): Promise<void> {
    await this.executor.pause(async () => {
      await this.#thread.close().catch(() => undefined); // it may have ended in an earlier attempt
      await rewrite();
      this.#thread = await StoreThread.start(this.#options);
      return this.#thread;
    });
  }
}
