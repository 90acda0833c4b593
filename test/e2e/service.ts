/** The service as its operator runs it: a separate process on free ports of 127.0.0.1, with a temporary data folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DemoFile } from '../../src/phone/options.ts';
import { eventually } from '../eventually.ts';
import { forgetProcess, includeProcess } from '../pauses.ts';

export { eventually };

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const START_LIMIT_MS = 100_000;
const STOP_LIMIT_MS = 20_000;
/**
 * First RTP port. Each test process has its own range, and each service a part of it. All are below the ephemeral ports of
 * Linux (32768 to 60999), because the service refuses a phone at a port of the service, also on another loopback address.
 */
const WORKER = Number(process.env['VITEST_POOL_ID'] ?? 1) % 8;
const RTP_BASE = 20_000 + WORKER * 1500;
const RTP_SLICE = 250;
const RTP_SLICES = 6;
/** Ports of each test process for SIP and HTTP, below all RTP ports. */
const PORTS = 1200;
const PORT_BASE = 10_000 + WORKER * PORTS;

/** Environment variables of every program; includes the compile cache that `npm start` uses. */
const RETAINED = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  NODE_COMPILE_CACHE: join(ROOT, 'build', 'compile-cache'),
};

export type Json = Readonly<Record<string, unknown>>;
export type Environment = Readonly<Record<string, string>>;

/** Runs a program of the project and keeps all its output. */
export class Program {
  readonly child: ChildProcess;
  readonly exited: Promise<number | NodeJS.Signals>;
  stdout = '';
  stderr = '';

  /** Starts `script`, a path in the project's folder or an absolute path. */
  constructor(
    script: string,
    args: readonly string[],
    environment: Environment,
    { node = process.execPath, ...by }: { readonly node?: string; readonly uid?: number } = {},
  ) {
    this.child = spawn(node, [resolve(ROOT, script), ...args], {
      ...by,
      cwd: ROOT,
      env: { ...RETAINED, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    const id = this.child.pid ?? 0;
    includeProcess(id);
    this.exited = once(this.child, 'close').then(([code, signal]) => {
      forgetProcess(id);
      return code ?? signal;
    });
  }

  get output(): string {
    return this.stdout + this.stderr;
  }
}

export class Service {
  readonly dataDir: string;
  readonly environment: Environment;
  readonly sipPort: number;
  readonly rtpPortMin: number;
  readonly rtpPortMax: number;
  readonly baseUrl: string;
  readonly program: Program;
  readonly startedInMs: number;

  private constructor(place: ServicePlace, program: Program, startedInMs: number) {
    this.dataDir = place.dataDir;
    this.environment = place.environment;
    this.sipPort = Number(place.environment['CARILLON_SIP_PORT']);
    this.rtpPortMin = Number(place.environment['CARILLON_RTP_PORT_MIN']);
    this.rtpPortMax = Number(place.environment['CARILLON_RTP_PORT_MAX']);
    this.baseUrl = `http://127.0.0.1:${place.environment['CARILLON_HTTP_PORT']}`;
    this.program = program;
    this.startedInMs = startedInMs;
  }

  /**
   * Starts the service. Resolves when it is ready to take calls. `root` is the folder of a checkout, `node` the program
   * that runs the script.
   */
  static async start(place: ServicePlace, root = ROOT, node = process.execPath): Promise<Service> {
    const startMs = performance.now();
    const program = new Program(join(root, 'src/main.ts'), [], place.environment, { node });
    let over = false;
    void program.exited.then(() => {
      over = true;
    });
    const isUp = (): boolean => program.stdout.includes('carillon is up');
    const look = (): true | undefined => over || isUp() || undefined;
    await eventually('the start', look, START_LIMIT_MS).catch(() => undefined);
    if (!isUp()) {
      program.child.kill('SIGKILL');
      throw new Error(`the service did not start:\n${program.output}`);
    }
    return new Service(place, program, performance.now() - startMs);
  }

  /** Waits for the banner, the last text that a start prints, and returns all output so far. */
  async banner(): Promise<string> {
    const { program } = this;
    return eventually('the banner', () =>
      /\n {2}Stop /.test(program.stdout) ? program.stdout : undefined,
    );
  }

  /** The demo account and credentials that the first start created. */
  get demo(): DemoFile & { readonly appId: number } {
    return JSON.parse(readFileSync(join(this.dataDir, 'demo.json'), 'utf8'));
  }

  get adminToken(): string {
    return readFileSync(join(this.dataDir, 'keys', 'admin.token'), 'utf8').trim();
  }

  /** Sends SIGTERM and returns the exit status. */
  async stop(): Promise<number | NodeJS.Signals> {
    this.program.child.kill('SIGTERM');
    const late = setTimeout(() => this.program.child.kill('SIGKILL'), STOP_LIMIT_MS);
    const status = await this.program.exited;
    clearTimeout(late);
    return status;
  }

  async kill(): Promise<void> {
    this.program.child.kill('SIGKILL');
    await this.program.exited;
  }

  admin(method: string, path: string, body?: Json): Promise<Answer> {
    return this.#request(method, `/admin/v1${path}`, body, {
      authorization: `Bearer ${this.adminToken}`,
    });
  }

  /** Sends a request below `/api/v1/Account/{auth_id}/`, by default as the first account. */
  api(method: string, path: string, body?: Json, as: AccountKey = this.demo): Promise<Answer> {
    return this.#request(method, `/api/v1/Account/${as.authId}/${path}`, body, {
      'x-auth-id': as.authId,
      'x-auth-token': as.authToken,
    });
  }

  async get(path: string): Promise<Answer> {
    return this.#request('GET', path, undefined, {});
  }

  /** Waits for the record of a SIP call. The failure message names the missing item. */
  async cdrOf(sipCallId: string, as: AccountKey = this.demo): Promise<Json> {
    return eventually(`the CDR of ${sipCallId}`, async () => {
      const { body } = await this.api(
        'GET',
        `cdr?sip_call_id=${encodeURIComponent(sipCallId)}`,
        undefined,
        as,
      );
      const { uuid } = (body['data'] as Json[])[0] ?? {};
      if (uuid === undefined) return undefined;
      // A single record has more fields than its entry in the list.
      const one = await this.api('GET', `cdr/${uuid}`, undefined, as);
      return (one.body['data'] ?? one.body) as Json;
    });
  }

  async balance(as: AccountKey = this.demo): Promise<Json> {
    const { body } = await this.admin('GET', `/accounts/${as.authId}`);
    return (body['balances'] as Json[])[0] ?? {};
  }

  async #request(method: string, path: string, body: Json | undefined, headers: Environment) {
    const response = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, body: jsonOf(text) };
  }
}

export interface AccountKey {
  readonly authId: string;
  readonly authToken: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Json;
}

export interface ServicePlace {
  readonly dataDir: string;
  readonly environment: Environment;
}

/** Reserves a data folder and ports for one service. The same place can be started again. */
export async function newPlace(more: Environment = {}): Promise<ServicePlace> {
  const dataDir = join(mkdtempSync(join(tmpdir(), 'carillon-e2e-')), 'data');
  const rtp = RTP_BASE + (placesMade++ % RTP_SLICES) * RTP_SLICE;
  return {
    dataDir,
    environment: {
      CARILLON_DATA_DIR: dataDir,
      CARILLON_HTTP_PORT: String(await freePort()),
      CARILLON_SIP_PORT: String(await freePort()),
      CARILLON_SIP_TLS_PORT: '0',
      CARILLON_SIP_WS_PORT: '0',
      CARILLON_SIP_WSS_PORT: '0',
      CARILLON_RTP_PORT_MIN: String(rtp),
      CARILLON_RTP_PORT_MAX: String(rtp + RTP_SLICE - 1),
      // The tests compete for the CPU. A high limit prevents overload refusals, which would fail unrelated tests.
      CARILLON_OVERLOAD_LOOP_DELAY_MS: '10000',
      ...more,
    },
  };
}
let placesMade = 0;

export function removePlace({ dataDir }: ServicePlace): void {
  rmSync(join(dataDir, '..'), { recursive: true, force: true });
}

/** Returns a port that is free for TCP and UDP. Sockets without a fixed port never get it, because it is not ephemeral. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORT_BASE + (portsTried++ % PORTS);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    const socket = createSocket('udp4');
    const bound = await new Promise<boolean>((resolve) => {
      socket.once('error', () => resolve(false));
      socket.bind(port, '127.0.0.1', () => resolve(true));
    });
    socket.close();
    server.close();
    await once(server, 'close');
    if (bound) return port;
  }
}
/** Differs between processes, because several test runs on one machine have equal ranges. */
let portsTried = process.pid % PORTS;

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {};
  }
}
