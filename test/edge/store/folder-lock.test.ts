import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FolderLock } from '../../../src/edge/store/folder-lock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('refuses a second holder until the first releases', () => {
  const file = join(folder, 'a.lock');
  const first = new FolderLock(file);
  expect(() => new FolderLock(file)).toThrow('another service runs on this data folder');
  first.release();
  new FolderLock(file).release();
});

it('names a damaged lock file and what to do', () => {
  const file = join(folder, 'a.lock');
  writeFileSync(file, 'this is not a database, and longer than its header of 100 bytes'.repeat(20));
  expect(() => new FolderLock(file)).toThrow(/a\.lock cannot be locked: .*delete it/);
  expect(() => new FolderLock(join(folder, 'missing', 'a.lock'))).toThrow(/cannot be locked/);
});
