/**
 * Loaded into every thread of a service (`--import`): its CPU profile between the process's first and second SIGUSR2, as
 * `<thread id>.cpuprofile` in the folder of `BENCH_PROFILES` (open one in a browser's developer tools). With `BENCH_ALLOCATIONS`
 * what the main thread allocates instead, whether it is still there or not, as `0.heapprofile`.
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

/** Shorter ones cost as much as the calls: V8 spends a thread on the samples. */
const INTERVAL_US = 1000;
/** Allocated bytes between two samples. */
const INTERVAL_BYTES = 4096;

const session = new Session();
session.connect();
let running = false;

const write = (kind: string, profile: object): void =>
  writeFileSync(
    join(process.env['BENCH_PROFILES'] ?? '.', `${threadId}.${kind}`),
    JSON.stringify(profile),
  );

function turnTime(): void {
  running = !running;
  if (running) {
    session.post('Profiler.enable');
    session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
    session.post('Profiler.start');
    return;
  }
  session.post('Profiler.stop', (error, found) => {
    if (error === null) write('cpuprofile', found.profile);
  });
}

function turnAllocations(): void {
  running = !running;
  if (running) {
    const collectedToo = {
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    };
    session.post('HeapProfiler.enable');
    session.post('HeapProfiler.startSampling', {
      samplingInterval: INTERVAL_BYTES,
      ...collectedToo,
    });
    return;
  }
  session.post('HeapProfiler.stopSampling', (error, found) => {
    if (error === null) write('heapprofile', found.profile);
  });
}

const takesAllocations = process.env['BENCH_ALLOCATIONS'] !== undefined;
const turn = takesAllocations ? turnAllocations : turnTime;

const channel = new BroadcastChannel('profile');
channel.unref();
channel.onmessage = takesAllocations ? () => undefined : turn;
if (isMainThread) {
  process.on('SIGUSR2', () => {
    turn();
    channel.postMessage('turn');
  });
}
