/** Checks of the machine: Node version, clock, process limits and disk. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, type StatsFs, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { loadNativeAddon } from '../../base/native-addon.ts';
import type { Settings } from '../../config/schema.ts';
import { type Finding, good, problem, reasonOf, skipped, warning } from './finding.ts';

const NODE_MAJOR = 24;
const GIB = 2 ** 30;
/** File descriptors per call: RTP and RTCP of two legs, one stream and one HTTP connection. */
const DESCRIPTORS_PER_CALL = 6;
const DESCRIPTORS_BESIDE = 2000;
const RECEIVE_BUFFER_BYTES = 4 * 2 ** 20;

/** Access to facts about the machine; replaced in tests. */
export interface Machine {
  read(path: string): string | undefined;
  /** Returns the standard output of a program, or undefined if it is missing or fails. */
  ask(command: string, args: readonly string[]): string | undefined;
  readonly isRoot: boolean;
}

export const thisMachine: Machine = {
  read(path) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  },
  ask(command, args) {
    const { status, stdout } = spawnSync(command, [...args], { encoding: 'utf8', timeout: 5000 });
    return status === 0 ? stdout.trim() : undefined;
  },
  isRoot: process.getuid?.() === 0,
};

export function checkNode(version: string): Finding {
  const major = Number(version.split('.')[0]);
  if (major >= NODE_MAJOR) return good('node', `Node ${version}`);
  return problem(
    'node',
    `Node ${version}`,
    `The service needs Node ${NODE_MAJOR}; npm start and the installed service include it.`,
  );
}

/** Checks that the native media engine loads, and names its version of libopus. */
export function checkEngine(load: () => unknown = loadNativeAddon): Finding {
  try {
    const { opusVersion } = load() as { readonly opusVersion: string };
    return good('media engine', opusVersion);
  } catch (error) {
    const { message, cause } = error as Error;
    return problem(
      'media engine',
      cause instanceof Error ? `${message}: ${cause.message}` : message,
      'Run npm run build in the project folder. In an installed tree, install it again.',
    );
  }
}

/** Checks NTP synchronization. Charges, campaigns and certificates depend on the wall clock. */
export function checkClock(machine: Machine): Finding {
  const synchronised = machine.ask('timedatectl', ['show', '-p', 'NTPSynchronized', '--value']);
  if (synchronised === 'yes') return good('clock', 'synchronised by NTP');
  if (synchronised === undefined)
    return skipped('clock', 'timedatectl is not available: the clock was not checked');
  return warning(
    'clock',
    'not synchronised by NTP',
    'Call times and certificates depend on the clock: run timedatectl set-ntp true, or install chrony.',
  );
}

export function checkLimits(
  settings: Pick<Settings, 'calls'>,
  machine: Machine,
): readonly Finding[] {
  return [openFiles(settings, machine), realTime(machine), receiveBuffer(machine)];
}

function openFiles({ calls }: Pick<Settings, 'calls'>, machine: Machine): Finding {
  const needed = calls.maxConcurrent * DESCRIPTORS_PER_CALL + DESCRIPTORS_BESIDE;
  const limits = serviceLimits(machine);
  // Node raises the soft limit to the hard limit automatically.
  const [, , hard] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(limits) ?? [];
  if (hard === undefined) return skipped('open files', 'process limits are not readable');
  if (hard === 'unlimited' || Number(hard) >= needed)
    return good('open files', `up to ${hard}, ${needed} are enough`);
  return problem(
    'open files',
    `up to ${hard}, and ${calls.maxConcurrent} calls (calls.maxConcurrent) need ${needed}`,
    `Set LimitNOFILE=${needed} in the unit, run ulimit -n ${needed} before npm start, or lower calls.maxConcurrent.`,
  );
}

function realTime(machine: Machine): Finding {
  const [, , hard] = /^Max realtime priority\s+(\S+)\s+(\S+)/m.exec(serviceLimits(machine)) ?? [];
  if (hard === undefined) return skipped('real time', 'process limits are not readable');
  if (machine.isRoot || Number(hard) > 0)
    return good('real time', 'the media thread may use real-time priority');
  return warning(
    'real time',
    'the media thread may not use real-time priority',
    'Audio may break up when the machine is busy. Set LimitRTPRIO=20 in the unit, as in deploy/carillon.service.',
  );
}

/** Reads the limits of the installed service if it runs, otherwise those of this process. */
function serviceLimits(machine: Machine): string {
  const pid = machine.ask('systemctl', ['show', '-p', 'MainPID', '--value', 'carillon.service']);
  const running = pid !== undefined && /^[1-9]\d*$/.test(pid);
  return (
    machine.read(`/proc/${running ? pid : 'self'}/limits`) ??
    machine.read('/proc/self/limits') ??
    ''
  );
}

function receiveBuffer(machine: Machine): Finding {
  const bytes = Number(machine.read('/proc/sys/net/core/rmem_max'));
  if (!(bytes > 0)) return skipped('receive buffers', 'net.core.rmem_max is not readable');
  if (bytes >= RECEIVE_BUFFER_BYTES) return good('receive buffers', `up to ${bytes} bytes`);
  return warning(
    'receive buffers',
    `up to ${bytes} bytes (net.core.rmem_max)`,
    'Bursts of SIP and RTP are lost above a few hundred calls. Copy deploy/60-carillon.conf to /etc/sysctl.d.',
  );
}

export function checkDisk(
  dataDir: string,
  space: (folder: string) => Pick<StatsFs, 'bavail' | 'blocks' | 'bsize'> = statfsSync,
): Finding {
  let folder = dataDir;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, blocks, bsize } = space(folder);
    const free = bavail * bsize;
    const share = bavail / Math.max(1, blocks);
    const found = `${(free / GIB).toFixed(1)} GiB free for ${dataDir}`;
    const advice =
      'Recordings take 1 MB a minute as WAV and 0.2 MB as MP3: free disk space, or lower retention.recordingDays.';
    if (free < GIB) return problem('disk', found, advice);
    return share < 0.1 ? warning('disk', found, advice) : good('disk', found);
  } catch (error) {
    return problem(
      'disk',
      `${folder} is not writable: ${reasonOf(error)}`,
      'Make the data folder (dataDir) writable for the user of the service, or choose another folder.',
    );
  }
}
