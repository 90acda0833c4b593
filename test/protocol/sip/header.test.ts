import { describe, expect, test } from 'vitest';
import { parseAuth } from '../../../src/protocol/sip/header/auth.ts';
import { parseCSeq } from '../../../src/protocol/sip/header/cseq.ts';
import { headerField } from '../../../src/protocol/sip/header/field.ts';
import { formatNameAddr, parseNameAddr } from '../../../src/protocol/sip/header/name-addr.ts';
import { headerKey } from '../../../src/protocol/sip/header/names.ts';
import { parseParams, quote, splitList, unquote } from '../../../src/protocol/sip/header/text.ts';
import {
  isSipDate,
  parseMediaType,
  parseTokenWithParams,
} from '../../../src/protocol/sip/header/values.ts';
import { formatVia, parseVia, sentBy } from '../../../src/protocol/sip/header/via.ts';
import { formatUri } from '../../../src/protocol/sip/uri.ts';

describe('header names (RFC 3261 §7.3)', () => {
  test.each([
    ['v', 'via'],
    ['V', 'via'],
    ['VIA', 'via'],
    ['Call-ID', 'call-id'],
    ['i', 'call-id'],
    ['x', 'session-expires'],
    ['X-PH-Tenant', 'x-ph-tenant'],
  ])('finds %s under %s', (name, key) => {
    expect(headerKey(name)).toBe(key);
  });

  test('writes our headers in the usual spelling', () => {
    expect(['cseq', 'l', 'X-Own'].map((name) => headerField(name, '').name)).toEqual([
      'CSeq',
      'Content-Length',
      'X-Own',
    ]);
  });
});

describe('lists, parameters and quoted strings (§25.1)', () => {
  test('takes a quote inside angle brackets as part of the URI', () => {
    expect(splitList('<sip:a"b@x>, <sip:c@y>')).toEqual(['<sip:a"b@x>', '<sip:c@y>']);
  });

  test('does not split at a comma inside quotes or angle brackets', () => {
    expect(splitList('"a, \\", b" <sip:x@y;m=1,2>;p="3,4", <sip:z@y>')).toEqual([
      '"a, \\", b" <sip:x@y;m=1,2>;p="3,4"',
      '<sip:z@y>',
    ]);
  });

  test('round-trips a quoted string and replaces line breaks by spaces', () => {
    expect(unquote(quote('say "hi" \\ bye'))).toBe('say "hi" \\ bye');
    expect(quote('a\r\nVia: forged')).toBe('"a Via: forged"');
  });

  test.each([';;', ';a;', ';=1', ';a=', ';a=1;A=2', ';a="open', ';a=1 b', 'a=1'])(
    'rejects %s',
    (text) => {
      expect(parseParams(text, 0)).toBeUndefined();
    },
  );
});

describe('Via (§20.42)', () => {
  test('reads transport, sent-by and parameters, with optional white space', () => {
    const via = parseVia('SIP / 2.0 / tcp  [2001:db8::9]:5070 ; branch = z9hG4bKx;rport');
    expect(via).toMatchObject({ transport: 'TCP', host: '[2001:db8::9]', port: 5070 });
    expect(via?.branch).toBe('z9hG4bKx');
    expect(via && formatVia(via)).toBe('SIP/2.0/TCP [2001:db8::9]:5070;branch=z9hG4bKx;rport');
  });

  test('sent-by without a port means the default of its transport (§18.1.1)', () => {
    const of = (text: string) => sentBy(parseVia(text) ?? never());
    expect(of('SIP/2.0/UDP Host.example.com')).toBe('host.example.com:5060');
    expect(of('SIP/2.0/TLS host.example.com')).toBe('host.example.com:5061');
  });

  test.each([
    '',
    'SIP/2.0 host',
    'SIP/2.0/UDP',
    'SIP/2.0/UDP host:port',
    'SIP/2.0/UDP h;branch=a;branch=b',
  ])('rejects "%s"', (text) => {
    expect(parseVia(text)).toBeUndefined();
  });
});

const never = (): never => {
  throw new Error('not parsed');
};

describe('name-addr and addr-spec (§20.10)', () => {
  test.each([
    [
      '"Bell, A. \\"G\\"" <sip:bell@example.com>;tag=4',
      'Bell, A. "G"',
      'sip:bell@example.com',
      '4',
    ],
    ['caller<sip:caller@example.com>', 'caller', 'sip:caller@example.com', undefined],
    ['A. Bell  <sip:b@x>', 'A. Bell', 'sip:b@x', undefined],
    ['Grün GmbH <sip:b@x>', 'Grün GmbH', 'sip:b@x', undefined],
    ['sip:b@x;tag=9', '', 'sip:b@x', '9'],
    ['<sip:b@x;tag=inside>', '', 'sip:b@x;tag=inside', undefined],
    ['tel:+1201;tag=2', '', 'tel:+1201', '2'],
  ])('%s', (text, displayName, uri, tag) => {
    const address = parseNameAddr(text) ?? never();
    expect([address.displayName, formatUri(address.uri), address.tag]).toEqual([
      displayName,
      uri,
      tag,
    ]);
  });

  test.each([
    '"open <sip:a@b>',
    '"name" sip:a@b',
    '<sip:a@b',
    '< sip:a@b >',
    'Bell, A <sip:a@b>',
    'sip:a@b?Route=x',
    'sip:a@b;tag=1;tag=2',
    '',
  ])('rejects %s', (text) => {
    expect(parseNameAddr(text)).toBeUndefined();
  });

  test('writes brackets always and quotes the name', () => {
    const address = parseNameAddr('sip:b@x;tag=9') ?? never();
    expect(formatNameAddr({ ...address, displayName: 'B "x"' })).toBe(
      '"B \\"x\\"" <sip:b@x>;tag=9',
    );
  });
});

describe('CSeq, media types, dates', () => {
  test('CSeq is below 2**31 (§8.1.1.5)', () => {
    expect(parseCSeq('2147483647 INVITE')?.sequence).toBe(2_147_483_647);
    expect(parseCSeq('2147483648 INVITE')).toBeUndefined();
    expect(parseCSeq('1INVITE')).toBeUndefined();
  });

  test('compares media types in lower case without parameters', () => {
    const type = parseMediaType('Multipart / Mixed ;boundary="a b"');
    expect(type?.essence).toBe('multipart/mixed');
    expect(type?.params.get('boundary')).toBe('"a b"');
    expect(parseMediaType('application')).toBeUndefined();
  });

  test('reads a token with parameters', () => {
    expect(parseTokenWithParams('1800;refresher=uac')?.params.get('refresher')).toBe('uac');
  });

  test('requires GMT in a Date (§20.17)', () => {
    expect(isSipDate('Sat, 13 Nov 2010 23:29:00 GMT')).toBe(true);
    expect(isSipDate('Fri, 01 Jan 2010 16:00:00 EST')).toBe(false);
  });
});

describe('challenges and credentials (RFC 7616 §3)', () => {
  test('unquotes parameters, lowers names and skips empty list elements', () => {
    const auth = parseAuth('Digest Realm="a \\"b\\", c",, qop="auth,auth-int", nc=00000001');
    expect(auth?.scheme).toBe('Digest');
    expect([...(auth?.params ?? [])]).toEqual([
      ['realm', 'a "b", c'],
      ['qop', 'auth,auth-int'],
      ['nc', '00000001'],
    ]);
  });

  test('accepts an unknown scheme and rejects a broken Digest', () => {
    expect(parseAuth('NoOneKnowsThisScheme opaque-data=here')?.scheme).toBe('NoOneKnowsThisScheme');
    expect(parseAuth('Bearer abc')?.params.size).toBe(0);
    expect(parseAuth('Digest realm="open')).toBeUndefined();
    expect(parseAuth('Digest realm="a" nonce="b"')).toBeUndefined();
  });
});
