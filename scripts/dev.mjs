#!/usr/bin/env node
// `npm run dev` runs the service and restarts it when a file changes; changed C++ is built first. It does not use `node --watch`, which
// reports modules of a worker thread as messages of that thread; the service would read these as replies.
import { spawn, spawnSync } from 'node:child_process';
import { watch } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const WATCHED = ['src', 'config', 'native'];
/** Delay in ms after the last change, because editors write a file in several steps. */
const QUIET_MS = 150;

const say = (line) => process.stderr.write(`carillon dev: ${line}\n`);
let service;
let timer;
let isLeaving = false;
let isWanted = false;

function start() {
  isWanted = false;
  const built = spawnSync(process.execPath, [join(root, 'scripts', 'setup.mjs'), '--dev'], {
    stdio: 'inherit',
  });
  if (built.status !== 0) return say('did not build; waiting for a change');
  service = spawn(process.execPath, ['src/main.ts'], {
    cwd: root,
    stdio: 'inherit',
    // A restart does not wait for active calls.
    env: { CARILLON_CALLS_DRAIN_MS: '0', ...process.env },
  });
  service.once('exit', (code) => {
    service = undefined;
    if (isLeaving) process.exit(code ?? 1);
    if (isWanted) start();
    else say('ended; waiting for a change');
  });
}

function restart(file) {
  say(`${file} changed`);
  isWanted = true;
  if (service === undefined) start();
  else service.kill('SIGTERM');
}

for (const folder of WATCHED) {
  watch(join(root, folder), { recursive: true }, (_event, name) => {
    clearTimeout(timer);
    timer = setTimeout(restart, QUIET_MS, join(folder, String(name)));
  });
}
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    isLeaving = true;
    if (service === undefined) process.exit(0);
    service.kill(signal);
  });
}
start();
