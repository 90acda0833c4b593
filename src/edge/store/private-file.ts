import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from './make-folder.ts';

const PRIVATE = 0o600;

/** Creates a file that only its owner can read, before SQLite opens it, so that its journals inherit the mode. */
export function makePrivate(path: string): void {
  closeSync(openSync(path, 'a', PRIVATE));
  chmodSync(path, PRIVATE);
}

/**
 * Creates a file that only its owner can read, and returns when its content is on the disk. Throws EEXIST if the file exists. A
 * process that dies, or a full disk, leaves no part of it.
 */
export function createPrivate(path: string, content: Uint8Array): void {
  const draft = `${path}.${randomBytes(8).toString('hex')}.new`;
  try {
    writeFileSync(draft, content, { mode: PRIVATE, flush: true });
    nameNew(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(path));
}

/** Errors of file systems without hard links, for example FAT. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** Gives a file a new name. Throws EEXIST if a file has it. */
function nameNew(draft: string, path: string): void {
  try {
    // Unlike a rename, a link replaces no file.
    linkSync(draft, path);
  } catch (error) {
    const { code = '' } = error as { readonly code?: string };
    if (!NO_LINKS.includes(code)) throw error;
    if (existsSync(path)) throw Object.assign(new Error(`${path} exists`), { code: 'EEXIST' });
    renameSync(draft, path);
  }
}

/**
 * Writes a file that only its owner can read, and returns when its content is on the disk. A reader, also after a power
 * failure, sees the earlier content or the new one, never a part.
 */
export function replacePrivate(path: string, content: string): void {
  makeFolder(dirname(path));
  const draft = `${path}.new`;
  writeFileSync(draft, content, { mode: PRIVATE });
  renameSynced(draft, path);
}

/** Renames a file after its content is on the disk, and returns when the new name is. */
export function renameSynced(from: string, to: string): void {
  syncFile(from);
  renameSync(from, to);
  syncFolder(dirname(to));
}

export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes new names in the folder durable. Some file systems cannot sync a folder; they are left to their own guarantees. */
export function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } catch (error) {
    const { code = '' } = error as { readonly code?: string };
    if (!['EINVAL', 'ENOTSUP', 'EBADF'].includes(code)) throw error;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Gives a file to the owner of its folder if root runs this process: the service, which runs as that owner, must be able to
 * use what an operator's command creates.
 */
export function giveToFolderOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  chownSync(path, uid, gid);
}
