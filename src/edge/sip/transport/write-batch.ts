import type { Socket } from 'node:net';

/** Combines the writes to a socket in one turn of the event loop into one system call, and over TLS into one record. */
export class WriteBatch {
  readonly #socket: Socket;
  readonly #release = (): void => this.release();
  #corked = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Call before each write. */
  hold(): void {
    if (this.#corked) return;
    this.#corked = true;
    this.#socket.cork();
    setImmediate(this.#release);
  }

  release(): void {
    if (!this.#corked) return;
    this.#corked = false;
    this.#socket.uncork();
  }
}
