import { chmodSync, closeSync, openSync } from 'node:fs';

/** A file that its owner alone may read, made before SQLite opens it so that its journals inherit the mode. */
export function makePrivate(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
}
