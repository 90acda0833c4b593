/** The body of an upload: a file of a multipart form, or the list itself. */
import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import { CsvListReader } from './csv-reader.ts';
import { JsonListReader } from './json-reader.ts';
import { ListFault, type ListReader } from './reader.ts';
import { TextEncoding } from './text-encoding.ts';

/** An upload: its bytes, and the reader for its format. */
export interface IncomingList {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly reader: ListReader;
}

/** The upload exceeds `http.uploadLimitBytes`. */
export class ListTooLarge extends Error {}

/** Name of the form field that contains the file (dialect §3.11). */
const FILE_FIELD = 'file';
const FORM_LIMITS = { fields: 20, files: 5, parts: 20, fieldSize: 1024, headerPairs: 50 };

/** Throws `ListFault` when the body holds no list. */
export async function incomingList(
  body: Readable,
  headers: IncomingHttpHeaders,
  maxBytes: number,
): Promise<IncomingList> {
  const contentType = headers['content-type'] ?? '';
  if (!/^multipart\/form-data/i.test(contentType)) {
    const bytes = inUtf8(limited(body, maxBytes), contentType);
    return { bytes, reader: readerFor(contentType, '') };
  }
  const { stream, name, mimeType } = await fileOf(body, headers, contentType);
  const bytes = inUtf8(limited(wholeParts(stream), maxBytes), mimeType);
  return { bytes, reader: readerFor(mimeType, name) };
}

/** Yields the bytes as UTF-8, decoded from the charset in `contentType` or from a detected one. */
async function* inUtf8(
  bytes: AsyncIterable<Uint8Array>,
  contentType: string,
): AsyncGenerator<Uint8Array> {
  const [, charset] = /;\s*charset="?([^\s;"]+)/i.exec(contentType) ?? [];
  const encoding = new TextEncoding(charset);
  for await (const chunk of bytes) yield encoding.write(chunk);
  yield encoding.end();
}

const readerFor = (contentType: string, name: string): ListReader =>
  /^application\/json/i.test(contentType) || /\.json$/i.test(name)
    ? new JsonListReader()
    : new CsvListReader();

interface FormFile {
  readonly stream: Readable;
  readonly name: string;
  readonly mimeType: string;
}

/** Resolves when the file begins. Form fields after it are read and discarded. */
function fileOf(
  body: Readable,
  headers: IncomingHttpHeaders,
  contentType: string,
): Promise<FormFile> {
  return new Promise((resolve, reject) => {
    const form = formReader({ ...headers, 'content-type': contentType });
    if (form === undefined) {
      reject(new ListFault('cannot be found: the multipart form has no boundary'));
      return;
    }
    let file: Readable | undefined;
    // Busboy emits several errors for one broken body; the pipeline reports it once.
    form.on('error', () => undefined);
    form.on('file', (field, stream, name, _encoding, mimeType) => {
      stream.on('error', (error) => stream.destroy(error));
      if (field !== FILE_FIELD || file !== undefined) {
        stream.resume();
        return;
      }
      file = stream;
      resolve({ stream, name: name ?? '', mimeType: mimeType ?? '' });
    });
    // Fails the file when the connection is cut, so that half a list does not count as complete.
    pipeline(body, form, (error) => {
      if (error && file !== undefined) file.destroy(error);
      reject(new ListFault(`is missing: the form has no file in the field ${FILE_FIELD}`));
    });
  });
}

function formReader(headers: IncomingHttpHeaders & { 'content-type': string }) {
  try {
    return new Busboy({ headers, limits: FORM_LIMITS });
  } catch {
    return undefined;
  }
}

/** Converts the error of a form that ends inside its file to a `ListFault`. */
async function* wholeParts(stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* stream as AsyncIterable<Uint8Array>;
  } catch {
    throw new ListFault('is incomplete: the form ends inside the file');
  }
}

async function* limited(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new ListTooLarge();
    yield chunk;
  }
}
