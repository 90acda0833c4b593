import { describe, expect, test } from 'vitest';
import {
  createResponse,
  type HeaderInit,
  type SipRequest,
} from '../../../src/protocol/sip/message.ts';
import { parseMessage } from '../../../src/protocol/sip/parse.ts';
import { validateRequest, validateResponse } from '../../../src/protocol/sip/validate.ts';
import { sketch, wire } from './support.ts';

const reason = (request: SipRequest) => validateRequest(request)?.reason;
const withLines = (...extra: HeaderInit) => reason(sketch({ extra }));

describe('faults of a request (RFC 3261 §8.1.1, §20): 400 with a phrase that names the header', () => {
  test('accepts a valid request', () => {
    expect(validateRequest(sketch())).toBeUndefined();
  });

  test.each(['Via', 'From', 'To', 'Call-ID', 'CSeq'])('§8.1.1: requires %s', (name) => {
    expect(validateRequest(sketch().withoutHeader(name))).toEqual({
      status: 400,
      reason: `Missing ${name}`,
    });
  });

  test.each([
    ['Via', 'SIP/2.0/UDP'],
    ['From', '"open <sip:a@b>'],
    ['To', '< sip:a@b>'],
    ['Call-ID', 'two words'],
    ['CSeq', '4294967296 INVITE'],
    ['Max-Forwards', '256'],
    ['Contact', 'sip:a@b?Route=x'],
    ['Route', '<sip:p;lr>, nonsense'],
    ['Record-Route', '<>'],
    ['Expires', '4294967296'],
    ['Date', 'tomorrow'],
    ['Content-Type', 'sdp'],
  ])('rejects a malformed %s (%s)', (name, value) => {
    expect(reason(sketch().withHeader(name, value))).toBe(`Malformed ${name}`);
  });

  test('checks every Via, not only the topmost', () => {
    expect(withLines(['Via', 'SIP/2.0/TCP ok, broken'])).toBe('Malformed Via');
  });

  test.each([
    ['To', '<sip:x@y>'],
    ['From', '<sip:x@y>;tag=2'],
    ['CSeq', '1 INVITE'],
    ['i', 'call-1'],
    ['Max-Forwards', '70'],
  ])('§7.3.1: rejects a second %s', (name, value) => {
    expect(withLines([name, value])).toMatch(/^Multiple /);
  });

  test('§8.1.1.5: requires the CSeq method to match the request', () => {
    expect(reason(sketch({ method: 'BYE' }).withHeader('CSeq', '1 INVITE'))).toMatch(/CSeq/);
  });

  test('§19.1.5: rejects headers in the Request-URI', () => {
    expect(reason(sketch({ uri: 'sip:bob@example.com?Route=x' }))).toBe('Headers in Request-URI');
  });

  test('§20.15: requires a Content-Type for a body', () => {
    const request = sketch().withBody(Buffer.from('x'), 'text/plain');
    expect(reason(request)).toBeUndefined();
    expect(reason(request.withoutHeader('Content-Type'))).toBe('Missing Content-Type');
  });

  test('§20.14: rejects two Content-Length values, equal or not', () => {
    const lines = (second: string) => [
      'OPTIONS sip:b@x SIP/2.0',
      ...sketch({ method: 'OPTIONS' }).fields.map(({ name, value }) => `${name}: ${value}`),
      'Content-Type: text/plain',
      'Content-Length: 3',
      `Content-Length: ${second}`,
    ];
    for (const second of ['3', '5', '50']) {
      const result = parseMessage(wire(lines(second), 'abcde'));
      if (!result.ok || result.message.kind !== 'request') throw new Error('not parsed');
      expect(reason(result.message)).toBe('Multiple Content-Length Values');
    }
  });

  test.each([
    ['an unknown scheme is a matter of the user agent (416)', 'nobodyKnows:this'],
    ['so is tel', 'tel:+12015550123'],
  ])('%s', (_title, uri) => {
    expect(reason(sketch({ uri }))).toBeUndefined();
  });

  test('accepts omissions of RFC 2543: Max-Forwards, Contact, the From tag', () => {
    const old = sketch()
      .withoutHeader('Max-Forwards')
      .withoutHeader('Contact')
      .withHeader('From', '<sip:alice@example.com>');
    expect(reason(old)).toBeUndefined();
  });
});

describe('responses', () => {
  test.each([
    ['Date', 'yesterday'],
    ['Max-Forwards', 'many'],
    ['Contact', '<sip:x'],
    // RFC 2543 allowed a date.
    ['Expires', 'Thu, 01 Dec 2026 16:00:00 GMT'],
  ])('ignores a malformed %s, which no user needs', (name, value) => {
    const response = createResponse(sketch(), 486, { toTag: 'b' });
    expect(validateResponse(response.withAddedHeader(name, value))).toBeUndefined();
  });

  test('ignores repeated header fields without meaning for the transaction', () => {
    const response = createResponse(sketch(), 200, { toTag: 'b' });
    const twice = response.withAddedHeader('User-Agent', 'a').withAddedHeader('User-Agent', 'b');
    expect(validateResponse(twice)).toBeUndefined();
  });

  test('keeps the valid contacts', () => {
    const response = createResponse(sketch(), 302, { toTag: 'b' })
      .withAddedHeader('Contact', '<sip:a@h>')
      .withAddedHeader('Contact', 'sip:b@h?Route=x')
      .withAddedHeader('Contact', '<sip:c@h>');
    expect(response.contacts).toMatchObject([{ uri: { user: 'a' } }, { uri: { user: 'c' } }]);
  });

  test('accepts a valid response and explains why a faulty one is dropped', () => {
    const response = createResponse(sketch(), 200, { toTag: 'b' });
    expect(validateResponse(response)).toBeUndefined();
    expect(validateResponse(response.withoutHeader('CSeq'))).toBe('Missing CSeq');
    expect(validateResponse(response.withAddedHeader('Record-Route', '<>'))).toMatch('Malformed');
  });
});
