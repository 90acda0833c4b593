import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { csvLine } from '../../base/csv.ts';
import { ServiceError } from '../../base/errors.ts';
import type { ObjectStore } from '../../base/object-store.ts';
import { isoMicros } from '../../base/time-format.ts';
import type { Recording } from '../../domain/recording/types.ts';

export interface ArchiveRequest {
  /** The recordings, each time from the beginning. */
  readonly walk: () => AsyncIterable<Recording>;
  readonly recordingsFolder: string;
  /** Those that are not in the folder. */
  readonly elsewhere?: { readonly objects: ObjectStore; keyOf(file: string): string } | undefined;
  /** Told how many files have been added, every so often. */
  readonly onProgress?: (count: number) => void;
  /** Absolute path of the zip; it appears there only when it is complete. */
  readonly target: string;
}

const PROGRESS_EVERY = 100;

const INDEX_COLUMNS = [
  'recording_id',
  'file',
  'call_uuid',
  'conference_name',
  'from_number',
  'to_number',
  'added_at',
  'duration_ms',
  'format',
  'bytes',
] as const;

/**
 * Writes recordings and an index into a zip, file after file: memory does not grow with their number or size, but for
 * the names that a zip's directory needs. Returns how many files are in it.
 */
export async function writeArchive(request: ArchiveRequest): Promise<number> {
  const partial = `${request.target}.part`;
  await mkdir(dirname(request.target), { recursive: true, mode: 0o700 });
  const zip = new ZipFile();
  const abort = new AbortController();
  const written = pipeline(zip.outputStream, createWriteStream(partial, { mode: 0o600 }), abort);
  try {
    const failed = new Promise<never>((_, reject) => zip.on('error', reject));
    // `failed` may reject while nobody waits for it yet.
    failed.catch(() => undefined);
    const count = await Promise.race([addAll(zip, request), failed]);
    zip.end();
    await Promise.race([written, failed]);
    await rename(partial, request.target);
    return count;
  } catch (cause) {
    abort.abort();
    await written.catch(() => undefined);
    await rm(partial, { force: true });
    throw new ServiceError('ARCHIVE_FAILED', 'archive could not be written', { cause });
  }
}

async function addAll(zip: ZipFile, request: ArchiveRequest): Promise<number> {
  const missing = new Set<string>();
  let count = 0;
  for await (const recording of request.walk()) {
    const path = join(request.recordingsFolder, recording.file);
    if (await exists(path)) {
      // Compressing MP3 costs time and saves nothing.
      zip.addFile(path, nameOf(recording), { compress: recording.format !== 'mp3' });
    } else if (!(await addRemote(zip, request, recording))) {
      missing.add(recording.recordingId);
      continue;
    }
    count += 1;
    if (count % PROGRESS_EVERY === 0) request.onProgress?.(count);
  }
  zip.addReadStreamLazy('index.csv', { compress: true }, (give) =>
    give(null, Readable.from(index(request, missing))),
  );
  return count;
}

/** False: there is none. */
async function addRemote(
  zip: ZipFile,
  { elsewhere }: ArchiveRequest,
  recording: Recording,
): Promise<boolean> {
  if (elsewhere === undefined) return false;
  const { objects, keyOf } = elsewhere;
  const key = keyOf(recording.file);
  const size = await objects.size(key);
  if (size === undefined) return false;
  const options = { compress: recording.format !== 'mp3', size };
  // Fetched when its turn comes, so that one connection is open at a time.
  zip.addReadStreamLazy(nameOf(recording), options, (give) => {
    objects.get(key).then(
      (part) => {
        if (part === undefined) give(new Error(`the object ${key} is gone`), Readable.from([]));
        else give(null, part.body);
      },
      (error: unknown) => give(error, Readable.from([])),
    );
  });
  return true;
}

async function* index(
  request: ArchiveRequest,
  missing: ReadonlySet<string>,
): AsyncGenerator<string> {
  yield csvLine(INDEX_COLUMNS);
  for await (const recording of request.walk()) {
    yield csvLine([
      recording.recordingId,
      missing.has(recording.recordingId) ? '' : nameOf(recording),
      recording.callUuid,
      recording.conferenceName,
      recording.fromNumber,
      recording.toNumber,
      isoMicros(recording.addedUs),
      recording.durationMs,
      recording.format,
      recording.bytes,
    ]);
  }
}

/** A folder per day keeps large archives usable. */
const nameOf = (recording: Recording): string =>
  `${isoMicros(recording.addedUs).slice(0, 10)}/${recording.recordingId}.${recording.format}`;

async function exists(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
