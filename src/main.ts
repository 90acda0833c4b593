#!/usr/bin/env node
/** The service: settings from file and environment, one line when it cannot start, a drain on SIGTERM and SIGINT. */
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServiceError } from './base/errors.ts';
import { type Service, startService } from './compose.ts';
import { loadSettings } from './config/load.ts';

const NODE_MAJOR = 24;

async function main(): Promise<void> {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < NODE_MAJOR)
    fail(`Node ${NODE_MAJOR} is needed, this is ${process.versions.node}: start with npm start`);
  const root = fileURLToPath(new URL('..', import.meta.url));
  const settings = loadSettings(process.env, join(root, 'config', 'default.json'));
  if (process.argv.includes('--check-config')) {
    console.log('settings are valid');
    return;
  }
  const service = await startService(settings, root);
  if (service.welcome !== undefined) console.log(service.welcome);
  stopOnSignals(service);
  // Under `npm start`: the next start is fast also after a kill.
  flushCompileCache();
}

function stopOnSignals(service: Service): void {
  let stopping = false;
  const stop = (): void => {
    // A second signal does not wait any longer.
    if (stopping) process.exit(1);
    stopping = true;
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(`stopping failed: ${String(error)}`),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function fail(line: string): never {
  console.error(`carillon: ${line}`);
  process.exit(1);
}

main().catch((error: unknown) => {
  if (error instanceof ServiceError) fail(error.message);
  console.error(error);
  process.exit(1);
});
