#!/usr/bin/env node
// `npm run cluster`: PostgreSQL, Redis, Kamailio and three nodes of one service, until Ctrl-C. `npm run cluster -- test`: their failure
// stories. As root in a network namespace of their own. Installs what is missing when root on Debian or Ubuntu.
import { spawn, spawnSync } from 'node:child_process';
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
  ...(has('ip') ? [] : ['iproute2']),
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
const isRoot = process.getuid?.() === 0;
// What is cut off there is cut off nowhere else, and every port is free.
const own = { ...process.env, CARILLON_TEST_NETWORK: 'own' };
let run;
let env = process.env;
let leave = () => undefined;
if (command === 'test') {
  run = [join(bin, 'vitest'), 'run', '--config', 'test/cluster/vitest.config.ts', ...more];
  if (isRoot && has('unshare') && has('ip')) {
    run = [
      'unshare',
      '--net',
      '--mount',
      'sh',
      '-c',
      'ip link set lo up && exec "$@"',
      'sh',
      ...run,
    ];
    env = own;
  }
} else {
  run = [join(bin, 'node'), 'test/cluster/run.ts'];
  const name = `carillon-${process.pid}`;
  if (isRoot && has('ip') && spawnSync('ip', ['netns', 'add', name]).status === 0) {
    spawnSync('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
    run = ['ip', 'netns', 'exec', name, ...run];
    env = { ...own, CARILLON_NETNS: name };
    leave = () => spawnSync('ip', ['netns', 'del', name]);
  }
}
// A terminal tells the whole group of Ctrl-C; what runs ends by itself, and this after it.
const child = spawn(run[0], run.slice(1), { cwd: root, stdio: 'inherit', env });
process.on('SIGINT', () => undefined);
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('close', (status) => {
  leave();
  process.exit(status ?? 1);
});
