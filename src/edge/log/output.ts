import { writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** Maximum size of lines that wait for the destination, bytes. Further lines are lost. */
const PENDING_MAX = 1_000_000;
/** Pause after a write that a full pipe refused, ms. */
const BUSY_MS = 50;
/** Pause after a write that failed, for example because the disk is full, ms. */
const FAILED_MS = 1000;
/** Longest wait for a full pipe at the end of the process, and the pause between two writes, ms. */
const END_MS = 500;
const END_PAUSE_MS = 10;
const STANDARD_OUTPUT = 1;

export interface OutputNeeds {
  /** Writes without waiting. Returns the number of written bytes, or throws the error of the operating system. */
  readonly write: (bytes: Uint8Array) => number;
  readonly after: (ms: number, act: () => void) => void;
  /** Blocks the thread. */
  readonly pause: (ms: number) => void;
}

/**
 * Destination of the log. The service never waits for it: while the pipe or the disk is full, lines wait in memory, and lines
 * above a limit are lost. When the reader of a pipe has ended, all further lines are lost.
 */
export class LogOutput implements DestinationStream {
  readonly #needs: OutputNeeds;
  /** Lines that wait. The first one may be partly written. */
  #pending: Uint8Array[] = [];
  #size = 0;
  #lost = 0;
  #reason = '';
  #isWaiting = false;
  #isClosed = false;
  /** Called when lines were lost and the destination works again. */
  onLost: (lines: number, reason: string) => void = () => undefined;

  constructor(needs: OutputNeeds) {
    this.#needs = needs;
  }

  write(line: string): void {
    if (this.#isClosed) return;
    const bytes = Buffer.from(line);
    if (this.#size + bytes.length > PENDING_MAX) {
      this.#lost += 1;
      return;
    }
    this.#pending.push(bytes);
    this.#size += bytes.length;
    if (!this.#isWaiting) this.#flush();
  }

  /** Writes the lines that wait, because the process ends. Waits a short time for a full pipe. */
  end(): void {
    for (let waitedMs = 0; waitedMs <= END_MS; waitedMs += END_PAUSE_MS) {
      const code = this.#written();
      if (code !== 'EAGAIN') return;
      this.#needs.pause(END_PAUSE_MS);
    }
  }

  #flush(): void {
    const code = this.#written();
    if (code !== undefined) {
      this.#isWaiting = true;
      this.#needs.after(code === 'EAGAIN' ? BUSY_MS : FAILED_MS, () => {
        this.#isWaiting = false;
        this.#flush();
      });
    } else if (this.#lost > 0) {
      const lost = this.#lost;
      this.#lost = 0;
      this.onLost(lost, this.#reason);
    }
  }

  /** Writes the lines that wait. Returns the code of an error after which they wait again. */
  #written(): string | undefined {
    for (;;) {
      const [first] = this.#pending;
      if (first === undefined || this.#isClosed) return undefined;
      try {
        const count = this.#needs.write(first);
        this.#size -= count;
        if (count < first.length) this.#pending[0] = first.subarray(count);
        else this.#pending.shift();
      } catch (error) {
        const { code = String(error) } = error as { readonly code?: string };
        this.#reason = code;
        if (code !== 'EPIPE') return code;
        this.#isClosed = true;
        this.#pending = [];
      }
    }
  }
}

/** Returns the standard output of this process as destination of the log. */
export function standardOutput(): LogOutput {
  // The first use of the stream makes a pipe non-blocking, so that `writeSync` never waits for its reader.
  void process.stdout;
  const output = new LogOutput({
    write: (bytes) => writeSync(STANDARD_OUTPUT, bytes),
    after: (ms, act) => void setTimeout(act, ms).unref(),
    pause: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
  });
  process.once('exit', () => output.end());
  return output;
}
