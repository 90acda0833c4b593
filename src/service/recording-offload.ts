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

  /** Moves all finished recordings. Returns their number. Rejects if the object storage is unreachable. */
  async round(): Promise<number> {
    const { folder, logger } = this.#parts;
    let moved = 0;
    let found = 0;
    for (const account of await readdir(folder).catch(() => [])) {
      const files = await readdir(join(folder, account)).catch(() => []);
      found += files.length;
      this.#waiting = Math.max(this.#waiting, found - moved);
      for (let at = 0; at < files.length; at += AT_ONCE) {
        if (this.#rounds.stopping.aborted) return moved;
        const batch = files.slice(at, at + AT_ONCE);
        const done = await Promise.all(batch.map((name) => this.#move(account, name)));
        moved += done.filter(Boolean).length;
      }
    }
    this.#waiting = found - moved;
    if (moved > 0) logger.info({ recordings: moved }, 'recordings moved to object storage');
    return moved;
  }

  async #move(account: string, name: string): Promise<boolean> {
    const { folder, objects, recordings } = this.#parts;
    const file = `${account}/${name}`;
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
