/** OpenStack Swift with its S3 API, an object storage that verifies signatures (SigV4), in a temporary folder on free ports. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freePort } from '../e2e/service.ts';

export const KEYS = { accessKeyId: 'carillon:voice', secretAccessKey: 'secret/of+the=test' };
export const REGION = 'eu-test-1';

const STARTED_WITHIN_MS = 60_000;
const SERVERS = ['account', 'container', 'object'] as const;
/** Runs Swift with settings from a given folder instead of /etc/swift, and without additional processes. */
const RUN = `
import sys
from swift.common import utils
name, folder = sys.argv[1:3]
utils.set_swift_dir(folder)
from swift.common.wsgi import run_wsgi
more = {}
if name == 'object':
    from swift.obj import server
    more['global_conf_callback'] = server.global_conf_callback
sys.exit(run_wsgi(folder + '/' + name + '.conf', name + '-server', verbose=True, **more))
`;

export interface Swift {
  readonly endpoint: string;
  stop(): Promise<void>;
}

export async function startSwift(folder: string): Promise<Swift> {
  mkdirSync(join(folder, 'devices', 'd1'), { recursive: true });
  write(folder, 'swift.conf', [
    '[swift-hash]',
    'swift_hash_path_suffix = test',
    '[storage-policy:0]',
    ...['name = one', 'default = yes'],
  ]);
  for (const name of SERVERS) {
    const port = await freePort();
    ring(folder, name, port);
    write(folder, `${name}.conf`, serverConf(folder, name, port));
  }
  const port = await freePort();
  write(folder, 'proxy.conf', proxyConf(folder, port));
  writeFileSync(join(folder, 'run.py'), RUN);
  const daemons = [...SERVERS, 'proxy'].map((name) => new Daemon(folder, name));
  const endpoint = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    await Promise.all(daemons.map((daemon) => daemon.stop()));
  };
  try {
    await eventually(
      'Swift answers',
      async () => {
        const reply = await fetch(`${endpoint}/healthcheck`).catch(() => undefined);
        return reply?.ok || undefined;
      },
      STARTED_WITHIN_MS,
    );
  } catch (error) {
    await stop();
    throw new Error(daemons.map((daemon) => daemon.output).join('\n'), { cause: error });
  }
  return { endpoint, stop };
}

class Daemon {
  output = '';
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;

  constructor(folder: string, name: string) {
    const options = { stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] };
    this.#child = spawn('/usr/bin/python3', [join(folder, 'run.py'), name, folder], options);
    this.#closed = once(this.#child, 'close');
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output = (this.output + text).slice(-4000);
      });
    }
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }
}

const write = (folder: string, name: string, lines: readonly string[]): void =>
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);

const user = (): string => spawnSync('id', ['-un'], { encoding: 'utf8' }).stdout.trim();

const common = (folder: string, port: number): readonly string[] => [
  '[DEFAULT]',
  'bind_ip = 127.0.0.1',
  `bind_port = ${port}`,
  // Runs everything in the started process, so that no process remains after it ends.
  'workers = 0',
  `user = ${user()}`,
  `swift_dir = ${folder}`,
];

const serverConf = (folder: string, name: string, port: number): readonly string[] => [
  ...common(folder, port),
  `devices = ${join(folder, 'devices')}`,
  'mount_check = false',
  ...['[pipeline:main]', `pipeline = ${name}-server`],
  ...[`[app:${name}-server]`, `use = egg:swift#${name}`],
];

const filter = (name: string, ...settings: readonly string[]): readonly string[] => [
  `[filter:${name}]`,
  `use = egg:swift#${name}`,
  ...settings,
];

const proxyConf = (folder: string, port: number): readonly string[] => [
  ...common(folder, port),
  '[pipeline:main]',
  'pipeline = catch_errors gatekeeper healthcheck memcache listing_formats s3api tempauth slo proxy-server',
  ...['[app:proxy-server]', 'use = egg:swift#proxy', 'account_autocreate = true'],
  ...['catch_errors', 'gatekeeper', 'healthcheck', 'listing_formats', 'slo'].flatMap((name) =>
    filter(name),
  ),
  // tempauth requires the filter but works without a memcached server.
  ...filter('memcache', 'memcache_servers = 127.0.0.1:1'),
  ...filter('s3api', `location = ${REGION}`),
  ...filter('tempauth', `user_carillon_voice = ${KEYS.secretAccessKey} .admin`),
];

/** Writes a ring with one replica on one device. */
function ring(folder: string, name: string, port: number): void {
  const builder = join(folder, `${name}.builder`);
  for (const args of [
    ['create', '4', '1', '0'],
    ['add', `r1z1-127.0.0.1:${port}/d1`, '1'],
    ['rebalance'],
  ]) {
    const made = spawnSync('swift-ring-builder', [builder, ...args], { encoding: 'utf8' });
    if (made.status !== 0) throw new Error(`swift-ring-builder: ${made.stdout}${made.stderr}`);
  }
}
