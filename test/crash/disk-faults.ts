/**
 * Disk faults: the k-th write, sync or truncation of a billing process fails, with an I/O error or a full disk, for each k.
 * `write-log.c` injects the failure.
 */
import { spawn } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../edge/store/open.ts';
import { CHILD, findFaults, witnessOf } from './crash.ts';
import { atPowerLosses, recordedIn } from './power-loss.ts';

export interface DiskFault {
  readonly kind: 'EIO' | 'ENOSPC';
  /** First operation that fails, from 1. */
  readonly at: number;
  /** Number of operations that fail. */
  readonly count: number;
}

export interface DiskFaultRun {
  /** Promises that the store broke. */
  readonly faults: readonly string[];
  /** Errors that the store reported to its callers. */
  readonly reported: readonly string[];
  readonly settled: number;
  /** Whether the process executed so many operations that one failed. */
  readonly failed: boolean;
}

/** Number of operations that fail if the disk stays broken. */
export const ALL_LATER = 1_000_000;
const POWER_LOSSES = 2;

/** All faults that a run of `calls` calls may meet, until one meets none. Calls `seen` with each run. */
export async function atEachOperation(
  workspace: string,
  library: string,
  options: {
    readonly clean: string;
    readonly kind: DiskFault['kind'];
    readonly count: number;
    readonly calls: number;
    readonly step: number;
    readonly from: number;
  },
  seen: (run: DiskFaultRun, at: number) => void,
): Promise<void> {
  const { clean, kind, count, calls, step, from } = options;
  for (let at = from; ; at += step) {
    const folder = join(workspace, 'data');
    rmSync(folder, { recursive: true, force: true });
    cpSync(clean, folder, { recursive: true });
    const run = await billWithDiskFault(folder, library, { kind, at, count }, { clean, calls });
    seen(run, at);
    if (!run.failed) return;
  }
}

/** Bills `calls` calls in `folder` with the fault, then opens the store without it and checks the books. */
async function billWithDiskFault(
  folder: string,
  library: string,
  { kind, at, count }: DiskFault,
  { clean, calls }: { readonly clean: string; readonly calls: number },
): Promise<DiskFaultRun> {
  const log = `${folder}.log`;
  rmSync(log, { force: true });
  const child = spawn(process.execPath, [CHILD, folder, `d${at}`, 'full', String(calls)], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      LD_PRELOAD: library,
      WRITE_LOG: log,
      WRITE_LOG_FOLDER: folder,
      FAIL_KIND: kind,
      FAIL_AT: String(at),
      FAIL_COUNT: String(count),
    },
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await new Promise((resolve) => child.once('close', resolve));
  const witness = witnessOf(said);
  const faults = [...(await findFaults(folder, witness))];
  // A kernel may drop data after a failed sync. The log lacks this sync, so that a power failure may remove its data.
  const recorded = recordedIn(log, clean, folder);
  const target = `${folder}.after`;
  const losses = { points: POWER_LOSSES, target, random: seededRandom(at) };
  await atPowerLosses(recorded, losses, async (after, before) => {
    for (const fault of await findFaults(after, before)) faults.push(`power failure: ${fault}`);
  });
  const started = said.startsWith('ready');
  if (started && !said.endsWith('end\n')) faults.push('the process ended early');
  const reported = said.split('\n').filter((line) => line.startsWith('failed '));
  const failed = recorded.changes.some((change) => change.kind === 'fault');
  return { faults, reported, settled: witness.settled.length, failed };
}
