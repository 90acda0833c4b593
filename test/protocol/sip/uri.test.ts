import { describe, expect, test } from 'vitest';
import {
  escapeUser,
  formatUri,
  parseHostPort,
  parseUri,
  sipUri,
  unescapeUser,
} from '../../../src/protocol/sip/uri.ts';

const uri = (text: string) => {
  const parsed = parseUri(text);
  if (parsed === undefined) throw new Error(`no URI: ${text}`);
  return parsed;
};

describe('URIs (RFC 3261 §19.1)', () => {
  test.each([
    'sip:alice@atlanta.com',
    'sip:alice:secretword@atlanta.com;transport=tcp',
    'sips:alice@atlanta.com?subject=project%20x&priority=urgent',
    'sip:+1-212-555-1212:1234@gateway.com;user=phone',
    'sip:atlanta.com;method=REGISTER?to=alice%40atlanta.com',
    'sip:alice;day=tuesday@atlanta.com',
    'sip:[2001:db8::1]:5070;lr',
    'sip:*97%23@host',
    'tel:+1-201-555-0123;ext=12',
    'tel:7042;phone-context=example.com',
    'mailto:alice@example.com',
  ])('round-trips %s', (text) => {
    expect(formatUri(uri(text))).toBe(text);
  });

  test.each([
    'alice@atlanta.com',
    'sip:',
    'sip:@host',
    'sip:a b@host',
    'sip:a:p:w@host',
    'sip:a:p;w@host',
    'sip:alice@',
    'sip:alice@host:0',
    'sip:alice@host:65536',
    'sip:alice@host:5060x',
    'sip:2001:db8::10',
    'sip:alice@host;',
    'sip:alice@host;lr;lr',
    'sip:alice@host; lr',
    'sip:alice@ho<st',
    'sip:alice@host?subject=a b',
    'sip:alice@host?subject="x"',
    'tel:',
    'tel:call-me',
  ])('rejects %s', (text) => {
    expect(parseUri(text)).toBeUndefined();
  });

  test('escapes a user part when writing and decodes it when reading', () => {
    expect(formatUri(sipUri({ user: 'zoë @#1', host: '2001:db8::1', port: 5070 }))).toBe(
      'sip:zo%C3%AB%20%40%231@[2001:db8::1]:5070',
    );
    expect(unescapeUser(escapeUser('zoë @#1/%'))).toBe('zoë @#1/%');
    expect(escapeUser('a\t\u0000')).toBe('a%09%00');
    expect(unescapeUser('%zz%41')).toBe('%zzA');
    expect(unescapeUser('%ff')).toBe('%ff');
  });

  test('host and port', () => {
    expect(parseHostPort('example.com:5061')).toEqual({ host: 'example.com', port: 5061 });
    expect(parseHostPort('[::1]')).toEqual({ host: '[::1]', port: undefined });
    expect(parseHostPort('::1')).toBeUndefined();
    expect(parseHostPort('-x.com')).toBeUndefined();
  });
});
