import { createReadStream, createWriteStream, type Stats } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
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
  /** Cancels the archive and deletes its partial file. */
  readonly signal?: AbortSignal | undefined;
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
  const signal = AbortSignal.any([abort.signal, ...(request.signal ? [request.signal] : [])]);
  const written = pipeline(
    zip.outputStream,
    createWriteStream(partial, { mode: 0o600, flush: true }),
    { signal },
  );
  // The disk may be full while recordings are still being added.
  const failed = new Promise<never>((_, reject) => {
    zip.on('error', reject);
    written.catch(reject);
  });
  try {
    const count = await Promise.race([addAll(zip, request, signal), failed]);
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

async function addAll(zip: ZipFile, request: ArchiveRequest, signal: AbortSignal): Promise<number> {
  const missing = new Set<string>();
  let count = 0;
  for await (const recording of request.walk()) {
    signal.throwIfAborted();
    const path = join(request.recordingsFolder, recording.file);
    const file = await fileAt(path);
    if (file !== undefined) {
      addLocal(zip, recording, { path, file, signal });
    } else if (!(await addRemote(zip, request, recording, signal))) {
      missing.add(recording.recordingId);
      continue;
    }
    count += 1;
    if (count % PROGRESS_EVERY === 0) request.onProgress?.(count);
  }
  zip.addReadStreamLazy('index.csv', { compress: true }, (give) =>
    give(null, watched(zip, Readable.from(index(request, missing)), signal)),
  );
  return count;
}

/** Adds a recording from the folder. An abort closes its file. */
function addLocal(
  zip: ZipFile,
  recording: Recording,
  {
    path,
    file: { size, mtime },
    signal,
  }: { readonly path: string; readonly file: Stats; readonly signal: AbortSignal },
): void {
  const options = { compress: isCompressible(recording), size, mtime };
  zip.addReadStreamLazy(nameOf(recording), options, (give) =>
    give(null, watched(zip, createReadStream(path), signal)),
  );
}

/** Reports the failure of a stream, for which yazl does not listen. An abort closes the stream. */
function watched(zip: ZipFile, stream: Readable, signal: AbortSignal): Readable {
  stream.on('error', (error) => zip.emit('error', error));
  return addAbortSignal(signal, stream);
}

/** MP3 is already compressed. */
const isCompressible = ({ format }: Recording): boolean => format !== 'mp3';

/** Adds a recording from object storage. Returns false if it does not exist. */
async function addRemote(
  zip: ZipFile,
  { elsewhere }: ArchiveRequest,
  recording: Recording,
  signal: AbortSignal,
): Promise<boolean> {
  if (elsewhere === undefined) return false;
  const { objects, keyOf } = elsewhere;
  const key = keyOf(recording.file);
  const size = await objects.size(key);
  if (size === undefined) return false;
  const options = { compress: isCompressible(recording), size };
  // Downloads each object only when it is written, so that only one connection is open.
  zip.addReadStreamLazy(nameOf(recording), options, (give) => {
    objects.get(key).then(
      (part) => {
        if (part === undefined) give(new Error(`the object ${key} is gone`), Readable.from([]));
        else give(null, watched(zip, part.body, signal));
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

async function fileAt(path: string): Promise<Stats | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? found : undefined;
}
