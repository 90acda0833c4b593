/** The ends of calls, and the bare relay: native programs (bench/media/load) that cost little. */
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Packet } from '../speech-quality/networks.ts';

const SOURCES = fileURLToPath(new URL('./load', import.meta.url));
const BUILD = fileURLToPath(new URL('../../build/media-load', import.meta.url));
const execute = promisify(execFile);

/** Before what else is measured: a compiler is noise. */
export async function buildLoad(): Promise<void> {
  await execute('cmake', ['-S', SOURCES, '-B', BUILD]);
  await execute('cmake', ['--build', BUILD]);
}

/** Writes packets in the format that `talkers` reads. */
export function writePackets(file: string, packets: readonly Packet[]): void {
  const parts = packets.flatMap(({ bytes }) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    return [length, bytes];
  });
  writeFileSync(file, Buffer.concat(parts));
}

/** Destination address and payload type of one end. */
export interface Peer {
  readonly port: number;
  readonly payloadType: number;
}

export interface Received {
  readonly sent: number;
  readonly received: number;
  /** Ends that heard nothing at all. */
  readonly silent: number;
}

class Program {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  constructor(name: string, args: readonly string[], prefix: readonly string[] = []) {
    const [file = '', ...rest] = [...prefix, join(BUILD, name), ...args];
    this.#child = spawn(file, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async answer<T>(command?: string): Promise<T> {
    if (command !== undefined) this.#child.stdin.write(`${command}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('a program of the media load has ended');
    return JSON.parse(value) as T;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

export class Talkers {
  /** Caller, callee, caller, … */
  readonly ports: readonly number[];
  readonly #program: Program;

  private constructor(program: Program, ports: readonly number[]) {
    this.#program = program;
    this.ports = ports;
  }

  /** The files: what callers and callees say. */
  static async start(calls: number, callers: string, callees: string): Promise<Talkers> {
    const program = new Program('talkers', [String(calls), callers, callees]);
    return new Talkers(program, await program.answer<readonly number[]>());
  }

  /** Starts sending. `peers` has the order of `ports`. */
  async talk(peers: readonly Peer[]): Promise<void> {
    const words = peers.map(({ port, payloadType }) => `${port} ${payloadType}`);
    await this.#program.answer(`talk ${words.join(' ')}`);
  }

  async beginWindow(): Promise<void> {
    await this.#program.answer('window');
  }

  received(): Promise<Received> {
    return this.#program.answer('heard');
  }

  stop(): Promise<void> {
    return this.#program.stop();
  }
}

export class BareRelay {
  /** Two for each call. */
  readonly ports: readonly number[];
  readonly #program: Program;

  private constructor(program: Program, ports: readonly number[]) {
    this.#program = program;
    this.ports = ports;
  }

  static async start(calls: number, core: number): Promise<BareRelay> {
    const program = new Program('bare_relay', [String(calls)], ['taskset', '-c', String(core)]);
    return new BareRelay(program, await program.answer<readonly number[]>());
  }

  get pid(): number {
    return this.#program.pid;
  }

  stop(): Promise<void> {
    return this.#program.stop();
  }
}
