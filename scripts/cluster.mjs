#!/usr/bin/env node
// `npm run cluster`: PostgreSQL, Redis and three nodes of one service on this machine, until Ctrl-C. `npm run cluster -- test`: their
// failure stories, as root in a network namespace of their own. Installs what is missing when root on Debian or Ubuntu.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [command = 'start', ...more] = process.argv.slice(2);
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const has = (program) =>
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));
const hasPostgres = () =>
  existsSync('/usr/lib/postgresql') && readdirSync('/usr/lib/postgresql').length > 0;

const wanted = [
  ...(has('redis-server') ? [] : ['redis-server']),
  ...(hasPostgres() ? [] : ['postgresql']),
  ...(has('kamailio') ? [] : ['kamailio', 'kamailio-tls-modules', 'kamailio-websocket-modules']),
  ...(command !== 'test' || has('ip') ? [] : ['iproute2']),
  ...(command !== 'test' || has('iptables') ? [] : ['iptables']),
];
if (wanted.length > 0) {
  const install = ['install', '-y', '-q', '--no-install-recommends', ...wanted];
  if (process.getuid?.() !== 0 || !has('apt-get')) {
    console.error(`not installed: ${wanted.join(', ')}. As root: apt-get ${install.join(' ')}`);
    process.exit(1);
  }
  console.log(`installing ${wanted.join(' ')}`);
  for (const args of [['update', '-q'], install])
    spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
}

const bin = join(root, 'node_modules', '.bin');
const run =
  command === 'test'
    ? [join(bin, 'vitest'), 'run', '--config', 'test/cluster/vitest.config.ts', ...more]
    : [join(bin, 'node'), 'test/cluster/run.ts'];
// What is cut off there is cut off nowhere else.
const isApart = command === 'test' && process.getuid?.() === 0 && has('unshare') && has('ip');
const all = isApart
  ? ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...run]
  : run;
const env = { ...process.env, ...(isApart && { CARILLON_TEST_NETWORK: 'own' }) };
const ended = spawnSync(all[0], all.slice(1), { cwd: root, stdio: 'inherit', env });
process.exit(ended.status ?? 1);
