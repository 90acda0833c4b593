/** Uploads and downloads files. */
import { accessSync, constants, createReadStream, statSync } from 'node:fs';
import { Readable } from 'node:stream';

/** Reads a contact list for upload. Calls `sent` with the bytes sent so far and the total. */
export function upload(
  file: string,
  sent: (bytes: number, total: number) => void,
): { type: string; body: RequestInit['body'] } {
  // Otherwise a file that cannot be read would look like a lost connection.
  accessSync(file, constants.R_OK);
  const stat = statSync(file);
  if (stat.isDirectory()) throw new Error(`${file} is a folder, not a file`);
  const total = stat.size;
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of createReadStream(file)) {
      bytes += (chunk as Uint8Array).length;
      sent(bytes, total);
      yield chunk as Uint8Array;
    }
  }
  return {
    type: file.endsWith('.json') ? 'application/json' : 'text/csv',
    body: Readable.toWeb(Readable.from(counted())) as RequestInit['body'],
  };
}

export const bodyOf = (reply: Response): AsyncIterable<Uint8Array> =>
  (reply.body ?? []) as unknown as AsyncIterable<Uint8Array>;

/** Lines of a streamed text without their line feeds. Throws if the text breaks off. */
export async function* linesOf(reply: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of bodyOf(reply)) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** Prints a streamed text line by line. Carriage returns remain: CSV needs them (RFC 4180), also within cells. */
export async function readLines(reply: Response, print: (line: string) => void): Promise<void> {
  for await (const line of linesOf(reply)) print(line);
}
