import { open } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import type { ObjectStore } from '../../../base/object-store.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { type Failure, failure, notFound } from './failure.ts';
import type { RawReply } from './route.ts';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  zip: 'application/zip',
};

/** A single byte range (RFC 9110 §14.1.2). Requests with several ranges or other units receive the whole file. */
const RANGE = /^bytes=(\d*)-(\d*)$/;

export interface FileRequest {
  readonly folder: string;
  /** File path, relative to `folder`. */
  readonly file: string;
  readonly range: string | undefined;
  readonly downloadName?: string;
  /** Object storage to use if the file is not in the folder. */
  readonly elsewhere?: { readonly objects: ObjectStore; readonly key: string } | undefined;
}

/** Returns a file or the requested range of it. Players use ranges to seek. */
export async function fileReply(request: FileRequest): Promise<Result<RawReply, Failure>> {
  const path = resolve(request.folder, request.file);
  // The name comes from the database; a path outside the folder is refused anyway.
  if (!path.startsWith(resolve(request.folder) + sep)) return err(notFound('file'));
  const source = (await localSource(path)) ?? (await remoteSource(request.elsewhere));
  if (source === undefined) return err(notFound('file'));
  const { size } = source;
  const range = rangeOf(request.range, size);
  if (range === 'unsatisfiable') {
    await source.close();
    return err(
      failure(416, 'range not satisfiable', { headers: { 'content-range': `bytes */${size}` } }),
    );
  }
  const extension = path.slice(path.lastIndexOf('.') + 1);
  const { first, last } = range ?? { first: 0, last: size - 1 };
  const body = await source.read(first, last);
  if (body === undefined) return err(notFound('file'));
  return ok({
    contentType: CONTENT_TYPES[extension] ?? 'application/octet-stream',
    status: range === undefined ? 200 : 206,
    headers: {
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-store',
      'content-length': String(last - first + 1),
      ...(range && { 'content-range': `bytes ${first}-${last}/${size}` }),
      ...(request.downloadName && {
        'content-disposition': `attachment; filename="${request.downloadName}"`,
      }),
    },
    body,
  });
}

/** Source of the file's bytes. The caller calls either `read` or `close`, once. */
interface Source {
  readonly size: number;
  read(first: number, last: number): Promise<Readable | undefined>;
  close(): Promise<void>;
}

/** Opens the file before reading its size, so that a file that is moved during the request is still read to its end. */
async function localSource(path: string): Promise<Source | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  const info = await file.stat();
  if (!info.isFile()) {
    await file.close();
    return undefined;
  }
  return {
    size: info.size,
    read: async (first, last) =>
      file.createReadStream({ start: first, end: Math.max(first, last), autoClose: true }),
    close: () => file.close(),
  };
}

async function remoteSource(elsewhere: FileRequest['elsewhere']): Promise<Source | undefined> {
  if (elsewhere === undefined) return undefined;
  const { objects, key } = elsewhere;
  const size = await objects.size(key);
  if (size === undefined) return undefined;
  return {
    size,
    // An empty file has no valid range.
    read: async (first, last) =>
      (await objects.get(key, last < first ? undefined : { first, last }))?.body,
    close: async () => undefined,
  };
}

interface ByteRange {
  readonly first: number;
  readonly last: number;
}

function rangeOf(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const match = header === undefined ? null : RANGE.exec(header.trim());
  if (match === null) return undefined;
  const [, from = '', to = ''] = match;
  if (from === '' && to === '') return undefined;
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? 'unsatisfiable' : { first: size - length, last: size - 1 };
  }
  const first = Number(from);
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (first >= size) return 'unsatisfiable';
  return last < first ? undefined : { first, last };
}
