/** The original drachtio-server, on free ports of 127.0.0.1. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, freePort } from '../e2e/service.ts';

export class RealServer {
  readonly sipPort: number;
  readonly controlPort: number;
  readonly #folder: string;
  readonly #child: ChildProcess;
  #said = '';

  private constructor(sipPort: number, controlPort: number) {
    this.sipPort = sipPort;
    this.controlPort = controlPort;
    this.#folder = mkdtempSync(join(tmpdir(), 'carillon-drachtio-'));
    const file = join(this.#folder, 'drachtio.xml');
    writeFileSync(file, settings(sipPort, controlPort));
    this.#child = spawn('drachtio', ['-f', file], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#said = (this.#said + text).slice(-20_000);
      });
    }
  }

  static async open(sipPort?: number, controlPort?: number): Promise<RealServer> {
    const server = new RealServer(sipPort ?? (await freePort()), controlPort ?? (await freePort()));
    await eventually(
      'drachtio-server',
      () => server.#said.includes('Starting sofia event loop') || undefined,
    );
    return server;
  }

  async close(): Promise<void> {
    const gone = this.#child.exitCode === null ? once(this.#child, 'close') : undefined;
    this.#child.kill('SIGKILL');
    await gone;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const settings = (sipPort: number, controlPort: number): string => `<drachtio>
  <admin port="${controlPort}" secret="cymru">127.0.0.1</admin>
  <sip><contacts><contact>sip:127.0.0.1:${sipPort};transport=udp,tcp</contact></contacts></sip>
  <cdrs>false</cdrs>
  <logging><console/><sofia-loglevel>1</sofia-loglevel><loglevel>info</loglevel></logging>
</drachtio>
`;
