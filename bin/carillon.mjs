#!/usr/bin/env node
// Runs the command line on the pinned Node version, because the system's Node may not support TypeScript.
import { spawnSync } from 'node:child_process';
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
  const child = spawnSync(pinned, [fileURLToPath(main), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  process.exit(child.status ?? 1);
}
