/**
 * PostgreSQL and Redis as production runs them: PgBouncer, a promoted replica, Redis Sentinel with a failover, TLS and
 * passwords, pg_dump and point-in-time recovery. Each uses the whole service and ends with correct books.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { afterEach, describe, expect, it } from 'vitest';
import { Customer } from '../e2e/customer.ts';
import { callFor, makeUser } from '../e2e/phone.ts';
import {
  type Environment,
  eventually,
  freePort,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { HAS_REDIS } from '../edge/cluster/redis.ts';
import { Cluster, postgresMissing, postgresProgram } from '../postgres.ts';

const has = (program: string, ...args: readonly string[]): boolean =>
  spawnSync(program, args).status === 0;
const HAS_PGBOUNCER = has('pgbouncer', '--version');
const HAS_SENTINEL = has('redis-sentinel', '--version');
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

const cleanups: Array<() => unknown> = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** A folder that PostgreSQL's user may enter. */
function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'carillon-prod-'));
  chmodSync(made, 0o777);
  cleanups.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function postgres(settings: Readonly<Record<string, string>> = {}): Cluster {
  const cluster = new Cluster(folder(), settings);
  cluster.create();
  cleanups.push(() => {
    try {
      cluster.stop();
    } catch {
      // The test stopped it.
    }
  });
  return cluster;
}

/** Starts a program and waits until its output or a connection shows that it serves. */
async function run(program: string, args: readonly string[], ready: RegExp): Promise<() => void> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(isRoot && program === 'pgbouncer' && { uid: NOBODY, gid: NOBODY }),
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => {
      said += String(text);
    });
  const stop = (): void => void child.kill('SIGKILL');
  cleanups.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    stop();
    await ended;
  });
  await eventually(
    `${program} to serve`,
    () => {
      if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`);
      return ready.test(said) || undefined;
    },
    20_000,
  );
  return stop;
}

async function service(environment: Environment, keys?: ServicePlace): Promise<Service> {
  const place = await newPlace({ CARILLON_CALLS_HEARTBEAT_MS: '200', ...environment });
  if (keys !== undefined)
    cpSync(join(keys.dataDir, 'keys'), join(place.dataDir, 'keys'), { recursive: true });
  const started = await Service.start(place);
  cleanups.push(async () => {
    await started.kill();
    removePlace(place);
  });
  return started;
}

/** Answers calls of one second. */
async function caller(of: Service) {
  const customer = await Customer.listen();
  cleanups.push(() => customer.close());
  const answer_url = customer.xml(
    '/answer',
    '<Response><DTMF>1</DTMF><Wait length="20"/></Response>',
  );
  const user = await makeUser(of, 'caller', { answer_url });
  return async (by: Service = of): Promise<string> => {
    const { sipCallId, end } = await callFor(by, user, 1);
    if (end.how !== 'bye') throw new Error(`the call ended with ${end.how} ${end.status}`);
    return sipCallId;
  };
}

const verify = async (of: Service): Promise<void> => {
  const { status, text } = await of.admin('POST', '/verify');
  expect(status, text).toBe(200);
};

const ready = (of: Service): Promise<true> =>
  eventually(
    'readiness',
    async () => (await of.get('/readyz').catch(() => undefined))?.status === 200 || undefined,
    60_000,
  );

/** Files of a certificate for 127.0.0.1, readable by all. */
async function certificate(at: string): Promise<{ readonly cert: string; readonly key: string }> {
  const pems = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ],
  });
  const files = { cert: join(at, 'cert.pem'), key: join(at, 'key.pem') };
  writeFileSync(files.cert, pems.cert);
  writeFileSync(files.key, pems.private, { mode: 0o644 });
  return files;
}

describe.skipIf(postgresMissing !== undefined)(
  `PostgreSQL in production ${postgresMissing ?? ''}`,
  () => {
    it.skipIf(!HAS_PGBOUNCER)(
      'behind PgBouncer in session mode (needs pgbouncer), which restarts during the run',
      async () => {
        const cluster = postgres();
        cluster.database('carillon');
        const port = await freePort();
        const at = folder();
        const users = join(at, 'users.txt');
        writeFileSync(users, '"carillon" "s3cret"\n');
        const config = join(at, 'pgbouncer.ini');
        writeFileSync(
          config,
          `[databases]\ncarillon = host=${cluster.folder} port=5432 dbname=carillon user=carillon\n` +
            `[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port=${port}\nunix_socket_dir=\npool_mode=session\n` +
            `auth_type=scram-sha-256\nauth_file=${users}\nmax_client_conn=100\ndefault_pool_size=50\n` +
            'ignore_startup_parameters=extra_float_digits,options\n',
        );
        const stop = await run('pgbouncer', [config], /process up/);
        const own = await service({
          CARILLON_STORE_URL: `postgres://carillon:s3cret@127.0.0.1:${port}/carillon`,
        });
        const call = await caller(own);
        await own.cdrOf(await call());
        stop();
        await eventually(
          'the outage',
          async () => (await own.get('/readyz')).status === 503 || undefined,
          30_000,
        );
        await run('pgbouncer', [config], /process up/);
        await ready(own);
        await own.cdrOf(await call());
        await verify(own);
      },
    );

    it('continues on a promoted replica, which is named as second host of the URL', async () => {
      const primary = postgres({ wal_level: 'replica', max_wal_senders: '4', hot_standby: 'on' });
      primary.database('carillon');
      const standby = new Cluster(folder());
      const copied = postgresProgram('pg_basebackup', [
        ...[
          '-h',
          primary.folder,
          '-U',
          'carillon',
          '-D',
          join(standby.folder, 'data'),
          '-R',
          '-X',
          'stream',
          '-c',
          'fast',
        ],
      ]);
      expect(copied.status, copied.stderr).toBe(0);
      standby.start();
      cleanups.push(() => standby.stop());
      const hosts = [primary.folder, standby.folder].map(encodeURIComponent).join(',');
      const url = `postgres://carillon@/carillon?host=${hosts}&target_session_attrs=read-write`;
      const own = await service({ CARILLON_STORE_URL: url });
      const call = await caller(own);
      const first = await call();
      await own.cdrOf(first);
      await eventually('the replica', () => {
        const db = standby.connect('carillon');
        const [row] = db.all(`SELECT count(*) AS count FROM cdr`);
        db.close();
        return Number(row?.['count']) > 0 || undefined;
      });
      primary.stop();
      const promoted = postgresProgram('pg_ctl', [
        '-D',
        join(standby.folder, 'data'),
        '-w',
        'promote',
      ]);
      expect(promoted.status, promoted.stderr).toBe(0);
      await ready(own);
      const second = await call();
      for (const id of [first, second]) await own.cdrOf(id);
      await verify(own);
    });

    it('a dump restores all records, and the restored service continues', async () => {
      const cluster = postgres();
      cluster.database('carillon');
      const own = await service({ CARILLON_STORE_URL: cluster.url('carillon') });
      const call = await caller(own);
      const id = await call();
      const record = await own.cdrOf(id);
      const dump = join(folder(), 'carillon.dump');
      const dumped = postgresProgram('pg_dump', [
        '-h',
        cluster.folder,
        '-U',
        'carillon',
        '-Fc',
        '-f',
        dump,
        'carillon',
      ]);
      expect(dumped.status, dumped.stderr).toBe(0);
      await call();
      await own.stop();
      cluster.database('restored');
      const restored = postgresProgram('pg_restore', [
        '-h',
        cluster.folder,
        '-U',
        'carillon',
        '-d',
        'restored',
        dump,
      ]);
      expect(restored.status, restored.stderr).toBe(0);
      const again = await service(
        { CARILLON_STORE_URL: cluster.url('restored') },
        { dataDir: own.dataDir, environment: own.environment },
      );
      expect(await again.cdrOf(id, own.demo)).toEqual(record);
      await verify(again);
    });

    it('recovers to a point in time from a base backup and archived WAL', async () => {
      const archive = folder();
      const cluster = postgres({
        wal_level: 'replica',
        max_wal_senders: '4',
        archive_mode: 'on',
        archive_command: `cp %p ${archive}/%f`,
      });
      cluster.database('carillon');
      const own = await service({ CARILLON_STORE_URL: cluster.url('carillon') });
      const call = await caller(own);
      const recovered = new Cluster(folder());
      const base = postgresProgram('pg_basebackup', [
        ...[
          '-h',
          cluster.folder,
          '-U',
          'carillon',
          '-D',
          join(recovered.folder, 'data'),
          '-X',
          'stream',
          '-c',
          'fast',
        ],
      ]);
      expect(base.status, base.stderr).toBe(0);
      const kept = await call();
      const record = await own.cdrOf(kept);
      const db = cluster.connect('postgres');
      const time = String(db.all('SELECT clock_timestamp()::text AS now')[0]?.['now']);
      const lost = await call();
      await own.cdrOf(lost);
      db.all('SELECT pg_switch_wal()');
      await eventually('the archived segment', () => {
        const [row] = db.all('SELECT archived_count AS count FROM pg_stat_archiver');
        return Number(row?.['count']) > 0 || undefined;
      });
      db.close();
      await own.stop();
      cluster.stop();
      const data = join(recovered.folder, 'data');
      const settings = `restore_command = 'cp ${archive}/%f %p'\nrecovery_target_time = '${time}'\nrecovery_target_action = 'promote'\n`;
      writeFileSync(join(data, 'postgresql.auto.conf'), settings);
      writeFileSync(join(data, 'recovery.signal'), '');
      if (isRoot) chownSync(join(data, 'recovery.signal'), NOBODY, NOBODY);
      recovered.start();
      cleanups.push(() => recovered.stop());
      const again = await service(
        { CARILLON_STORE_URL: recovered.url('carillon') },
        { dataDir: own.dataDir, environment: own.environment },
      );
      expect(await again.cdrOf(kept, own.demo)).toEqual(record);
      const { body } = await again.api(
        'GET',
        `cdr?sip_call_id=${encodeURIComponent(lost)}`,
        undefined,
        own.demo,
      );
      expect(body['data']).toEqual([]);
      await verify(again);
    });

    it.skipIf(!HAS_SENTINEL || !HAS_REDIS)(
      'follows a failover of Redis Sentinel, with TLS and passwords (needs redis-sentinel)',
      async () => {
        const cluster = postgres();
        cluster.database('carillon');
        const at = folder();
        const { cert, key } = await certificate(at);
        const tls = (port: number): string =>
          `port 0\ntls-port ${port}\ntls-cert-file ${cert}\ntls-key-file ${key}\ntls-ca-cert-file ${cert}\n` +
          'tls-auth-clients no\ntls-replication yes\nbind 127.0.0.1\n';
        const ports = [await freePort(), await freePort()];
        const [first = 0, second = 0] = ports;
        const servers: Array<() => void> = [];
        for (const port of ports) {
          const dir = join(at, String(port));
          mkdirSync(dir);
          const config = join(dir, 'redis.conf');
          const replica = port === first ? '' : `replicaof 127.0.0.1 ${first}\n`;
          writeFileSync(
            config,
            `${tls(port)}dir ${dir}\nsave ""\nrequirepass s3cret\nmasterauth s3cret\n${replica}`,
          );
          servers.push(await run('redis-server', [config], /Ready to accept connections/));
        }
        const sentinels = [await freePort(), await freePort(), await freePort()];
        for (const port of sentinels) {
          const dir = join(at, String(port));
          mkdirSync(dir);
          const config = join(dir, 'sentinel.conf');
          writeFileSync(
            config,
            `${tls(port)}dir ${dir}\nsentinel monitor voice 127.0.0.1 ${first} 2\nsentinel auth-pass voice s3cret\n` +
              'sentinel down-after-milliseconds voice 1000\nsentinel failover-timeout voice 3000\n',
          );
          await run('redis-sentinel', [config], /monitor master/);
        }
        const hosts = sentinels.map((port) => `127.0.0.1:${port}`).join(',');
        const own = await service({
          CARILLON_STORE_URL: cluster.url('carillon'),
          CARILLON_CLUSTER_REDIS: `rediss+sentinel://:s3cret@${hosts}/voice`,
          CARILLON_CLUSTER_NODE: 'n1',
          NODE_EXTRA_CA_CERTS: cert,
        });
        const call = await caller(own);
        await own.cdrOf(await call());
        servers[0]?.();
        await eventually(
          'the outage',
          async () => (await own.get('/readyz')).status === 503 || undefined,
          30_000,
        );
        await ready(own);
        const client = [
          '--tls',
          '--cacert',
          cert,
          '-a',
          's3cret',
          '--no-auth-warning',
          '-p',
          String(second),
        ];
        expect(spawnSync('redis-cli', [...client, 'role'], { encoding: 'utf8' }).stdout).toContain(
          'master',
        );
        await eventually(
          'a call after the failover',
          () =>
            call()
              .then((id) => own.cdrOf(id))
              .catch(() => undefined),
          30_000,
        );
        expect(own.program.output).not.toContain('s3cret');
        await verify(own);
      },
    );
  },
);
