import type { Socket } from 'node:net';

/** What is written to a socket in one turn of the event loop leaves together: one system call, and over TLS one record. */
export class WriteBatch {
  readonly #socket: Socket;
  readonly #release = (): void => this.release();
  #corked = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Before something is written. */
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
