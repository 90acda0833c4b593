#!/usr/bin/env node
// Runs the command line on the pinned Node version, because the system's Node may not support TypeScript.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const NEEDED_MAJOR = 24;
const main = new URL('../src/cli/main.ts', import.meta.url);

if (Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR) {
  await import(main.href);
} else {
  const pinned = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
  if (!existsSync(pinned)) {
    process.stderr.write('carillon is not set up yet: run `npm start` or `npm run build` once\n');
    process.exit(1);
  }
  const child = spawn(pinned, [fileURLToPath(main), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  const forward = (signal) => {
    // A terminal has sent SIGINT to the child too.
    if (signal === 'SIGTERM' || !process.stdin.isTTY) child.kill(signal);
  };
  const signals = ['SIGINT', 'SIGTERM'];
  for (const signal of signals) process.on(signal, forward);
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    for (const one of signals) process.off(one, forward);
    process.exitCode = 1;
    process.kill(process.pid, signal);
  });
}
