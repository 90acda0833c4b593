/** The callers: a native program in a separate process, with arrival times from the kernel (bench/stream/phones). */
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SOURCES = fileURLToPath(new URL('./phones', import.meta.url));
const BUILD = fileURLToPath(new URL('../../build/phones', import.meta.url));
const execute = promisify(execFile);

/** Delay of each packet relative to the earliest packet of its call, by RTP timestamp, ms. */
export interface WireLateness {
  readonly packets: number;
  readonly lost: number;
  /** Phones that heard nothing at all. */
  readonly silent: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

/** Frames of a watched phone in the window. Times are milliseconds of the monotonic clock. */
export interface WatchedPhone {
  /** Number of the first frame of `sent`; frame n carries the code `1 + n % 63`. */
  readonly firstSent: number;
  readonly sent: readonly number[];
  /** Arrivals of packets with audio of the bot. */
  readonly loud: readonly number[];
}

export class Phones {
  /** Ports in the order of the phones. */
  readonly ports: readonly number[];
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  private constructor(
    child: ChildProcessByStdio<Writable, Readable, null>,
    lines: AsyncIterator<string>,
    ports: readonly number[],
  ) {
    this.#child = child;
    this.#lines = lines;
    this.ports = ports;
  }

  /** `watched` of them, the first, number their frames and note what they hear. */
  static async start(count: number, watched: number): Promise<Phones> {
    await execute('cmake', ['-S', SOURCES, '-B', BUILD]);
    await execute('cmake', ['--build', BUILD]);
    const child = spawn(join(BUILD, 'phones'), [String(count), String(watched)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { ports } = await nextAnswer<{ readonly ports: readonly number[] }>(lines);
    return new Phones(child, lines, ports);
  }

  async talk(ports: readonly number[]): Promise<void> {
    await this.#ask(`talk ${ports.join(' ')}`);
  }

  /** Starts a new measurement window. */
  async beginWindow(): Promise<void> {
    await this.#ask('window');
  }

  lateness(): Promise<WireLateness> {
    return this.#ask('lateness');
  }

  async watched(): Promise<readonly WatchedPhone[]> {
    return (await this.#ask<{ readonly phones: readonly WatchedPhone[] }>('watched')).phones;
  }

  /** Response time of each OPTIONS request, in ms. Requests without a response are missing. */
  async askSip(port: number, times: number, intervalMs: number): Promise<readonly number[]> {
    const answer = await this.#ask<{ readonly answered: readonly number[] }>(
      `sip ${port} ${times} ${Math.round(intervalMs * 1000)}`,
    );
    return answer.answered;
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.stdin.end();
    });
  }

  #ask<T>(command: string): Promise<T> {
    this.#child.stdin.write(`${command}\n`);
    return nextAnswer<T>(this.#lines);
  }
}

async function nextAnswer<T>(lines: AsyncIterator<string>): Promise<T> {
  const { value, done } = await lines.next();
  if (done === true) throw new Error('the phones have ended');
  return JSON.parse(value) as T;
}
