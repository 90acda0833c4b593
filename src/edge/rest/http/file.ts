import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { err, ok, type Result } from '../../../base/result.ts';
import { type Failure, failure, notFound } from './failure.ts';
import type { RawReply } from './route.ts';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  zip: 'application/zip',
};

/** A single byte range (RFC 9110 §14.1.2); several ranges or other units are answered with the whole file. */
const RANGE = /^bytes=(\d*)-(\d*)$/;

export interface FileRequest {
  readonly folder: string;
  /** Relative to `folder`. */
  readonly file: string;
  readonly range: string | undefined;
  readonly downloadName?: string;
}

/** A file, or the part of it that was asked for: players seek by ranges. */
export async function fileReply(request: FileRequest): Promise<Result<RawReply, Failure>> {
  const path = resolve(request.folder, request.file);
  // The name comes from our own records; a record that points outside its folder is still not served.
  if (!path.startsWith(resolve(request.folder) + sep)) return err(notFound('file'));
  const size = await sizeOf(path);
  if (size === undefined) return err(notFound('file'));
  const range = rangeOf(request.range, size);
  if (range === 'unsatisfiable') {
    return err(
      failure(416, 'range not satisfiable', { headers: { 'content-range': `bytes */${size}` } }),
    );
  }
  const extension = path.slice(path.lastIndexOf('.') + 1);
  const { first, last } = range ?? { first: 0, last: size - 1 };
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
    body: createReadStream(path, { start: first, end: Math.max(first, last) }),
  });
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const info = await stat(path);
    return info.isFile() ? info.size : undefined;
  } catch {
    return undefined;
  }
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
