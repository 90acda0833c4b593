// Lock of the set-up: concurrent starts build only once. The lock is a folder with the process ID of its owner.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Age from which a lock without a readable owner is stale. */
const STALE_MS = 15 * 60_000;

/** Takes the lock and returns true, or returns false if another process holds it. Removes a stale lock. */
export function tryLock(lockDir) {
  if (lockIsStale(lockDir)) rmSync(lockDir, { recursive: true, force: true });
  try {
    mkdirSync(lockDir);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
  writeFileSync(join(lockDir, 'pid'), String(process.pid));
  return true;
}

/** Releases the lock if this process holds it. */
export function unlock(lockDir) {
  if (ownerOf(lockDir) === process.pid) rmSync(lockDir, { recursive: true, force: true });
}

/** Returns whether the owner has ended. A living owner keeps its lock, however long it builds. */
function lockIsStale(lockDir) {
  const takenMs = statSync(lockDir, { throwIfNoEntry: false })?.mtimeMs;
  if (takenMs === undefined) return false;
  const pid = ownerOf(lockDir);
  if (pid === undefined) return Date.now() - takenMs > STALE_MS;
  // In a container, processes of different runs have the same ID.
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'ESRCH';
  }
  return isOther(pid);
}

/** Returns whether the system reports that the process is another program, which got the ID of the owner. */
function isOther(pid) {
  try {
    return !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('setup.mjs');
  } catch {
    return false;
  }
}

function ownerOf(lockDir) {
  try {
    const pid = Number(readFileSync(join(lockDir, 'pid'), 'utf8'));
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
