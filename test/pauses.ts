/** Finds out when threads that carry audio in real time had to wait for a processor. */
import { readdirSync, readFileSync } from 'node:fs';

/** A longer wait can lose or shift audio: it is above the shortest delay of the jitter buffer. */
const PAUSE_MS = 30;
const SAMPLE_MS = 20;
/** Samples after which new threads are looked for. */
const REFRESH_SAMPLES = 10;
const NS_PER_MS = 1e6;
/** Threads of the native engine for media, streams and DTLS. */
const NATIVE_THREAD = /^carillon-(media|stream|dtls)/;

/** Time for which each thread waited for a processor so far, in ms. The path of its statistics in /proc is the key. */
type Waits = Map<string, number>;

/** This process, and the programs that it started. */
const processes = new Set<number>([process.pid]);
const waits: Waits = new Map();
let watchers = 0;
let samples = 0;
let sampledAtMs = 0;
let timer: NodeJS.Timeout | undefined;
/** Start and length of the last pause. */
let latest = { endMs: Number.NEGATIVE_INFINITY, lengthMs: 0 };

/** Includes the threads of a program. The caller must call `forgetProcess` when it ends. */
export const includeProcess = (id: number): void => void processes.add(id);
export const forgetProcess = (id: number): void => void processes.delete(id);

export interface PauseWatch {
  /** Length of the last pause since the start of the watch, in ms; undefined if there was none. */
  pauseMs(): number | undefined;
  end(): void;
}

/** Starts to watch for pauses of at least 30 ms. All watches share one timer. */
export function watchPauses(): PauseWatch {
  if (watchers === 0) {
    sampledAtMs = performance.now();
    findThreads();
    timer = setInterval(sample, SAMPLE_MS);
  }
  watchers += 1;
  const startMs = performance.now();
  return {
    pauseMs: () => {
      sample();
      return latest.endMs >= startMs ? latest.lengthMs : undefined;
    },
    end: () => {
      watchers -= 1;
      if (watchers === 0) clearInterval(timer);
    },
  };
}

function sample(): void {
  const nowMs = performance.now();
  // The timer of this process was late by the first value.
  let longestMs = nowMs - sampledAtMs - SAMPLE_MS;
  sampledAtMs = nowMs;
  for (const [path, before] of waits) {
    const waited = waitOf(path);
    if (waited === undefined) waits.delete(path);
    else {
      waits.set(path, waited);
      longestMs = Math.max(longestMs, waited - before);
    }
  }
  if (longestMs >= PAUSE_MS) latest = { endMs: nowMs, lengthMs: longestMs };
  samples += 1;
  if (samples % REFRESH_SAMPLES === 0) findThreads();
}

function findThreads(): void {
  for (const id of processes)
    for (const thread of unlessGone(() => readdirSync(`/proc/${id}/task`)) ?? []) {
      const path = `/proc/${id}/task/${thread}`;
      if (waits.has(path)) continue;
      const name = unlessGone(() => readFileSync(`${path}/comm`, 'utf8')) ?? '';
      if (thread !== String(id) && !NATIVE_THREAD.test(name)) continue;
      const waited = waitOf(path);
      if (waited !== undefined) waits.set(path, waited);
    }
}

/** Second number of https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat, in ms. */
function waitOf(path: string): number | undefined {
  const statistics = unlessGone(() => readFileSync(`${path}/schedstat`, 'utf8'));
  return statistics === undefined ? undefined : Number(statistics.split(' ')[1]) / NS_PER_MS;
}

/** Reads about a thread. It may end at any time, and systems other than Linux have no such files. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
