import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const { tryLock, unlock } = (await import(
  new URL('../../scripts/setup-lock.mjs', import.meta.url).href
)) as {
  readonly tryLock: (lockDir: string) => boolean;
  readonly unlock: (lockDir: string) => void;
};

let folder: string;
let lock: string;
let other: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-lock-'));
  lock = join(folder, 'setup.lock');
});
afterEach(() => {
  other?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** Starts a process that waits, with the given arguments. */
function start(...args: readonly string[]): number {
  other = spawn(process.execPath, ['-e', 'process.stdin.resume()', ...args], { stdio: 'pipe' });
  return other.pid ?? 0;
}

/** Creates a lock that was taken an hour ago. */
function taken(pid?: number): void {
  mkdirSync(lock);
  if (pid !== undefined) writeFileSync(join(lock, 'pid'), String(pid));
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(lock, hourAgo, hourAgo);
}

it('is held by a living set-up, however long it takes', () => {
  taken(start('setup.mjs'));
  expect(tryLock(lock)).toBe(false);
  unlock(lock);
  expect(existsSync(lock)).toBe(true);
});

it('is taken over from a set-up that ended, whose process ID may be in use again', async () => {
  const pid = start();
  taken(pid);
  if (process.platform === 'linux') expect(tryLock(lock)).toBe(true);
  rmSync(lock, { recursive: true, force: true });
  const ended = new Promise((resolve) => other?.once('exit', resolve));
  other?.kill('SIGKILL');
  await ended;
  for (const owner of [pid, process.pid, undefined]) {
    taken(owner);
    expect(tryLock(lock), String(owner)).toBe(true);
    unlock(lock);
    expect(existsSync(lock)).toBe(false);
  }
});
