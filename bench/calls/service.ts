/** The service under measurement: one core, an account without limits, a number for each kind of call. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Pool } from 'undici';
import { addOldCalls } from './old-calls.ts';
import type { CallKind } from './options.ts';
import type { Login } from './register-phones.ts';
import { CALLEE_PORT, HOST } from './sipp.ts';

const CORE = 0;
/** Requests. */
const AT_ONCE = 32;
const HTTP_PORT = 18_080;
export const SIP_PORT = 15_060;
const ADMIN_TOKEN = 'bench-admin-token';
export const CALLER_ID = '14155550100';
/** Number of the carrier at the callee's end. */
export const CALLEE_NUMBER = '14155602000';
/** Destination of the calls and their results. */
export const ANSWERED_BY_XML = '14155550003';
export const GOES_TO_TRUNK = '14155550013';
const NO_LIMIT = { concurrent_calls_limit: 1_000_000, cps_limit: 1_000_000 };

/** Environment variables of the service. */
export const SETTINGS = {
  CARILLON_DEMO: 'off',
  CARILLON_LOG_LEVEL: 'error',
  CARILLON_ADMIN_TOKEN: ADMIN_TOKEN,
  CARILLON_HTTP_PORT: String(HTTP_PORT),
  CARILLON_SIP_PORT: String(SIP_PORT),
  CARILLON_RTP_PORT_MIN: '16000',
  CARILLON_RTP_PORT_MAX: '59999',
  CARILLON_CALLS_MAX_CONCURRENT: '100000',
  CARILLON_ACCOUNTS_CONCURRENT_CALLS_LIMIT: '1000000',
  CARILLON_ACCOUNTS_CPS_LIMIT: '1000000',
  CARILLON_SIP_UNKNOWN_PEERS_PER_SECOND: '1000000',
  CARILLON_WEBHOOKS_CONNECTIONS_PER_HOST: '256',
  CARILLON_CALLS_DRAIN_MS: '500',
  NODE_COMPILE_CACHE: 'build/compile-cache',
};

export interface ServiceOptions {
  /** Folder of its sources. Another checkout is measured in the same way. */
  readonly root: string;
  readonly folder: string;
  readonly customerUrl: string;
  readonly kind: CallKind;
  readonly nodeOptions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

type Fields = Readonly<Record<string, string>>;

export class Service {
  readonly #child: ChildProcess;
  readonly #pool = new Pool(`http://${HOST}:${HTTP_PORT}`, { connections: AT_ONCE });
  readonly #data: string;
  #account: { readonly id: string; readonly headers: Fields } = { id: '', headers: {} };

  private constructor(child: ChildProcess, data: string) {
    this.#child = child;
    this.#data = data;
  }

  static async start(options: ServiceOptions): Promise<Service> {
    const data = mkdtempSync(join(options.folder, 'data-'));
    const node = [process.execPath, ...(options.nodeOptions ?? []), 'src/main.ts'];
    const child = spawn('taskset', ['-c', String(CORE), ...node], {
      cwd: options.root,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...SETTINGS, ...options.env, CARILLON_DATA_DIR: data },
    });
    const service = new Service(child, data);
    try {
      await service.#ready();
      await service.#provision(options);
    } catch (error) {
      await service.stop();
      throw error;
    }
    return service;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Path of the database. */
  get file(): string {
    return join(this.#data, 'carillon.db');
  }

  /** Number of stored call records. */
  callRecords(): number {
    const db = new Database(this.file, { readonly: true });
    try {
      return db.prepare<[], number>('SELECT count(*) FROM cdr').pluck().get() ?? 0;
    } finally {
      db.close();
    }
  }

  /** Records and entries of calls that never were. */
  addOldCalls(count: number): void {
    addOldCalls(this.file, { count });
  }

  /** Phones of the account, and how they log in; `answerUrl`: of what they call. */
  async createEndpoints(count: number, answerUrl?: string): Promise<Login[]> {
    const password = 'bench-endpoint-password';
    const logins: Login[] = [];
    const app: Fields =
      answerUrl === undefined
        ? {}
        : await this.#api('/Application/', { app_name: 'hold', answer_url: answerUrl });
    const chosen = answerUrl === undefined ? {} : { app_id: Number(app['app_id']) };
    while (logins.length < count) {
      const some = Array.from({ length: Math.min(AT_ONCE, count - logins.length) }, (_, i) =>
        this.#api('/Endpoint/', {
          username: `p${logins.length + i}x`,
          password,
          alias: `p${logins.length + i}`,
          ...chosen,
        }),
      );
      for (const { username = '' } of await Promise.all(some)) logins.push({ username, password });
    }
    return logins;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async stop(): Promise<void> {
    await this.#pool.destroy();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGTERM');
    await once(this.#child, 'exit');
  }

  async #ready(): Promise<void> {
    for (;;) {
      if (this.#child.exitCode !== null) throw new Error('the service did not start');
      const requested = this.#pool.request({ method: 'GET', path: '/readyz' });
      const reply = await requested.catch(() => undefined);
      await reply?.body.dump();
      if (reply?.statusCode === 200) return;
      await pause(50);
    }
  }

  async #provision({ customerUrl, kind }: ServiceOptions): Promise<void> {
    const account = await this.#admin('/accounts', { name: 'Bench', currency: 'USD', ...NO_LIMIT });
    const { auth_id: id = '', auth_token: token = '' } = account;
    const money = { amount: 1_000_000, currency: 'USD', description: 'bench' };
    await this.#admin(`/accounts/${id}/credit`, money);
    await this.#admin(`/accounts/${id}/caller-ids`, { number: CALLER_ID });
    const caller = { name: 'caller', host: HOST, port: 16_060, prefixes: ['14155601'] };
    await this.#admin('/carriers', { ...caller, source_addresses: [HOST], ...NO_LIMIT });
    const callee = { name: 'callee', host: HOST, port: CALLEE_PORT, prefixes: ['14155602'] };
    // A trunk must not have the address of a carrier as its destination.
    if (kind !== 'trunk') await this.#admin('/carriers', { ...callee, ...NO_LIMIT });
    this.#account = { id, headers: { 'x-auth-id': id, 'x-auth-token': token } };
    const api = (path: string, body: object): Promise<Fields> => this.#api(path, body);
    for (const e164 of [ANSWERED_BY_XML, GOES_TO_TRUNK])
      await this.#admin('/numbers', { e164, country: 'US', currency: 'USD', account_id: id });
    const urls = { answer_url: `${customerUrl}/answer`, hangup_url: `${customerUrl}/hangup` };
    const application = await api('/Application/', { app_name: 'bench', ...urls });
    const chosen = { application_id: Number(application['app_id']) };
    await api(`/numbers/${ANSWERED_BY_XML}/application`, chosen);
    const target = { name: 'callee', sip_uri: `sip:callee@${HOST}:${CALLEE_PORT}` };
    const uri = await api('/origination-uris', target);
    const direction = { name: 'callee', trunk_direction: 'inbound', transport: 'udp' };
    const trunk = await api('/trunks', { ...direction, primary_uri_uuid: uri['id'], ...NO_LIMIT });
    const group = { trunk_group_id: trunk['trunk_id'] ?? trunk['id'] };
    await api(`/numbers/${GOES_TO_TRUNK}/assign`, group);
  }

  #api(path: string, body: object): Promise<Fields> {
    const { id, headers } = this.#account;
    return this.#post(`/api/v1/Account/${id}${path}`, headers, body);
  }

  #admin(path: string, body: object): Promise<Fields> {
    return this.#post(`/admin/v1${path}`, { authorization: `Bearer ${ADMIN_TOKEN}` }, body);
  }

  async #post(path: string, headers: Fields, body: object): Promise<Fields> {
    const type = { 'content-type': 'application/json' };
    const reply = await this.#pool.request({
      method: 'POST',
      path,
      headers: { ...headers, ...type },
      body: JSON.stringify(body),
    });
    const text = await reply.body.text();
    if (reply.statusCode >= 300) throw new Error(`${path}: ${reply.statusCode} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as Fields);
  }
}
