/**
 * Loaded into every thread of a service (`--import`): its CPU profile between the process's first and second SIGUSR2, as
 * `<thread id>.cpuprofile` in the folder of `BENCH_PROFILES` (open one in a browser's developer tools).
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

/** Shorter ones cost as much as the calls: V8 spends a thread on the samples. */
const INTERVAL_US = 1000;

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });

let running = false;

function turn(): void {
  running = !running;
  if (running) {
    session.post('Profiler.start');
    return;
  }
  const file = join(process.env['BENCH_PROFILES'] ?? '.', `${threadId}.cpuprofile`);
  session.post('Profiler.stop', (error, found) => {
    if (error === null) writeFileSync(file, JSON.stringify(found.profile));
  });
}

const channel = new BroadcastChannel('profile');
channel.unref();
channel.onmessage = turn;
if (isMainThread) {
  process.on('SIGUSR2', () => {
    turn();
    channel.postMessage('turn');
  });
}
