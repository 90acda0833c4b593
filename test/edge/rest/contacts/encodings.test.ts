/** Uploads in the encodings that spreadsheets write, split at any byte. */
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { UploadRow } from '../../../../src/domain/campaign/types.ts';
import { incomingList } from '../../../../src/edge/rest/contacts/body.ts';

const MAX_BYTES = 1_000_000;
const LIST =
  'to,Name\r\n14155550101,Ann\r\n14155550102,José Müller\r\n14155550103,Łukasz 中文 😀\r\n';
const LATIN = 'to,Name\r\n14155550101,Ann\r\n14155550102,José Müller\r\n14155550103,Zoë\r\n';
const EURO_1252 = Buffer.from([0x80, 0x92]);

async function read(bytes: Uint8Array, contentType = 'text/csv', pieceBytes = 16_384) {
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    Buffer.from(bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes)),
  );
  const headers = { 'content-type': contentType };
  const list = await incomingList(Readable.from(pieces), headers, MAX_BYTES);
  const rows: UploadRow[] = [];
  for await (const chunk of list.bytes) rows.push(...list.reader.write(chunk));
  rows.push(...list.reader.end());
  return rows.map((row) => ('to' in row ? row.headers[0]?.[1] : row.reason));
}

const wide = (text: string, isBigEndian = false): Buffer => {
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le');
  return isBigEndian ? bytes.swap16() : bytes;
};
const NAMES = ['Ann', 'José Müller', 'Łukasz 中文 😀'];

describe('a contact list', () => {
  it.each([
    ['UTF-8', Buffer.from(LIST)],
    ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${LIST}`)],
    ['UTF-16 LE with a byte order mark', wide(LIST)],
    ['UTF-16 BE with a byte order mark', wide(LIST, true)],
    ['UTF-16 LE without a byte order mark', wide(LIST).subarray(2)],
  ])('in %s is decoded completely, wherever its chunks are split', async (_, bytes) => {
    for (const pieceBytes of [1, 2, 3, 5, 16_384]) {
      expect(await read(bytes, 'text/csv', pieceBytes)).toEqual(NAMES);
    }
  });

  it('in Latin-1 is detected, wherever its chunks are split', async () => {
    for (const pieceBytes of [1, 2, 3, 5, 16_384]) {
      expect(await read(Buffer.from(LATIN, 'latin1'), 'text/csv', pieceBytes)).toEqual([
        'Ann',
        'José Müller',
        'Zoë',
      ]);
    }
  });

  it('in Windows-1252 keeps characters that Latin-1 lacks, also as the last byte', async () => {
    const bytes = Buffer.concat([Buffer.from('to,Name\n14155550101,O'), EURO_1252]);
    for (const pieceBytes of [1, 16_384]) {
      expect(await read(bytes, 'text/csv', pieceBytes)).toEqual(['O€’']);
    }
  });

  it('is decoded with its declared charset', async () => {
    const bytes = Buffer.concat([Buffer.from('to,Name\n14155550101,'), Buffer.from([0xa4, 0xc3])]);
    expect(await read(bytes, 'text/csv; charset="iso-8859-15"')).toEqual(['€Ã']);
    await expect(read(bytes, 'text/csv; charset=klingon')).rejects.toThrow(/unknown charset/);
  });

  it('with mixed encodings is refused with the line number', async () => {
    const bytes = Buffer.concat([
      Buffer.from(LIST),
      Buffer.from('14155550104,M\xfcller\r\n', 'latin1'),
    ]);
    for (const pieceBytes of [1, 7, 16_384]) {
      await expect(read(bytes, 'text/csv', pieceBytes)).rejects.toThrow(/in line 5 /);
    }
  });

  it('with an undefined byte, or an incomplete character at its end, is refused with the line number', async () => {
    const unknown = Buffer.concat([Buffer.from('to,Name\n1,a\n14155550101,'), Buffer.from([0x81])]);
    await expect(read(unknown)).rejects.toThrow(/in line 3 /);
    const cut = Buffer.from('to,Name\n14155550101,é\n14155550102,é').subarray(0, -1);
    await expect(read(cut, 'text/csv', 4)).rejects.toThrow(/in line 3 /);
    await expect(read(wide('to,Name\n1,\ud800x'))).rejects.toThrow(/in line 2 /);
  });

  it('rejects rows with a replacement character', async () => {
    expect(await read(Buffer.from('to,Name\n14155550101,Jos\ufffd\n'))).toEqual([
      'Name has an invalid character (U+FFFD): export the list again as UTF-8',
    ]);
    const json = '[{"to":"14155550101","Name":"x\\ud800"},{"to":"14155550102","Name":"é"}]';
    expect(await read(Buffer.from(json), 'application/json', 1)).toEqual([
      'Name has an invalid character (U+FFFD): export the list again as UTF-8',
      'é',
    ]);
    expect(await read(wide(json), 'application/json', 3)).toHaveLength(2);
  });
});
