/** The edge that deploy/kamailio ships, run by Kamailio as Debian has it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../eventually.ts';

const FOLDER = fileURLToPath(new URL('../../deploy/kamailio/', import.meta.url));
const CONFIG = join(FOLDER, 'kamailio.cfg');
/** Not all of it is in the base package. */
const MODULES = '/usr/lib/x86_64-linux-gnu/kamailio/modules';

export type Defines = Readonly<Record<string, string | number>>;

/** Modules of Debian's packages that the configuration needs and this machine lacks; undefined: there is no Kamailio. */
export function missingModules(): readonly string[] | undefined {
  if (spawnSync('kamailio', ['-v']).status !== 0) return undefined;
  return ['tls.so', 'websocket.so'].filter((name) => !existsSync(join(MODULES, name)));
}

const argsOf = (defines: Defines): readonly string[] =>
  Object.entries(defines).flatMap(([name, value]) => [
    '-A',
    value === '' ? name : `${name}=${value}`,
  ]);

/** Undefined: the configuration is in order; otherwise what Kamailio says. */
export function checkConfig(defines: Defines): string | undefined {
  const args = ['-c', '-f', CONFIG, '-E', '-M', '8', ...argsOf(defines)];
  const { status, stdout, stderr } = spawnSync('kamailio', args, { encoding: 'utf8' });
  const said = `${stdout}${stderr}`;
  return status === 0 && !/ERROR|CRITICAL|bug/i.test(said) ? undefined : said;
}

/** The shipped tls.cfg with a certificate of the test's own, in `folder`: its path, for `TLS_FILE`. */
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

  /** `nodes`: host:port of each. Its files are in `folder`; `PRIVATE_HTTP_PORT` is among the defines. */
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
    // A group of its own: its processes die together, and not by somebody's Ctrl-C.
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

  /** Flags of the nodes by their names: A active, I inactive, P probed. */
  async nodes(host: string): Promise<Readonly<Record<string, string>>> {
    const text = await this.tell(host, 'dispatcher.list');
    const flags: Record<string, string> = {};
    for (const [, one = ''] of text.matchAll(/"DEST":\s*\{([\s\S]*?)"PRIORITY"/g)) {
      const uri = /"URI":\s*"([^"]*)"/.exec(one)?.[1] ?? '';
      flags[/:(\d+)/.exec(uri.slice(4))?.[1] ?? ''] = /"FLAGS":\s*"([^"]*)"/.exec(one)?.[1] ?? '';
    }
    if (Object.keys(flags).length === 0) throw new Error(text);
    return flags;
  }

  /** A command by JSON-RPC, as a node or its operator gives it: what is answered; fails when it is refused. */
  async tell(
    host: string,
    method: string,
    params: readonly (string | number)[] = [],
  ): Promise<string> {
    const response = await fetch(`http://${host}:${this.#httpPort}/RPC`, {
      method: 'POST',
      // Kamailio closes each connection after its answer, which a next request on it may cross.
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

  /** All of its processes at once, as a machine that dies. */
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
