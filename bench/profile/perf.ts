/** Samples of the kernel profiler for all threads, including threads without JavaScript. Needs `perf` (Debian: linux-perf). */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

const FREQUENCY = '997';
/** Shares below this percentage are not told. */
const LEAST = '0.5';

export class Perf {
  readonly #child: ChildProcess;
  readonly #file: string;

  private constructor(child: ChildProcess, file: string) {
    this.#child = child;
    this.#file = file;
  }

  /** Undefined where it is not installed or not allowed. */
  static start(pid: number, file: string): Perf | undefined {
    if (spawnSync('perf', ['record', '-e', 'cpu-clock', '-o', file, 'true']).status !== 0)
      return undefined;
    const event = ['-e', 'cpu-clock', '-F', FREQUENCY];
    const args = ['record', ...event, '-o', file, '-p', String(pid)];
    return new Perf(spawn('perf', args, { stdio: 'ignore' }), file);
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGINT');
    await once(this.#child, 'exit');
  }

  /** Shares of all CPU: `thread,library`, or `thread,library,symbol`. */
  report(sort: string, lines: number): readonly string[] {
    const args = ['report', '-i', this.#file, '--stdio', '--no-children', '--sort', sort];
    const { stdout } = spawnSync('perf', [...args, '--percent-limit', LEAST], { encoding: 'utf8' });
    return stdout
      .split('\n')
      .filter((line) => line.trim() !== '' && !line.startsWith('#'))
      .map((line) => line.replace(/[\s-]+$/, '').replaceAll(/ {3,}/g, '   '))
      .slice(0, lines);
  }
}
