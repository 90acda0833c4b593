/** Folders, made one level at a time. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const PRIVATE = 0o700;

/**
 * Makes the folder and those above it, for the owner alone. `mkdir` of Node with `recursive` never returns where a parent such as
 * /proc accepts no folders; this function throws the system error there.
 */
export function makeFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  const parent = dirname(path);
  if (found === undefined && parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: PRIVATE });
  } catch (error) {
    // Another process made it in the meantime.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
