/**
 * Moves finished recordings from the data folder to object storage. The folder content is the only state, so that a
 * crash or outage loses no file. Recordings are served from wherever they are found.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { asAccountId, asRecordingId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { ObjectStore } from '../base/object-store.ts';
import { RepeatedTask } from '../base/repeated-task.ts';
import type { Recordings } from '../domain/recording/recording.ts';

const EVERY_MS = 30_000;
/** Maximum pause after failures. Each failure doubles the pause. */
const LONGEST_PAUSE_MS = 15 * 60_000;
/** Number of files moved in parallel. */
const AT_ONCE = 4;
/** Consecutive failures after which a round ends: the object storage is probably unreachable. */
const MAX_FAILURES = 20;

export interface OffloadParts {
  readonly folder: string;
  readonly objects: ObjectStore;
  readonly recordings: Pick<Recordings, 'get'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export const recordingKey = (file: string): string => `recordings/${file}`;

export class RecordingOffload {
  readonly #parts: OffloadParts;
  readonly #rounds: RepeatedTask;
  /** Files that could not be moved. The next round tries them after all others. */
  #failed: ReadonlySet<string> = new Set();
  #waiting = 0;

  constructor(parts: OffloadParts) {
    this.#parts = parts;
    const { clock, logger } = parts;
    this.#rounds = new RepeatedTask({
      clock,
      round: () => this.round(),
      everyMs: EVERY_MS,
      longestPauseMs: LONGEST_PAUSE_MS,
      failed: (error, againInMs) =>
        logger.error({ error, againInMs }, 'failed to move recordings to object storage'),
    });
  }

  /** Files that the latest look found and has not moved yet, those still being written included. */
  get waiting(): number {
    return this.#waiting;
  }

  start(): void {
    this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  /** Moves all finished recordings. Returns their number. Rejects if files failed and none was moved. */
  async round(): Promise<number> {
    const { logger } = this.#parts;
    const files = await this.#files();
    const failed = new Set(files.filter((file) => this.#failed.has(file)));
    this.#failed = failed;
    this.#waiting = Math.max(this.#waiting, files.length);
    let moved = 0;
    let inRow = 0;
    let error: unknown;
    for (let at = 0; at < files.length && inRow < MAX_FAILURES; at += AT_ONCE) {
      if (this.#rounds.stopping.aborted) return moved;
      const batch = files.slice(at, at + AT_ONCE);
      const results = await Promise.allSettled(batch.map((file) => this.#move(file)));
      for (const [index, result] of results.entries()) {
        const file = batch[index] ?? '';
        if (result.status === 'rejected') {
          failed.add(file);
          inRow += 1;
          error ??= result.reason;
        } else {
          failed.delete(file);
          if (result.value) [moved, inRow] = [moved + 1, 0];
        }
      }
    }
    this.#waiting = files.length - moved;
    if (moved > 0) logger.info({ recordings: moved }, 'recordings moved to object storage');
    if (error === undefined) return moved;
    if (moved === 0) throw error;
    logger.error({ error, recordings: failed.size }, 'some recordings could not be moved');
    return moved;
  }

  /** Returns the files of all accounts, those that failed before last. */
  async #files(): Promise<readonly string[]> {
    const { folder } = this.#parts;
    const files: string[] = [];
    for (const account of await readdir(folder).catch(() => [])) {
      const names = await readdir(join(folder, account)).catch(() => []);
      for (const name of names) files.push(`${account}/${name}`);
    }
    const isFailed = (file: string): boolean => this.#failed.has(file);
    return [...files.filter((file) => !isFailed(file)), ...files.filter(isFailed)];
  }

  async #move(file: string): Promise<boolean> {
    const { folder, objects, recordings } = this.#parts;
    const [account = '', name = ''] = file.split('/');
    const recordingId = asRecordingId(name.replace(/\.[a-z0-9]+$/, ''));
    const found = await recordings.get(asAccountId(account), recordingId);
    // Still being written, or the WAV from which an MP3 is encoded.
    if (!found.ok || found.value.file !== file) return false;
    const path = join(folder, file);
    const { size } = await stat(path);
    await objects.put(recordingKey(file), path);
    // Deletes the local file only if the stored object is complete.
    if ((await objects.size(recordingKey(file))) !== size) return false;
    await rm(path, { force: true });
    // The account deleted the recording in the meantime, so the object is deleted too.
    if (!(await recordings.get(asAccountId(account), recordingId)).ok)
      await objects.remove(recordingKey(file));
    return true;
  }
}
