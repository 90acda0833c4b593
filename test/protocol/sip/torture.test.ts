import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseMessage } from '../../../src/protocol/sip/parse.ts';
import { serialize } from '../../../src/protocol/sip/serialize.ts';
import { TransactionLayer } from '../../../src/protocol/sip/transaction/layer.ts';
import { parsed, parsedRequest, UDP } from './support.ts';
import { verdict } from './verdict.ts';

const ROOT = new URL('../../../../shared/conformance/', import.meta.url);
const present = existsSync(ROOT);

interface Expectation {
  readonly file: string;
  readonly title: string;
  readonly section: string;
  readonly expect: 'parse' | 'reject';
  readonly wire_status: number | null;
}

const read = (path: string): Buffer => readFileSync(new URL(path, ROOT));

describe.skipIf(!present)('RFC 4475 torture messages', () => {
  const rows: Expectation[] = present
    ? JSON.parse(read('rfc4475/expectations.json').toString('utf8'))
    : [];

  test('contains the complete set', () => {
    expect(rows).toHaveLength(50);
  });

  test.each(rows)('$section $title ($file): $expect, answered with $wire_status', (row) => {
    const bytes = read(`rfc4475/${row.file}`);
    const fault = verdict(bytes);
    if (row.wire_status !== null) expect(fault?.status).toBe(row.wire_status);
    else if (row.expect === 'parse') expect(fault).toBeUndefined();
    else expect(fault).toBeDefined();
  });

  test.each(rows.filter((row) => row.wire_status !== null))(
    '$file is answered on the wire with $wire_status and its Via first',
    (row) => {
      const layer = new TransactionLayer({ newToken: () => 'token' });
      const [answer] = layer.receive(read(`rfc4475/${row.file}`), UDP, 0);
      if (answer?.kind !== 'send') throw new Error('not answered');
      const response = parsed(answer.bytes);
      expect(response.kind === 'response' && response.status).toBe(row.wire_status);
      expect(answer.flow.remotePort).toBe(UDP.remotePort);
    },
  );

  test('§3.1.1.1 wsinv: reads every header with folding, compact names and unusual spaces', () => {
    const request = parsedRequest(read('rfc4475/wsinv.dat'));
    expect(request.to.tag).toBe('1918181833n');
    expect(request.from.tag).toBe('98asjd8');
    expect(request.from.displayName).toBe('J Rosenberg \\"');
    expect(request.maxForwards).toBe(68);
    expect(request.cseq).toEqual({ sequence: 9, method: 'INVITE' });
    expect(request.via).toMatchObject({ transport: 'UDP', host: '192.0.2.2', branch: '390skdjuw' });
    expect(request.list('via')).toHaveLength(3);
    expect(request.header('NewFangledHeader')).toBe('newfangled value continued newfangled value');
    expect(request.contact?.params.get('q')).toBe('0.33');
    expect(request.contact?.displayName).toBe('Quoted string ""');
    expect(request.body).toHaveLength(150);
  });

  test('§3.1.1.2 intmeth: accepts all characters of a token and UTF-8 in values', () => {
    const request = parsedRequest(read('rfc4475/intmeth.dat'));
    expect(request.method).toBe("!interesting-Method0123456789_*+`.%indeed'~");
    expect(request.to.displayName).toBe('BEL:\u0007 NUL:\u0000 DEL:\u007f');
    expect(request.from.params.get("fromparam''~+*_!.-%")).toBe('"работающий"');
    expect(request.header("extensionHeader-!.%*+_`'~")).toBe('\ufeff大停電');
  });

  test('§3.1.1.3 esc01: escapes in the user part do not change its boundaries', () => {
    const { uri } = parsedRequest(read('rfc4475/esc01.dat'));
    expect(uri).toMatchObject({ user: 'sips%3Auser%40example.com', host: 'example.net' });
  });

  test('§3.1.1.5 esc02: % in a method or a header name is not an escape', () => {
    const request = parsedRequest(read('rfc4475/esc02.dat'));
    expect(request.method).toBe('RE%47IST%45R');
    expect(request.contacts).toHaveLength(2);
  });

  test('§3.1.1.8 dblreq: ignores bytes after Content-Length in a datagram', () => {
    const request = parsedRequest(read('rfc4475/dblreq.dat'));
    expect(request.method).toBe('REGISTER');
    expect(request.body).toHaveLength(0);
  });

  test('§3.1.1.11 mpart01: keeps a binary body unchanged', () => {
    const bytes = read('rfc4475/mpart01.dat');
    const request = parsedRequest(bytes);
    expect(Buffer.from(request.body).equals(bytes.subarray(bytes.length - 553))).toBe(true);
  });

  test('§3.3.13 cparam02 and §3.3.12 cparam01: the parameter belongs to the URI only inside <>', () => {
    const header = parsedRequest(read('rfc4475/cparam01.dat')).contact;
    const inside = parsedRequest(read('rfc4475/cparam02.dat')).contact;
    expect(header?.params.has('unknownparam')).toBe(true);
    expect(inside?.params.size).toBe(0);
    expect(inside?.uri.kind === 'sip' && inside.uri.params.has('unknownparam')).toBe(true);
  });

  test('§3.1.2.15 baddn: rejects a comma in an unquoted display name, regardless of the message end', () => {
    const bytes = Buffer.concat([read('rfc4475/baddn.dat'), Buffer.from('\r\n')]);
    expect(verdict(bytes)).toEqual({ status: 400, reason: 'Malformed From' });
  });

  test('every valid message is unchanged after serialize and parse', () => {
    for (const row of rows) {
      const result = parseMessage(read(`rfc4475/${row.file}`));
      if (!result.ok) continue;
      const again = parsed(serialize(result.message));
      const fields = result.message.fields.filter(({ key }) => key !== 'content-length');
      expect(again.fields.filter(({ key }) => key !== 'content-length')).toEqual(fields);
      expect(Buffer.from(again.body)).toEqual(Buffer.from(result.message.body));
    }
  });
});

describe.skipIf(!present)('RFC 5118 IPv6 torture messages', () => {
  const files = present ? readdirSync(new URL('rfc5118/', ROOT)) : [];
  const refused = new Set(['ipv6-bad']);

  test('contains the complete set', () => {
    expect(files).toHaveLength(12);
  });

  test.each(files.filter((file) => !refused.has(file)))('accepts %s', (file) => {
    expect(verdict(read(`rfc5118/${file}`))).toBeUndefined();
  });

  test('§4.2 ipv6-bad: refuses an IPv6 address without brackets with 400', () => {
    expect(verdict(read('rfc5118/ipv6-bad'))?.status).toBe(400);
  });

  test('§4.3 port-ambiguous: treats a possible port inside the brackets as part of the address', () => {
    const { uri } = parsedRequest(read('rfc5118/port-ambiguous'));
    expect(uri).toMatchObject({ host: '[2001:db8::10:5070]', port: undefined });
  });

  test('§4.4 port-unambiguous: the port follows the brackets', () => {
    const { uri } = parsedRequest(read('rfc5118/port-unambiguous'));
    expect(uri).toMatchObject({ host: '[2001:db8::10]', port: 5070 });
  });

  test('§4.5: accepts received with and without brackets', () => {
    const bare = parsedRequest(read('rfc5118/via-received-param-no-delim')).via;
    const bracketed = parsedRequest(read('rfc5118/via-received-param-with-delim')).via;
    expect(bare.params.get('received')).toBe('2001:db8::9:255');
    expect(bracketed.params.get('received')).toBe('[2001:db8::9:255]');
  });

  test('§4.10 ipv6-bug-abnf-3-colons: accepts the address with the extra colon of RFC 3261', () => {
    const { uri } = parsedRequest(read('rfc5118/ipv6-bug-abnf-3-colons'));
    expect(uri).toMatchObject({ host: '[2001:db8:::192.0.2.1]' });
  });
});
