/**
 * Whole calls that REST requests place to a SIP carrier. Service, carrier and customer's server are separate processes.
 * Places calls at a fixed rate, then verifies that every call ended with a callback and that the balance is correct.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { isQuick, type Row } from './row.ts';

/** Goal: 200 calls a second on two cores. */
const CALLS_PER_SECOND = Number(process.env['BENCH_OUTBOUND_CPS'] ?? 200);
const SECONDS = Number(process.env['BENCH_OUTBOUND_SECONDS'] ?? (isQuick ? 3 : 10));
const BULK = 1000;
/** Timeout for callbacks, ms. Later callbacks count as lost. */
const TIMEOUT_MS = 30_000;
const PER_CALL_UNITS = 0.0065;
const CREDIT_UNITS = 10_000;
const ADMIN_TOKEN = 'bench-admin-token';
const FROM = '14155550100';
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

interface Reported {
  readonly port?: number;
  readonly number?: string;
  readonly atMs?: number;
  readonly event?: string;
  readonly callUuid?: string;
}

/** Calls that are under way, as seen from outside. */
class Watch {
  readonly invitedMs = new Map<string, number>();
  readonly hangups = new Set<string>();
  repeated = 0;

  note({ number, atMs, event, callUuid }: Reported): void {
    if (number !== undefined && atMs !== undefined) this.invitedMs.set(number, atMs);
    if (event !== 'Hangup' || callUuid === undefined) return;
    if (this.hangups.has(callUuid)) this.repeated += 1;
    this.hangups.add(callUuid);
  }

  async until(hangups: number): Promise<void> {
    const endMs = performance.now() + TIMEOUT_MS;
    while (this.hangups.size < hangups && performance.now() < endMs) await pause(20);
  }
}

export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-bench-'));
  const watch = new Watch();
  const children: ChildProcess[] = [];
  try {
    const carrier = await helper('./outbound/carrier.ts', watch, children);
    const customer = await helper('./outbound/customer.ts', watch, children);
    const service = await startService(folder, children);
    const account = await service.account(carrier);
    const target = `http://127.0.0.1:${customer}`;
    const single = await placeSingles(account, target, watch);
    const bulk = await placeBulk(account, target, watch);
    await pause(1500);
    const spent = CREDIT_UNITS - (await account.balance());
    const due = (single.placed + bulk.placed) * PER_CALL_UNITS;
    return [
      ...single.rows,
      ...bulk.rows,
      {
        name: 'outbound: balance differs from the calls by',
        value: Math.round((spent - due) * 1e6) / 1e6,
        unit: 'USD',
        note: 'goal: 0',
      },
    ];
  } finally {
    await Promise.all(children.map(ended));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function placeSingles(account: Account, target: string, watch: Watch) {
  const count = CALLS_PER_SECOND * SECONDS;
  const sentMs = new Map<string, number>();
  const startedMs = performance.now();
  let refused = 0;
  const requests: Promise<void>[] = [];
  for (let index = 0; index < count; index += 1) {
    const dueMs = startedMs + (index * 1000) / CALLS_PER_SECOND;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
    const to = String(14_155_600_000 + index);
    sentMs.set(to, Date.now());
    requests.push(
      account.place(to, target).then((status) => {
        if (status !== 200) refused += 1;
      }),
    );
  }
  await Promise.all(requests);
  const placed = count - refused;
  await watch.until(placed);
  const seconds = (performance.now() - startedMs) / 1000;
  const delays = [...watch.invitedMs]
    .map(([number, atMs]) => atMs - (sentMs.get(number) ?? atMs))
    .sort((a, b) => a - b);
  const rows: Row[] = [
    {
      name: 'outbound: calls begun, answered, ended and told, a second',
      value: Math.round(watch.hangups.size / seconds),
      unit: 'calls/s',
      note: `${CALLS_PER_SECOND} asked for, ${refused} refused`,
    },
    { name: 'outbound: callbacks lost', value: placed - watch.hangups.size, unit: 'callbacks' },
    { name: 'outbound: callbacks told twice', value: watch.repeated, unit: 'callbacks' },
    {
      name: 'outbound: request sent → INVITE at the carrier, median',
      value: delays[Math.floor(delays.length / 2)] ?? Number.NaN,
      unit: 'ms',
      note: 'goal: ≤ 20 ms from acceptance',
    },
    {
      name: 'outbound: request sent → INVITE at the carrier, p99',
      value: delays[Math.floor(delays.length * 0.99)] ?? Number.NaN,
      unit: 'ms',
    },
  ];
  return { placed, rows };
}

async function placeBulk(account: Account, target: string, watch: Watch) {
  const before = watch.hangups.size;
  const to = Array.from({ length: BULK }, (_, index) => String(14_155_700_000 + index)).join('<');
  const startedMs = performance.now();
  const status = await account.place(to, target);
  const acceptedMs = performance.now() - startedMs;
  const placed = status === 200 ? BULK : 0;
  await watch.until(before + placed);
  const rows: Row[] = [
    {
      name: `outbound: ${BULK} destinations in one request, accepted after`,
      value: Math.round(acceptedMs),
      unit: 'ms',
      note: `goal: ≤ 200 ms; status ${status}, ${before + placed - watch.hangups.size} callbacks lost`,
    },
  ];
  return { placed, rows };
}

// ---------------------------------------------------------------- processes

/** Starts a process that tells its port first, and then what it sees. */
async function helper(path: string, watch: Watch, children: ChildProcess[]): Promise<number> {
  const child = fork(here(path), [], { stdio: 'inherit' });
  children.push(child);
  const [first] = (await once(child, 'message')) as [Reported];
  child.on('message', (reported) => watch.note(reported as Reported));
  return first.port ?? 0;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

interface Account {
  place(to: string, target: string): Promise<number>;
  balance(): Promise<number>;
}

async function startService(folder: string, children: ChildProcess[]) {
  const [httpPort, sipPort] = [await freeTcpPort(), await freeUdpPort()];
  const child = spawn(process.execPath, [here('../src/main.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      CARILLON_DATA_DIR: join(folder, 'data'),
      CARILLON_HTTP_PORT: String(httpPort),
      CARILLON_HTTP_REQUESTS_PER_SECOND: '100000',
      CARILLON_SIP_PORT: String(sipPort),
      CARILLON_RTP_PORT_MIN: '10000',
      CARILLON_RTP_PORT_MAX: '29999',
      CARILLON_ADMIN_TOKEN: ADMIN_TOKEN,
      CARILLON_DEMO: 'off',
      CARILLON_LOG_LEVEL: 'error',
      CARILLON_CALLS_DRAIN_MS: '1000',
    },
  });
  children.push(child);
  const pool = new Pool(`http://127.0.0.1:${httpPort}`, { connections: 32 });
  await ready(pool, child);
  return { account: (carrierPort: number) => openAccount(pool, carrierPort) };
}

async function ready(pool: Pool, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error('the service did not start');
    const reply = await pool.request({ method: 'GET', path: '/readyz' }).catch(() => undefined);
    await reply?.body.dump();
    if (reply?.statusCode === 200) return;
    await pause(50);
  }
}

/** Creates an account with credit, a caller ID and one carrier, with limits above the load. */
async function openAccount(pool: Pool, carrierPort: number): Promise<Account> {
  const admin = async (path: string, body: object): Promise<Record<string, string>> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const sent = { method: 'POST', path: `/admin/v1${path}`, headers, body: JSON.stringify(body) };
    const reply = await pool.request(sent as Parameters<Pool['request']>[0]);
    if (reply.statusCode >= 300) throw new Error(`${path}: ${await reply.body.text()}`);
    const text = await reply.body.text();
    return text === '' ? {} : (JSON.parse(text) as Record<string, string>);
  };
  const limits = { concurrent_calls_limit: 2000, cps_limit: 10_000 };
  const account = await admin('/accounts', { name: 'Bench', currency: 'USD', ...limits });
  const { auth_id: id = '', auth_token: token = '' } = account;
  const credit = { amount: CREDIT_UNITS, currency: 'USD', description: 'bench' };
  await admin(`/accounts/${id}/credit`, credit);
  await admin(`/accounts/${id}/caller-ids`, { number: FROM });
  await admin('/carriers', { name: 'bench', host: '127.0.0.1', port: carrierPort, ...limits });
  const headers = { 'x-auth-id': id, 'x-auth-token': token, 'content-type': 'application/json' };
  return {
    async place(to, target) {
      const body = {
        from: FROM,
        to,
        answer_url: `${target}/answer`,
        hangup_url: `${target}/hangup`,
      };
      const path = `/api/v1/Account/${id}/Call/`;
      const reply = await pool.request({
        method: 'POST',
        path,
        headers,
        body: JSON.stringify(body),
      });
      await reply.body.dump();
      return reply.statusCode;
    },
    async balance() {
      const path = `/api/v1/Account/${id}/balance/USD`;
      const reply = await pool.request({ method: 'GET', path, headers });
      return ((await reply.body.json()) as { balance: number }).balance;
    },
  };
}

async function freeTcpPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const row of await run()) console.log(JSON.stringify(row));
}
