/** Upload of contact lists over HTTP to the running service: duration in seconds and growth of its memory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isQuick, type Row } from '../row.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HOST = '127.0.0.1';
const ADMIN_TOKEN = 'bench-admin-token';
const SMALL = 100_000;
const LARGE = isQuick ? 200_000 : 1_000_000;
const CHECK_EVERY_MS = 20;
const CHUNK_ROWS = 500;
const MB = 1_000_000;
/** Clock ticks per second in /proc/<pid>/stat. */
const TICKS_PER_SECOND = 100;

type Json = Readonly<Record<string, unknown>>;

interface Measured {
  readonly seconds: number;
  /** CPU of the service's threads. */
  readonly cpuSeconds: number;
  /** Maximum growth during the upload. */
  readonly grownMb: number;
  /** Longest response time of another request during the upload. */
  readonly slowestMs: number;
}

class Bench {
  readonly #folder = mkdtempSync(join(tmpdir(), 'carillon-bench-'));
  readonly #port: number;
  readonly #child: ChildProcess;
  #headers: Record<string, string> = { authorization: `Bearer ${ADMIN_TOKEN}` };
  #account = '';

  private constructor(ports: readonly number[]) {
    const [http = 0, sip = 0] = ports;
    this.#port = http;
    this.#child = spawn(process.execPath, ['src/main.ts'], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        CARILLON_DATA_DIR: this.#folder,
        CARILLON_DEMO: 'off',
        CARILLON_LOG_LEVEL: 'error',
        CARILLON_ADMIN_TOKEN: ADMIN_TOKEN,
        CARILLON_HTTP_PORT: String(http),
        CARILLON_SIP_PORT: String(sip),
        NODE_COMPILE_CACHE: 'build/compile-cache',
      },
    });
  }

  static async start(): Promise<Bench> {
    const bench = new Bench([await freePort(), await freePort()]);
    await bench.#ready();
    const made = await bench.#json('POST', '/admin/v1/accounts', { name: 'Bench' });
    bench.#account = `/api/v1/account/${made['auth_id']}`;
    bench.#headers = {
      'x-auth-id': String(made['auth_id']),
      'x-auth-token': String(made['auth_token']),
    };
    return bench;
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async campaign(): Promise<string> {
    const agent = { name: 'Desk', answer_url: 'https://bot.example/answer' };
    const { id } = await this.#json('POST', `${this.#account}/campaign/agents`, agent);
    const made = await this.#json('POST', `${this.#account}/campaigns`, {
      name: 'Bench',
      agent_id: id,
      max_concurrent: 1,
      timezone: 'UTC',
      caller_id_strategy: 'pool',
    });
    return String(made['id']);
  }

  /** Memory and answers of the service are looked at all the while. */
  async upload(id: string, rows: number): Promise<Measured> {
    const before = this.#residentMb();
    let most = before;
    let slowestMs = 0;
    let over = false;
    const watching = (async () => {
      while (!over) {
        const requestedMs = performance.now();
        await this.#json('GET', `${this.#account}/campaigns/${id}`);
        slowestMs = Math.max(slowestMs, performance.now() - requestedMs);
        most = Math.max(most, this.#residentMb());
        await pause(CHECK_EVERY_MS);
      }
    })();
    const [startMs, startCpu] = [performance.now(), this.#cpuSeconds()];
    const reply = await this.#send(`${this.#account}/campaigns/${id}/upload`, listOf(rows));
    const seconds = (performance.now() - startMs) / 1000;
    const cpuSeconds = this.#cpuSeconds() - startCpu;
    over = true;
    await watching;
    if (reply['valid_contacts'] !== rows) throw new Error(JSON.stringify(reply));
    return { seconds, cpuSeconds, grownMb: most - before, slowestMs };
  }

  #residentMb(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / MB;
  }

  #cpuSeconds(): number {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8');
    const [, user, system] = /\) (?:\S+ ){11}(\d+) (\d+)/.exec(stat) ?? [];
    return (Number(user) + Number(system)) / TICKS_PER_SECOND;
  }

  async #send(path: string, list: Readable): Promise<Json> {
    const headers = { ...this.#headers, 'content-type': 'text/csv' };
    const requested = request({ host: HOST, port: this.#port, path, method: 'POST', headers });
    const answered = once(requested, 'response');
    await pipeline(list, requested);
    const [response] = await answered;
    let text = '';
    for await (const chunk of response as AsyncIterable<Buffer>) text += String(chunk);
    return JSON.parse(text) as Json;
  }

  async #json(method: string, path: string, body?: object): Promise<Json> {
    const reply = await fetch(`http://${HOST}:${this.#port}${path}`, {
      method,
      headers: { ...this.#headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as Json;
  }

  async #ready(): Promise<void> {
    for (;;) {
      if (this.#child.exitCode !== null) throw new Error('the service did not start');
      const requested = fetch(`http://${HOST}:${this.#port}/readyz`);
      const ready = await requested.then(({ ok }) => ok).catch(() => false);
      if (ready) return;
      await pause(CHECK_EVERY_MS);
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** American numbers with their code, a name and an order each; made as they are sent. */
function listOf(rows: number): Readable {
  const line = (row: number): string =>
    `+1${2_010_000_000 + row * 7},"Contact ${row}, of Ohio",${row}\r\n`;
  function* chunks(): Generator<string> {
    yield 'to,Name,Order\r\n';
    for (let first = 0; first < rows; first += CHUNK_ROWS) {
      const count = Math.min(CHUNK_ROWS, rows - first);
      yield Array.from({ length: count }, (_, at) => line(first + at)).join('');
    }
  }
  return Readable.from(chunks());
}

export async function uploads(): Promise<Row[]> {
  const bench = await Bench.start();
  try {
    const id = await bench.campaign();
    await bench.upload(id, SMALL / 10);
    const small = await bench.upload(id, SMALL);
    const large = await bench.upload(await bench.campaign(), LARGE);
    const thousands = `${SMALL / 1000},000`;
    const many = LARGE.toLocaleString('en');
    return [
      {
        name: `upload of ${thousands} contacts`,
        value: small.seconds,
        unit: 's',
        floor: 3,
        note: 'goal: at most 3',
      },
      { name: 'CPU of that', value: small.cpuSeconds, unit: 's' },
      { name: `upload of ${many} contacts`, value: large.seconds, unit: 's' },
      {
        name: `memory above idle, ${many} contacts`,
        value: large.grownMb,
        unit: 'MB',
        floor: 150,
        note: 'goal: at most 150',
      },
      {
        name: `slowest other request during the upload`,
        value: Math.max(small.slowestMs, large.slowestMs),
        unit: 'ms',
      },
    ];
  } finally {
    await bench.stop();
  }
}
