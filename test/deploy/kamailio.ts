/** Runs the edge of deploy/kamailio with Debian's Kamailio. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../eventually.ts';

const FOLDER = fileURLToPath(new URL('../../deploy/kamailio/', import.meta.url));
const CONFIG = join(FOLDER, 'kamailio.cfg');
/** Folder of the modules, some of which are in separate packages. */
const MODULES = '/usr/lib/x86_64-linux-gnu/kamailio/modules';

export type Defines = Readonly<Record<string, string | number>>;

/** Returns required modules that this machine lacks, or undefined if Kamailio is not installed. */
export function missingModules(): readonly string[] | undefined {
  if (spawnSync('kamailio', ['-v']).status !== 0) return undefined;
  return ['tls.so', 'websocket.so'].filter((name) => !existsSync(join(MODULES, name)));
}

const argsOf = (defines: Defines): readonly string[] =>
  Object.entries(defines).flatMap(([name, value]) => [
    '-A',
    value === '' ? name : `${name}=${value}`,
  ]);

/** Returns undefined for a valid configuration, otherwise Kamailio's error output. */
export function checkConfig(defines: Defines): string | undefined {
  const args = ['-c', '-f', CONFIG, '-E', '-M', '8', ...argsOf(defines)];
  const { status, stdout, stderr } = spawnSync('kamailio', args, { encoding: 'utf8' });
  const said = `${stdout}${stderr}`;
  return status === 0 && !/ERROR|CRITICAL|bug/i.test(said) ? undefined : said;
}

/** Writes the bundled tls.cfg with a test certificate to `folder`, and returns its path for `TLS_FILE`. */
export function tlsFile(
  folder: string,
  { certFile, keyFile }: { readonly certFile: string; readonly keyFile: string },
): string {
  const path = join(folder, 'tls.cfg');
  const shipped = readFileSync(join(FOLDER, 'tls.cfg'), 'utf8');
  writeFileSync(
    path,
    shipped
      .replace('/etc/kamailio/edge.crt', () => certFile)
      .replace('/etc/kamailio/edge.key', () => keyFile),
  );
  return path;
}

export class Edge {
  readonly #child: ChildProcess;
  readonly #httpPort: number;
  #said = '';

  private constructor(child: ChildProcess, httpPort: number) {
    this.#child = child;
    this.#httpPort = httpPort;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#said = (this.#said + text).slice(-20_000);
      });
    }
  }

  /**
   * Starts the edge. `nodes` lists host:port of each node. Files are in `folder`; `defines` must contain
   * `PRIVATE_HTTP_PORT`.
   */
  static async start(folder: string, nodes: readonly string[], defines: Defines): Promise<Edge> {
    const run = join(folder, 'run');
    mkdirSync(run, { recursive: true });
    const list = join(folder, 'dispatcher.list');
    writeFileSync(
      list,
      nodes.map((at, i) => `1 sip:${at};transport=udp 0 0 duid=n${i}\n`).join(''),
    );
    const args = argsOf({ WORKERS: 2, TCP_WORKERS: 2, NODES_FILE: list, RUN_DIR: run, ...defines });
    const options = ['-f', CONFIG, '-DD', '-E', '-M', '8', '-Y', run, '-w', run, ...args];
    // A separate process group, so that all processes end together and ignore the terminal's Ctrl-C.
    const child = spawn('kamailio', options, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const edge = new Edge(child, Number(defines['PRIVATE_HTTP_PORT']));
    await eventually('the edge', async () => {
      if (child.exitCode !== null) throw new Error(edge.#said);
      return (await edge.nodes(String(defines['PRIVATE_ADDRESS'])).catch(() => undefined)) && true;
    });
    return edge;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get said(): string {
    return this.#said;
  }

  /** Dispatcher flags of the nodes by name: A active, I inactive, P probed. */
  async nodes(host: string): Promise<Readonly<Record<string, string>>> {
    const text = await this.notify(host, 'dispatcher.list');
    const flags: Record<string, string> = {};
    for (const [, one = ''] of text.matchAll(/"DEST":\s*\{([\s\S]*?)"PRIORITY"/g)) {
      const uri = /"URI":\s*"([^"]*)"/.exec(one)?.[1] ?? '';
      flags[/:(\d+)/.exec(uri.slice(4))?.[1] ?? ''] = /"FLAGS":\s*"([^"]*)"/.exec(one)?.[1] ?? '';
    }
    if (Object.keys(flags).length === 0) throw new Error(text);
    return flags;
  }

  /** Sends a JSON-RPC command as a node or operator does. Returns the result; throws if the command is refused. */
  async notify(
    host: string,
    method: string,
    params: readonly (string | number)[] = [],
  ): Promise<string> {
    const response = await fetch(`http://${host}:${this.#httpPort}/RPC`, {
      method: 'POST',
      // Kamailio closes each connection after its response, so a reused connection could fail.
      headers: { connection: 'close' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const text = await response.text();
    if (!response.ok || /"error":/.test(text)) throw new Error(`${method}: ${text}`);
    return text;
  }

  async stop(): Promise<void> {
    await this.#end(() => this.#child.kill('SIGTERM'));
  }

  /** Kills all its processes, as in a machine failure. */
  async kill(): Promise<void> {
    await this.#end(() => process.kill(-this.pid, 'SIGKILL'));
  }

  async #end(act: () => void): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return;
    const gone = once(this.#child, 'close');
    act();
    await gone;
  }
}
