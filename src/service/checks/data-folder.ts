/** Whether the data folder can be used, tried by writing into it, or into the folder that it will be made in. */
import { mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Free bytes below which the disk counts as full; the running service uses the same limit. */
const LEAST_FREE_BYTES = 1_048_576;
const PROBE_BYTES = 4096;

const REASONS: Readonly<Record<string, string>> = {
  ENOTDIR: 'a part of the path is a file, not a folder',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the filesystem is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOENT: 'no folder can be made there',
  EMFILE: 'this process may not open more files (ulimit -n)',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'symbolic links lead in a circle',
};

/** One line that names `dataDir`, or undefined where the folder can be used. Leaves no file behind. */
export function dataFolderProblem(dataDir: string): string | undefined {
  const path = resolve(dataDir);
  try {
    const found = nearest(path);
    if (!statSync(found).isDirectory()) return unusable(path, 'it is a file, not a folder');
    const { bavail, bsize } = statfsSync(found);
    probe(found);
    return bavail * bsize < LEAST_FREE_BYTES ? unusable(path, 'the disk is full') : undefined;
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    return unusable(path, REASONS[code] === undefined ? message : `${REASONS[code]} (${code})`);
  }
}

const unusable = (path: string, why: string): string =>
  `dataDir ${path} (CARILLON_DATA_DIR) cannot be used: ${why}`;

/** The folder itself, or the lowest one above it that exists. */
function nearest(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined || path === dirname(path) ? path : nearest(dirname(path));
}

function probe(folder: string): void {
  const own = mkdtempSync(join(folder, '.carillon-probe-'));
  try {
    writeFileSync(join(own, 'probe'), Buffer.alloc(PROBE_BYTES));
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
