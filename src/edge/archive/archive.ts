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
  /** Iterates over the recordings. Each call starts from the beginning. */
  readonly walk: () => AsyncIterable<Recording>;
  readonly recordingsFolder: string;
  /** Object storage for recordings that are not in the folder. */
  readonly elsewhere?: { readonly objects: ObjectStore; keyOf(file: string): string } | undefined;
  /** Called periodically with the number of added files. */
  readonly onProgress?: (count: number) => void;
  /** Absolute path of the zip. The file appears only when complete. */
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
 * Writes recordings and an index into a zip, one file at a time. Memory use is independent of their number and size, except
 * for the names in the zip's directory. Returns the number of files.
 */
export async function writeArchive(request: ArchiveRequest): Promise<number> {
  const partial = `${request.target}.part`;
  await mkdir(dirname(request.target), { recursive: true, mode: 0o700 });
  const zip = new ZipFile();
  const abort = new AbortController();
  const written = pipeline(
    zip.outputStream,
    createWriteStream(partial, { mode: 0o600, flush: true }),
    abort,
  );
  try {
    const failed = new Promise<never>((_, reject) => zip.on('error', reject));
    // `failed` may reject before it is awaited.
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
      // MP3 is already compressed.
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

/** Adds a recording from object storage. Returns false if it does not exist. */
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
  // Downloads each object only when it is written, so that only one connection is open.
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

/** Uses one folder per day, to keep large archives usable. */
const nameOf = (recording: Recording): string =>
  `${isoMicros(recording.addedUs).slice(0, 10)}/${recording.recordingId}.${recording.format}`;

async function exists(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
