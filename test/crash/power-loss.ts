/**
 * Power failures: a library logs all writes and syncs of a billing process. From the log, the test builds what a disk may
 * hold after a power failure at any moment: synced data is complete; each later write is complete, missing or torn.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Random } from '../../src/base/ids.ts';
import { CHILD, type Witness, witnessOf } from './crash.ts';

const SOURCE = fileURLToPath(new URL('./write-log.c', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECTOR = 512;
/** Shared memory of SQLite, which is rebuilt at the next start, and the name of the start of the operating system. */
const NOT_ON_DISK = /-shm$|\.boot$/;

/** Why the library cannot be built, or undefined. */
export const powerLossMissing: string | undefined =
  spawnSync('cc', ['--version']).status === 0 ? undefined : 'a C compiler is not installed';

export function buildWriteLog(folder: string): string {
  const library = join(folder, 'write-log.so');
  const built = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, SOURCE, '-ldl']);
  if (built.status !== 0) throw new Error(`cc: ${built.stderr}`);
  return library;
}

type Change =
  | { readonly kind: 'write'; readonly path: string; readonly at: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly path: string; readonly length: number }
  | { readonly kind: 'sync' | 'unlink' | 'fault'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'said'; readonly data: Buffer };

export interface Recorded {
  readonly changes: readonly Change[];
  /** Copy of the folder before the first change. */
  readonly before: string;
  readonly folder: string;
}

/** Bills calls in `folder` until the process has printed `lines` lines, and records all changes of files. */
export async function record(
  folder: string,
  options: {
    readonly library: string;
    readonly workspace: string;
    readonly lines: number;
    readonly synchronous: 'normal' | 'full';
  },
): Promise<Recorded> {
  const before = join(options.workspace, 'before');
  rmSync(before, { recursive: true, force: true });
  cpSync(folder, before, { recursive: true });
  const log = join(options.workspace, 'writes.log');
  rmSync(log, { force: true });
  const child = spawn(process.execPath, [CHILD, folder, 'p', options.synchronous], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, LD_PRELOAD: options.library, WRITE_LOG: log, WRITE_LOG_FOLDER: folder },
  });
  let lines = 0;
  child.stdout.on('data', (text: Buffer) => {
    lines += text.toString().split('\n').length - 1;
    if (lines > options.lines) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('close', resolve));
  return recordedIn(log, before, folder);
}

/** Reads the log of a process that worked in `folder`, which was equal to `before` at its start. */
export const recordedIn = (log: string, before: string, folder: string): Recorded => ({
  changes: changesIn(readFileSync(log)),
  before,
  folder,
});

/**
 * Runs a program (an ECMAScript module that imports from the project's folder), and returns its changes of the files in `folder`
 * in their order, for example `write /a` and `sync /a`. `workspace` is another folder.
 */
export function changesOf(program: string, folder: string, workspace: string): readonly string[] {
  const log = join(workspace, 'writes.log');
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    {
      cwd: ROOT,
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        LD_PRELOAD: buildWriteLog(workspace),
        WRITE_LOG: log,
        WRITE_LOG_FOLDER: folder,
      },
    },
  );
  if (status !== 0) throw new Error(stderr);
  return changesIn(readFileSync(log)).flatMap((change) =>
    change.kind === 'said' ? [] : [`${change.kind} ${change.path.slice(folder.length)}`.trim()],
  );
}

/** Reads the log. The last record may be cut off by the kill. */
function changesIn(log: Buffer): readonly Change[] {
  const changes: Change[] = [];
  let at = 0;
  const take = (length: number): Buffer => {
    const data = log.subarray(at, at + length);
    at += length;
    return data;
  };
  for (;;) {
    const end = log.indexOf('\n', at);
    if (end < 0) return changes;
    const line = log.toString('utf8', at, end);
    at = end + 1;
    const [kind, ...rest] = line.split(' ');
    if (kind === 'said') changes.push({ kind, data: take(Number(rest[0])) });
    else if (kind === 'write') {
      const [offset = '', length = '', ...path] = rest;
      changes.push({ kind, at: Number(offset), data: take(Number(length)), path: path.join(' ') });
    } else if (kind === 'truncate')
      changes.push({ kind, length: Number(rest[0]), path: rest.slice(1).join(' ') });
    else if (kind === 'rename') {
      const to = take(Number(rest[0])).toString('utf8');
      changes.push({ kind, path: rest.slice(1).join(' '), to });
    } else if (kind === 'sync' || kind === 'unlink' || kind === 'fault')
      changes.push({ kind, path: rest.join(' ') });
    else throw new Error(`unknown record ${line}`);
  }
}

/** Files of a disk: the synced content of each, and the later changes in their order. */
class Disk {
  readonly #synced = new Map<string, Buffer>();
  readonly #pending = new Map<string, Change[]>();

  constructor(folder: string, at: string) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const file = join(folder, name);
      if (statSync(file).isFile()) this.#synced.set(join(at, name), readFileSync(file));
    }
  }

  apply(change: Change): void {
    if (change.kind === 'said' || change.kind === 'fault') return;
    const { path } = change;
    if (change.kind === 'unlink') {
      this.#synced.delete(path);
      this.#pending.delete(path);
    } else if (change.kind === 'rename') {
      this.#synced.set(
        change.to,
        this.#contentOf(path, () => 'whole'),
      );
      this.#pending.delete(change.to);
      this.#synced.delete(path);
      this.#pending.delete(path);
    } else if (change.kind === 'sync') {
      // A folder has no content.
      if (!this.#synced.has(path) && !this.#pending.has(path)) return;
      this.#synced.set(
        path,
        this.#contentOf(path, () => 'whole'),
      );
      this.#pending.delete(path);
    } else {
      const pending = this.#pending.get(path) ?? [];
      pending.push(change);
      this.#pending.set(path, pending);
    }
  }

  /** Writes to `target` what may be on the disk after a power failure now. */
  afterPowerLoss(target: string, from: string, random: Random): void {
    const fate = (): Fate => (['whole', 'missing', 'torn'] as const)[random.integer(3)] ?? 'whole';
    for (const path of new Set([...this.#synced.keys(), ...this.#pending.keys()])) {
      if (NOT_ON_DISK.test(path)) continue;
      const file = join(target, relative(from, path));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, this.#contentOf(path, fate, random));
    }
  }

  #contentOf(path: string, fate: () => Fate, random?: Random): Buffer {
    let content = this.#synced.get(path) ?? Buffer.alloc(0);
    for (const change of this.#pending.get(path) ?? []) {
      const outcome = fate();
      if (outcome === 'missing') continue;
      if (change.kind === 'truncate') content = resized(content, change.length);
      else if (change.kind === 'write') {
        const sectors = Math.ceil(change.data.length / SECTOR);
        const kept = outcome === 'torn' ? (random?.integer(sectors + 1) ?? 0) * SECTOR : Infinity;
        content = written(content, change.at, change.data.subarray(0, kept));
      }
    }
    return content;
  }
}

type Fate = 'whole' | 'missing' | 'torn';

function resized(content: Buffer, length: number): Buffer {
  const made = Buffer.alloc(length);
  content.copy(made);
  return made;
}

function written(content: Buffer, at: number, data: Buffer): Buffer {
  const made =
    at + data.length > content.length ? resized(content, at + data.length) : Buffer.from(content);
  data.copy(made, at);
  return made;
}

/**
 * Calls `check` with the folder after a power failure at each of `points` random moments, and with what the process had
 * printed before it.
 */
export async function atPowerLosses(
  { changes, before, folder }: Recorded,
  options: { readonly points: number; readonly target: string; readonly random: Random },
  check: (folder: string, witness: Witness) => Promise<void>,
): Promise<void> {
  const { points, target, random } = options;
  const moments = Array.from({ length: points }, () => random.integer(changes.length + 1));
  moments.sort((a, b) => a - b);
  const disk = new Disk(before, folder);
  let done = 0;
  let said = '';
  for (const moment of moments) {
    for (; done < moment; done += 1) {
      const change = changes[done];
      if (change === undefined) break;
      disk.apply(change);
      if (change.kind === 'said') said += change.data.toString('utf8');
    }
    rmSync(target, { recursive: true, force: true });
    disk.afterPowerLoss(target, folder, random);
    await check(target, witnessOf(said));
  }
}
