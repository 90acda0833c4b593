import { chmodSync, closeSync, openSync } from 'node:fs';

/** Creates a file that only its owner can read, before SQLite opens it, so that its journals inherit the mode. */
export function makePrivate(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
}
