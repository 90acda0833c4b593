#!/usr/bin/env node
/**
 * Starts the service. SIGTERM drains and stops it; SIGHUP reloads settings. A failed start prints one line. After the
 * start, a promise rejection without a handler is logged; an uncaught exception always ends the process.
 */
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBug, ServiceError } from './base/errors.ts';
import type { Service } from './compose.ts';
import { examineSettings, refuseProblems } from './config/load.ts';
import { settingsAsYaml } from './config/show.ts';
import { checkedForStart } from './service/checks/start.ts';
import { lowerCollectorThreads } from './service/collector-threads.ts';

const NODE_MAJOR = 24;
const FLAGS = ['--check-config', '--print-config'];

async function main(flags: readonly string[]): Promise<void> {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < NODE_MAJOR)
    fail(`Node ${NODE_MAJOR} is required, this is ${process.versions.node}: use npm start`);
  const unknown = flags.find((flag) => !FLAGS.includes(flag));
  if (unknown !== undefined) fail(`unknown argument ${unknown}; there are ${FLAGS.join(', ')}`);
  const root = fileURLToPath(new URL('..', import.meta.url));
  const examine = () => examineSettings(process.env, join(root, 'config', 'default.json'));
  const examined = examine();
  const { lists, problems } = await checkedForStart(examined, root);
  if (flags.includes('--print-config')) process.stdout.write(settingsAsYaml(examined));
  if (flags.includes('--check-config')) {
    for (const problem of problems) console.error(`settings: ${problem}`);
    if (problems.length > 0) process.exit(1);
    console.log('settings are valid');
  }
  if (flags.length > 0) return;
  // A closed pipe or a full disk behind these outputs must not end the service.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  refuseProblems(problems);
  lowerCollectorThreads();
  const { settings } = examined;
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdogUs } = process.env;
  const supervisor = { socket, watchdogUs };
  // Loaded on demand: checking settings does not need the service.
  const { startService } = await import('./compose.ts');
  // Before the start, because the service can be ready before this function continues.
  const started = Promise.withResolvers<Service>();
  onSignals(started.promise);
  const service = await startService({
    settings,
    lists,
    root,
    examine,
    supervisor,
    environment: process.env,
  });
  process.on('unhandledRejection', (reason) => service.unhandledRejection(reason));
  console.log(service.banner);
  started.resolve(service);
  // Writes the compile cache now, so that the next start is fast even if this process is killed.
  flushCompileCache();
}

/** Stops the service on SIGTERM, after its start if it is still starting. Reloads its settings on SIGHUP. */
function onSignals(started: Promise<Service>): void {
  let stopping = false;
  const stop = (): void => {
    // A second signal stops immediately.
    if (stopping) process.exit(1);
    stopping = true;
    started
      .then((service) => service.stop())
      .then(
        () => process.exit(0),
        (error: unknown) => fail(`stopping failed: ${String(error)}`),
      );
  };
  const reload = (): void => void started.then((service) => service.reload());
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // On a terminal, SIGHUP means that the terminal was closed.
  process.on('SIGHUP', process.stdout.isTTY ? stop : reload);
}

const oneLine = (text: string): string => text.split('\n').join(' ');

function fail(line: string): never {
  console.error(`carillon: ${line}`);
  process.exit(1);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof ServiceError) fail(oneLine(error.message));
  // A system error (EACCES, ENOSPC, EMFILE): its message names the file, so a stack trace adds nothing.
  if (error instanceof Error && !isBug(error)) fail(oneLine(error.message));
  console.error(error);
  process.exit(1);
});
