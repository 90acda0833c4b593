/** Other products that are measured in the same way, if they are installed. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Core of the measured program, the same as for this service; the load uses the other one. */
export const CORE = 0;

export interface RunningPeer {
  /** Process ID of the root of the peer's process tree. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** Returns the program that `variable` names, otherwise `name` in PATH. If missing, prints a line and returns undefined. */
export function programOf(name: string, variable: string): string | undefined {
  const named = process.env[variable];
  const folders = (process.env['PATH'] ?? '').split(':');
  const places = named === undefined ? folders.map((folder) => join(folder, name)) : [named];
  const found = places.find(isProgram);
  if (found === undefined) leftOut(`${name} is not in PATH, and ${variable} names no program`);
  return found;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function leftOut(why: string): void {
  process.stdout.write(`${why}: no rows of it\n`);
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
