#!/usr/bin/env node
// `npm run interop`: other people's programs call ours. Installs them when root on Debian or Ubuntu, and skips with a
// line what is missing. With arguments only the named files run.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const PROGRAMS = {
  sipp: ['sip-tester'],
  baresip: ['baresip-core'],
  sox: ['sox'],
  chromium: ['chromium'],
  kamailio: ['kamailio', 'kamailio-tls-modules', 'kamailio-websocket-modules'],
  linphonec: ['linphone-cli'],
  ffmpeg: ['ffmpeg'],
  'gst-launch-1.0': [
    'gstreamer1.0-tools',
    ...['base', 'good', 'bad'].map((name) => `gstreamer1.0-plugins-${name}`),
    'gstreamer1.0-libav',
  ],
  'swift-proxy-server': ['swift-proxy', 'swift-account', 'swift-container', 'swift-object'],
};

const has = (program) =>
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));
const apt = (args) =>
  spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });

const packages = Object.entries(PROGRAMS)
  .filter(([program]) => !has(program))
  .flatMap(([, names]) => names);
if (packages.length > 0) {
  const install = ['install', '-y', '-q', '--no-install-recommends', ...packages];
  if (process.getuid?.() === 0 && has('apt-get')) {
    console.log(`installing ${packages.join(' ')}`);
    apt(['update', '-q']);
    apt(install);
  } else {
    console.log(
      `not installed: ${packages.join(', ')}. To run everything:  sudo apt-get ${install.join(' ')}`,
    );
  }
}

// Many browsers in one process. This large library is installed only for this test.
const crowd = join(root, 'test', 'interop', 'wrtc');
if (!existsSync(join(crowd, 'node_modules'))) {
  const npm = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', npm, { cwd: crowd, stdio: 'inherit' });
  if (status !== 0) console.log('not installed: @roamhq/wrtc');
}

const run = spawnSync(
  join(root, 'node_modules', '.bin', 'vitest'),
  ['run', '--config', 'test/interop/vitest.config.ts', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
process.exit(run.status ?? 1);
