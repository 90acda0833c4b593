import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileReply } from '../../../src/edge/rest/http/file.ts';
import { countRangeOf } from '../../../src/edge/rest/http/range.ts';

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'carillon-file-'));
  folder = join(root, 'recordings');
  mkdirSync(join(folder, 'sub'), { recursive: true });
  mkdirSync(join(root, 'recordings-other'));
  writeFileSync(join(folder, 'a.mp3'), '0123456789');
  writeFileSync(join(folder, 'empty.wav'), '');
  for (const outside of ['key', 'recordings-other/a.mp3'])
    writeFileSync(join(root, outside), 'secret');
});
afterEach(() => rmSync(root, { recursive: true }));

/** Returns status, Content-Range and body; for a refusal its status. */
async function reply(file: string, range?: string) {
  const answer = await fileReply({ folder, file, range });
  if (!answer.ok) return [answer.error.status];
  const { status, headers, body } = answer.value;
  return [status, headers?.['content-range'], await text(body as AsyncIterable<Uint8Array>)];
}

describe('a file as a reply', () => {
  it.each(['../key', '../recordings-other/a.mp3', 'sub/../../key', 'sub', '.', '', 'missing.mp3'])(
    'is not found at "%s"',
    async (file) => {
      expect(await reply(file)).toEqual([404]);
    },
  );

  it.each([
    [undefined, [200, undefined, '0123456789']],
    ['bytes=0-0', [206, 'bytes 0-0/10', '0']],
    ['bytes=3-5', [206, 'bytes 3-5/10', '345']],
    ['bytes=8-', [206, 'bytes 8-9/10', '89']],
    ['bytes=8-99', [206, 'bytes 8-9/10', '89']],
    ['bytes=-3', [206, 'bytes 7-9/10', '789']],
    ['bytes=-99', [206, 'bytes 0-9/10', '0123456789']],
    ['bytes=9-', [206, 'bytes 9-9/10', '9']],
    ['bytes=10-', [416]],
    ['bytes=-0', [416]],
    ['bytes=5-3', [200, undefined, '0123456789']],
    ['bytes=-', [200, undefined, '0123456789']],
    ['bytes=0-1,3-4', [200, undefined, '0123456789']],
    ['lines=0-1', [200, undefined, '0123456789']],
  ])('is read for the range %s (RFC 9110 §14)', async (range, expected) => {
    expect(await reply('a.mp3', range)).toEqual(expected);
  });

  it('may be empty', async () => {
    expect(await reply('empty.wav')).toEqual([200, undefined, '']);
    expect(await reply('empty.wav', 'bytes=0-')).toEqual([416]);
  });
});

describe('a range of counts', () => {
  it.each([
    [{ n: 5 }, { from: 5, to: 5 }],
    [{ n__gt: 5 }, { from: 6, to: undefined }],
    [{ n__gte: 5 }, { from: 5, to: undefined }],
    [{ n__lt: 5 }, { from: undefined, to: 4 }],
    [{ n__lte: 5 }, { from: undefined, to: 5 }],
    [
      { n__gt: 5, n__gte: 9, n__lt: 20, n__lte: 12 },
      { from: 9, to: 12 },
    ],
    [{}, { from: undefined, to: undefined }],
  ])('%j applies all bounds', (query, range) => {
    expect(countRangeOf(query, 'n')).toEqual(range);
  });
});
