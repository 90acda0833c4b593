/** Contact lists as users upload them: CSV variants, JSON, and invalid rows. */
import { describe, expect, it } from 'vitest';
import type { UploadRow } from '../../../../src/domain/campaign/types.ts';
import { CsvListReader } from '../../../../src/edge/rest/contacts/csv-reader.ts';
import { JsonListReader } from '../../../../src/edge/rest/contacts/json-reader.ts';
import type { ListReader } from '../../../../src/edge/rest/contacts/reader.ts';

const readBy = (reader: ListReader, bytes: Uint8Array, pieceBytes = bytes.length || 1) => {
  const rows: UploadRow[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    rows.push(...reader.write(bytes.subarray(at, at + pieceBytes)));
  }
  rows.push(...reader.end());
  return { rows, headers: reader.headers };
};
const csv = (text: string | Uint8Array, pieceBytes?: number) =>
  readBy(new CsvListReader(), typeof text === 'string' ? Buffer.from(text) : text, pieceBytes);
const json = (value: unknown, pieceBytes?: number) =>
  readBy(
    new JsonListReader(),
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
    pieceBytes,
  );
const numbersOf = (rows: readonly UploadRow[]) =>
  rows.map((row) => ('to' in row ? row.to : `${row.rowNumber}: ${row.reason}`));

const ANN = {
  rowNumber: 1,
  to: '(415) 555-0101',
  from: '+1 415 555 0100',
  answerUrl: 'https://bot.example/a?x=1&y=2',
  hangupUrl: undefined,
  headers: [
    ['Name', 'Ann "A", of Ohio'],
    ['Order', '7'],
  ],
};

describe('CSV', () => {
  it('accepts columns in any order and case; unknown columns are SIP headers', () => {
    const text =
      'Name,FROM,Answer_URL,Order, To \r\n"Ann ""A"", of Ohio",+1 415 555 0100,https://bot.example/a?x=1&y=2,7,(415) 555-0101\r\n';
    expect(csv(text)).toEqual({ rows: [ANN], headers: ['Name', 'Order'] });
  });

  it.each([
    ['CRLF', 'to,Name\r\n14155550101,Ann\r\n14155550102,Bob\r\n'],
    ['LF', 'to,Name\n14155550101,Ann\n14155550102,Bob\n'],
    ['CR', 'to,Name\r14155550101,Ann\r14155550102,Bob'],
    ['CRLF and LF mixed, no end at the end', 'to,Name\r\n14155550101,Ann\n14155550102,Bob'],
    ['a byte order mark', '\uFEFFto,Name\r\n14155550101,Ann\r\n14155550102,Bob\r\n'],
    ['quotes around everything', '"to","Name"\r\n"14155550101","Ann"\r\n"14155550102","Bob"\r\n'],
    ['empty lines and commas', 'to,Name\r\n\r\n14155550101,Ann\r\n,\r\n14155550102,Bob\r\n,\r\n'],
    ['a comma at the end of a line', 'to,Name,\r\n14155550101,Ann,\r\n14155550102,Bob,\r\n'],
  ])('%s', (_, text) => {
    for (const pieceBytes of [undefined, 1, 7]) {
      const { rows } = csv(text, pieceBytes);
      expect(rows).toMatchObject([
        { rowNumber: 1, to: '14155550101', headers: [['Name', 'Ann']] },
        { rowNumber: 2, to: '14155550102', headers: [['Name', 'Bob']] },
      ]);
    }
  });

  it('detects UTF-16 by its byte order mark, as spreadsheets save "Unicode text"', () => {
    const bytes = Buffer.concat([
      Buffer.from([0xff, 0xfe]),
      Buffer.from('to,Name\r\n14155550101,Zoë\r\n', 'utf16le'),
    ]);
    expect(csv(bytes).rows).toMatchObject([{ to: '14155550101', headers: [['Name', 'Zoë']] }]);
  });

  it('decodes characters that are split between two chunks', () => {
    const text = 'to,Name\n14155550101,Zoë 😀\n';
    expect(csv(text, 1).rows).toMatchObject([{ headers: [['Name', 'Zoë 😀']] }]);
  });

  it('reports every invalid row by its number and continues', () => {
    const { rows } = csv(
      [
        'to,from,answer_url,hangup_url,Name',
        '14155550101,,,,',
        'nobody,,,,',
        ',,,,Ann',
        `14155550104,${'1'.repeat(65)},,,`,
        '14155550105,,ftp://x.example,,',
        '14155550106,,,http://a:80800/,',
        `14155550107,,,,${'x'.repeat(129)}`,
        '14155550108,,,,a,b',
        '14155550109,,,,"a\nb"',
        '14155550110',
        '14155550111,,,,"a"b',
        '14155550112,,,,5" pipe',
      ].join('\r\n'),
    );
    expect(numbersOf(rows)).toEqual([
      '14155550101',
      'nobody',
      '3: to is empty',
      '4: from is not a phone number',
      '5: answer_url is not an absolute http or https URL',
      '6: hangup_url is not an absolute http or https URL',
      '7: Name has more than 128 characters',
      '8: has 6 cells under 5 columns',
      '9: Name has line breaks or control characters',
      '14155550110',
      '14155550111',
      '14155550112',
    ]);
  });

  it.each([
    ['', /is empty/],
    ['\r\n\r\n', /is empty/],
    ['phone,name\n1,2\n', /has no column to; its first line is: phone, name/],
    ['to,TO\n1,2\n', /column TO twice/],
    ['to,First Name\n', /column "First Name" that is not a SIP header name/],
    ['to,\u00fcber\n', /not a SIP header name/],
    [`to,${Array.from({ length: 21 }, (_, i) => `h${i}`).join(',')}\n`, /more than 20 columns/],
    ['to,Name\n14155550101,"Ann\n14155550102,Bob\n', /quote is not closed/],
    [`to,Name\n14155550101,"${'x\n'.repeat(40_000)}`, /row of more than 65536 bytes/],
  ])('refuses %.40j', (text, why) => {
    for (const pieceBytes of [undefined, 4096]) {
      expect(() => csv(text, pieceBytes)).toThrow(why);
    }
  });
});

describe('JSON', () => {
  const contacts = [
    {
      to: '(415) 555-0101',
      from: '+1 415 555 0100',
      answer_url: 'https://bot.example/a?x=1&y=2',
      hangup_url: null,
      Name: 'Ann "A", of Ohio',
      Order: 7,
    },
  ];

  it('accepts an array, or an object that contains one', () => {
    for (const list of [contacts, { contacts }, { note: 'x', contacts }]) {
      for (const pieceBytes of [undefined, 1, 5]) {
        expect(json(list, pieceBytes)).toEqual({ rows: [ANN], headers: ['Name', 'Order'] });
      }
    }
    expect(json(`\uFEFF \n${JSON.stringify(contacts)}\n`).rows).toEqual([ANN]);
  });

  it('reports every invalid contact by its number and continues', () => {
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`h${i}`, 'x']));
    const { rows } = json([
      { to: 14155550101 },
      'text',
      null,
      [1],
      { to: {} },
      { from: '14155550100' },
      { to: '14155550107', 'First Name': 'x' },
      JSON.parse('{"to":"14155550108","__proto__":{"from":"1"}}'),
      { to: '14155550109', ...many },
    ]);
    expect(numbersOf(rows)).toEqual([
      '14155550101',
      '2: is not an object',
      '3: is not an object',
      '4: is not an object',
      '5: to must be text',
      '6: to is empty',
      '7: First Name is not a SIP header name: 1 to 24 letters, digits, hyphens and underscores',
      '8: __proto__ must be text',
      '9: h20 exceeds the limit of 20 headers in a list',
    ]);
  });

  it.each([
    ['', /is empty/],
    ['hello', /must be a JSON array/],
    ['[{"to":"14155550101"}', /ends before its JSON is complete/],
    ['[{"to":"14155550101"},}', /not valid JSON after contact 1/],
    ['[{"to":"14155550101"}]]', /not valid JSON/],
    [`[{"to":"${'1'.repeat(300_000)}"}]`, /contact of more than 65536 bytes/],
    [`{"other":[${'{},'.repeat(100_000)}{}],"contacts":[]}`, /or other members/],
  ])('refuses %.40s', (text, why) => {
    expect(() => json(text)).toThrow(why);
  });
});
