/** Bots that send huge messages. They run in a separate process so that they do not delay legitimate bots. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type HostileKind = 'tooLong' | 'longest' | 'neverEnding';

export interface HostileReport {
  /** Number of closed sockets by close code. */
  readonly closes: Readonly<Record<string, number>>;
  readonly messages: number;
}

const PROCESS = fileURLToPath(new URL('./hostile-bots-process.ts', import.meta.url));

export class HostileBots {
  readonly urls: Readonly<Record<HostileKind, string>>;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, urls: Readonly<Record<HostileKind, string>>) {
    this.#child = child;
    this.urls = urls;
  }

  static async open(): Promise<HostileBots> {
    const child = fork(PROCESS);
    const [urls] = await once(child, 'message');
    return new HostileBots(child, urls as Readonly<Record<HostileKind, string>>);
  }

  async close(): Promise<HostileReport> {
    this.#child.send('over');
    const [report] = await once(this.#child, 'message');
    return report as HostileReport;
  }
}
