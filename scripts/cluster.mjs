#!/usr/bin/env node
// `npm run cluster`: PostgreSQL, Redis and three nodes of one service on this machine, until Ctrl-C. `npm run cluster -- test`: their
// failure stories. Installs what is missing when root on Debian or Ubuntu.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const has = (program) =>
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));
const hasPostgres = () =>
  existsSync('/usr/lib/postgresql') && readdirSync('/usr/lib/postgresql').length > 0;

const wanted = [
  ...(has('redis-server') ? [] : ['redis-server']),
  ...(hasPostgres() ? [] : ['postgresql']),
  ...(has('kamailio') ? [] : ['kamailio']),
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

const [command = 'start', ...more] = process.argv.slice(2);
const bin = join(root, 'node_modules', '.bin');
const run =
  command === 'test'
    ? [join(bin, 'vitest'), 'run', '--config', 'test/cluster/vitest.config.ts', ...more]
    : [join(bin, 'node'), 'test/cluster/run.ts'];
const ended = spawnSync(run[0], run.slice(1), { cwd: root, stdio: 'inherit' });
process.exit(ended.status ?? 1);
