/** REST end to end over real sockets: requests per second on one core, compared with a bare node:http server in the same run. */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { silentLogger } from '../src/base/logger.ts';
import { systemRandom } from '../src/base/system-random.ts';
import { systemClock } from '../src/edge/clock/system-clock.ts';
import { createRestServer, type RestDeps } from '../src/edge/rest/server.ts';
import { openStore } from '../src/edge/store/store.ts';
import { createDomainServices } from '../src/service/join/domain-services.ts';
import { isQuick, type Row } from './row.ts';

const CONNECTIONS = 16;
const PIPELINING = 4;
const WARM_UP_MS = 1000;
const MEASURE_MS = isQuick ? 1000 : 3000;

interface Load {
  readonly origin: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Record<string, string>;
  /** `#` becomes a different number in each request. */
  readonly body?: string;
}

/** Sends one kind of request as fast as it is answered; the rate per second of the right answers. */
async function press(load: Load): Promise<number> {
  const pool = new Pool(load.origin, { connections: CONNECTIONS, pipelining: PIPELINING });
  let sent = 0;
  let done = 0;
  let counting = false;
  const until = performance.now() + WARM_UP_MS + MEASURE_MS;
  const worker = async (): Promise<void> => {
    while (performance.now() < until) {
      const body = load.body?.replaceAll('#', `${process.pid}x${sent++}`);
      const reply = await pool.request({
        method: load.method,
        path: load.path,
        headers: load.headers,
        ...(body !== undefined && { body }),
      });
      await reply.body.dump();
      if (reply.statusCode >= 300) throw new Error(`${load.path}: ${reply.statusCode}`);
      if (counting) done += 1;
    }
  };
  const workers = Array.from({ length: CONNECTIONS * PIPELINING }, worker);
  setTimeout(() => {
    counting = true;
  }, WARM_UP_MS);
  await Promise.all(workers);
  await pool.close();
  return (done * 1000) / MEASURE_MS;
}

/** The pressure comes from another process, so that the server has its core to itself. */
function pressFromOutside(load: Load): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), ['--press'], { stdio: 'inherit' });
    child.on('message', (rate) => resolve(Number(rate)));
    child.on('error', reject);
    child.on('exit', (code) => {
      if (code !== 0) reject(new Error(`load generator ended with ${code}`));
    });
    child.send(load);
  });
}

async function bareServer(body: string): Promise<Server> {
  const server = createServer((_, reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const settingsOf = (dataDir: string) => ({
  host: '127.0.0.1',
  port: 0,
  trustProxy: [],
  bodyLimitBytes: 65_536,
  requestsPerSecond: 1_000_000,
  refusedPerSecond: 1_000_000,
  connectionsPerAddress: 1000,
  publicUrl: 'http://voice.test',
  registrarHost: 'voice.test',
  makeCallStatus: 200,
  strictVobizSdk: false,
  platformName: 'Carillon',
  recordingLinkSeconds: 900,
  linkKey: 'k',
  recordingsFolder: dataDir,
  exportsFolder: dataDir,
});

async function startService(dataDir: string) {
  const context = { clock: systemClock, random: systemRandom };
  const store = await openStore({
    dataDir,
    synchronous: 'normal',
    logger: silentLogger,
    ...context,
  });
  const nothing = (): never => {
    throw new Error('not part of this measurement');
  };
  const facts = createDomainServices(store, {
    ...context,
    logger: silentLogger,
    accounts: { concurrentCallsLimit: 10, cpsLimit: 5, currency: 'USD', country: 'US' },
    provisioning: { realm: 'r', usernameSuffix: 'always' },
    recordingFiles: { remove: nothing },
  });
  const { accounts } = facts;
  const deps = {
    ...facts,
    operations: { registrationOf: () => undefined, sipPort: () => 5060 },
    ...context,
    logger: silentLogger,
    liveFeed: { stop: () => undefined },
    callListening: { stop: () => undefined },
    isAdminToken: () => false,
    settings: settingsOf(dataDir),
  } as unknown as RestDeps;
  const server = createRestServer(deps);
  const { url } = await server.start();
  const made = await accounts.create({ name: 'Bench' });
  if (!made.ok) throw new Error(made.error.kind);
  const { account, authToken } = made.value;
  return {
    origin: url,
    root: `/api/v1/Account/${account.authId}`,
    headers: {
      'x-auth-id': account.authId,
      'x-auth-token': authToken,
      'content-type': 'application/json',
    },
    async stop() {
      await server.stop();
      await store.close();
    },
  };
}

export async function run(): Promise<readonly Row[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'carillon-bench-rest-'));
  const service = await startService(dataDir);
  const { origin, root, headers } = service;
  const post = (path: string, body: object) =>
    pressFromOutside({
      origin,
      method: 'POST',
      path: root + path,
      headers,
      body: JSON.stringify(body),
    });
  try {
    const balancePath = `${root}/balance/USD`;
    const sample = await fetch(origin + balancePath, { headers });
    const bare = await bareServer(await sample.text());
    const floorOrigin = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`;
    const floor = await pressFromOutside({
      origin: floorOrigin,
      method: 'GET',
      path: '/',
      headers,
    });
    bare.closeAllConnections();
    bare.close();
    const balance = await pressFromOutside({ origin, method: 'GET', path: balancePath, headers });
    const application = await post('/Application/', {
      app_name: 'a#',
      answer_url: 'https://a.example/answer',
    });
    const endpoint = await post('/Endpoint/', {
      username: 'u#',
      password: 'longenough',
      alias: 'a#',
    });
    const row = (name: string, value: number): Row => ({
      name,
      value: Math.round(value),
      unit: 'requests/s',
      floor: Math.round(floor),
      ratio: Math.round((value / floor) * 100) / 100,
      note: `${CONNECTIONS} connections, ${PIPELINING} deep; floor: node:http with the same body`,
    });
    return [
      row('REST: GET balance', balance),
      row('REST: create application', application),
      row('REST: create endpoint', endpoint),
    ];
  } finally {
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

if (process.argv.includes('--press')) {
  process.once('message', (load) => {
    void press(load as Load).then((rate) => {
      process.send?.(rate);
      process.disconnect();
    });
  });
}
