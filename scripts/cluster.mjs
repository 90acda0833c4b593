#!/usr/bin/env node
// `npm run cluster` starts PostgreSQL, Redis, Kamailio and three nodes of one service, until Ctrl-C. `npm run cluster -- test` runs
// failure scenarios. Root runs them in a separate network namespace. Installs what is missing when root on Debian or Ubuntu.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [command = 'start', ...more] = process.argv.slice(2);
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const has = (program) =>
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));
/** Packages by module. All other modules are in the package `kamailio`. */
const KAMAILIO_PACKAGES = {
  tls: 'kamailio-tls-modules',
  websocket: 'kamailio-websocket-modules',
};
const hasPostgres = () =>
  existsSync('/usr/lib/postgresql') && readdirSync('/usr/lib/postgresql').length > 0;

/** Debian packages of the Kamailio modules that deploy/kamailio loads and that no folder of modules has. */
function missingKamailio() {
  if (!has('kamailio')) return ['kamailio', 'kamailio-tls-modules', 'kamailio-websocket-modules'];
  const folders = process.env.KAMAILIO_MODULES?.split(':') ?? moduleFolders();
  const settings = readFileSync(join(root, 'deploy', 'kamailio', 'kamailio.cfg'), 'utf8');
  const modules = [...settings.matchAll(/^\s*loadmodule "(\w+)\.so"/gm)].map(
    ([, module]) => module,
  );
  const missing = modules.filter(
    (module) => !folders.some((folder) => existsSync(join(folder, `${module}.so`))),
  );
  if (missing.length > 0) console.error(`Kamailio lacks the modules ${missing.join(', ')}`);
  return [...new Set(missing.map((module) => KAMAILIO_PACKAGES[module] ?? 'kamailio'))];
}

function moduleFolders() {
  const below = existsSync('/usr/lib') ? readdirSync('/usr/lib') : [];
  const parents = ['/usr/lib', '/usr/lib64', '/usr/local/lib', '/usr/local/lib64'];
  return [...parents, ...below.map((name) => join('/usr/lib', name))].map((parent) =>
    join(parent, 'kamailio', 'modules'),
  );
}

const wanted = [
  ...(has('redis-server') ? [] : ['redis-server']),
  ...(hasPostgres() ? [] : ['postgresql']),
  ...missingKamailio(),
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

const stillMissing = wanted.length > 0 ? missingKamailio() : [];
if (stillMissing.length > 0) {
  console.error(`not installed: ${stillMissing.join(', ')}`);
  process.exit(1);
}

const bin = join(root, 'node_modules', '.bin');
const isRoot = process.getuid?.() === 0;
const ip = (...args) => spawnSync('ip', args, { encoding: 'utf8' });
const name = `carillon-${process.pid}`;
// Contains all files of this run.
const folder = join(tmpdir(), name);
for (const stale of leftBehind()) end(stale);
mkdirSync(folder);
// As root, PostgreSQL runs under another user, which must be able to enter the folder.
chmodSync(folder, 0o755);

const env = { ...process.env, TMPDIR: folder };
// In the network namespace, every port is free and network faults affect only this run.
const own = { ...env, CARILLON_TEST_NETWORK: 'own' };
let run;
let child;
if (command === 'test') {
  run = [join(bin, 'vitest'), 'run', '--config', 'test/cluster/vitest.config.ts', ...more];
  const isOwn = isRoot && has('unshare') && has('ip');
  if (isOwn) {
    const spaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
    run = ['unshare', ...spaces, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...run];
  }
  child = start(isOwn ? own : env);
  // unshare ignores SIGTERM; SIGKILL also ends its children.
  ends(() => child.kill(isOwn ? 'SIGKILL' : 'SIGTERM'));
} else {
  run = [join(bin, 'node'), 'test/cluster/run.ts'];
  const isOwn = isRoot && has('ip') && ip('netns', 'add', name).status === 0;
  if (isOwn) {
    ip('-n', name, 'link', 'set', 'lo', 'up');
    run = ['ip', 'netns', 'exec', name, ...run];
  }
  child = start(isOwn ? { ...own, CARILLON_NETNS: name } : env, ['ipc']);
  ends((signal) => child.kill(signal));
}
child.on('close', (status) => {
  end(name);
  process.exit(status ?? 1);
});

/** Starts the program with a channel through which it detects the end of this process. */
function start(environment, channel = []) {
  const stdio = ['inherit', 'inherit', 'inherit', ...channel];
  return spawn(run[0], run.slice(1), { cwd: root, stdio, env: environment });
}

/** Ctrl-C reaches the whole process group. The children stop first, then this process. */
function ends(act) {
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => act(signal));
}

/** Names of killed runs that left processes or files behind. */
function leftBehind() {
  const spaces = existsSync('/run/netns') ? readdirSync('/run/netns') : [];
  const names = [...spaces, ...readdirSync(tmpdir())].filter((one) => /^carillon-\d+$/.test(one));
  return new Set(names.filter((one) => !runs(one.slice('carillon-'.length))));
}

function runs(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('cluster.mjs');
  } catch {
    return false;
  }
}

/** Removes all processes, namespaces and files of a run. */
function end(one) {
  const below = join(tmpdir(), one);
  const isIn = (pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`TMPDIR=${below}\0`);
    } catch {
      return false;
    }
  };
  const hasSpace = existsSync(`/run/netns/${one}`);
  const inSpace = hasSpace ? ip('netns', 'pids', one).stdout.trim().split(/\s+/) : [];
  const known = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isIn(pid));
  for (const pid of new Set([...inSpace, ...known].filter(Boolean).map(Number))) {
    if (pid === process.pid) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
  if (hasSpace) ip('netns', 'del', one);
  rmSync(below, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
