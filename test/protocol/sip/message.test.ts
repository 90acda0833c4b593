import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createRequest,
  createResponse,
  SipRequest,
  SipResponse,
} from '../../../src/protocol/sip/message.ts';
import {
  MAX_HEADER_FIELDS,
  MAX_HEADER_LENGTH,
  MAX_MESSAGE_BYTES,
  parseMessage,
} from '../../../src/protocol/sip/parse.ts';
import { serialize } from '../../../src/protocol/sip/serialize.ts';
import { validateRequest } from '../../../src/protocol/sip/validate.ts';
import { parsed, parsedRequest, sketch, wire } from './support.ts';

const HEAD = [
  'OPTIONS sip:bob@example.com SIP/2.0',
  'Via: SIP/2.0/UDP 192.0.2.7;branch=z9hG4bKx',
  'From: <sip:alice@example.com>;tag=1',
  'To: <sip:bob@example.com>',
  'Call-ID: c',
  'CSeq: 1 OPTIONS',
];

const refusal = (bytes: Uint8Array) => {
  const result = parseMessage(bytes);
  return result.ok ? undefined : result.error;
};

describe('parsing (RFC 3261 §7)', () => {
  test('§7.5: ignores line breaks before the start line', () => {
    expect(parsedRequest(Buffer.concat([Buffer.from('\r\n\r\n'), wire(HEAD)])).method).toBe(
      'OPTIONS',
    );
  });

  test('rejects a line without a colon', () => {
    const head = [...HEAD.slice(0, 5), 'no colon', ...HEAD.slice(5)];
    expect(refusal(wire(head))).toMatchObject({ status: 400, reason: 'Malformed Header Field' });
    expect(refusal(wire(head))?.respondable?.cseq.method).toBe('OPTIONS');
  });

  test('trims blanks around name and value', () => {
    const request = parsedRequest(wire([...HEAD, 'Subject \t: \t a  b\t ', 'X-Empty: \t ']));
    expect([request.header('subject'), request.header('x-empty')]).toEqual(['a  b', '']);
  });

  test('accepts header names that equal object properties', () => {
    const request = parsedRequest(wire([...HEAD, 'constructor: x', 'toString: y']));
    expect(request.header('constructor')).toBe('x');
    expect(createResponse(request, 200).header('constructor')).toBeUndefined();
  });

  test('ends the head at the first empty line, whatever line breaks the body has', () => {
    const usual = parsedRequest(Buffer.from(`${HEAD.join('\r\n')}\r\n\r\na\n\nb`));
    expect([usual.callId, usual.bodyText]).toEqual(['c', 'a\n\nb']);
    const bare = parsedRequest(Buffer.from(`${HEAD.join('\n')}\n\na\r\n\r\nb`));
    expect([bare.callId, bare.bodyText]).toEqual(['c', 'a\r\n\r\nb']);
  });

  test('reads a replacement character of the sender as UTF-8', () => {
    const request = parsedRequest(wire([...HEAD, 'Subject: \u00fc \ufffd']));
    expect(request.header('subject')).toBe('\u00fc \ufffd');
  });

  test('accepts lines that end in a bare LF', () => {
    const request = parsedRequest(Buffer.from(`${HEAD.join('\n')}\nContent-Length: 2\n\nab`));
    expect([request.callId, request.bodyText]).toEqual(['c', 'ab']);
  });

  test('rejects a lone CR inside a value, which would forge a header in a response', () => {
    expect(refusal(wire([...HEAD, 'Subject: a\rVia: forged']))?.status).toBe(400);
  });

  test('§18.3: cuts a datagram longer than Content-Length and rejects a shorter one', () => {
    expect(parsed(wire([...HEAD, 'l: 3'], 'abcdef')).bodyText).toBe('abc');
    expect(refusal(wire([...HEAD, 'l: 7'], 'abcdef'))).toMatchObject({ status: 400 });
    expect(parsed(wire(HEAD, 'abcdef')).bodyText).toBe('abcdef');
  });

  test('reads headers that are not UTF-8 as Latin-1', () => {
    const bytes = Buffer.from(wire([...HEAD, 'Subject: Gr\u00fcn']).toString('utf8'), 'latin1');
    expect(parsed(bytes).header('subject')).toBe('Gr\u00fcn');
  });

  test.each([
    ['513 above 65,535 bytes', wire([...HEAD, 'l: 66000'], 'x'.repeat(66_000)), 513],
    [
      '400 above 256 header fields',
      wire([...HEAD, ...Array<string>(MAX_HEADER_FIELDS).fill('X: y')]),
      400,
    ],
    [
      '400 above 8,192 characters a header',
      wire([...HEAD, `X: ${'y'.repeat(MAX_HEADER_LENGTH)}`]),
      400,
    ],
    ['400 without the empty line', Buffer.from(HEAD.join('\r\n')), 400],
    ['400 with a header name that is not a token', wire([...HEAD, 'X Y: z']), 400],
    ['505 for another version', wire(['OPTIONS sip:b@x SIP/3.0', ...HEAD.slice(1)]), 505],
  ])('limit or fault: %s', (_title, bytes, status) => {
    expect(refusal(bytes)?.status).toBe(status);
  });

  test('accepts messages at the limits', () => {
    const fields = Array<string>(MAX_HEADER_FIELDS - HEAD.length + 1).fill('X: y');
    expect(parsed(wire([...HEAD, ...fields])).fields).toHaveLength(MAX_HEADER_FIELDS);
    const filler = MAX_MESSAGE_BYTES - wire(HEAD).length;
    expect(parsed(wire(HEAD, 'x'.repeat(filler))).body).toHaveLength(filler);
  });

  test('answers a faulty request, but not an ACK, a response, or a request without Via', () => {
    const bad = 'X Y: z';
    expect(refusal(wire([...HEAD, bad]))?.respondable?.method).toBe('OPTIONS');
    expect(
      refusal(wire(['ACK sip:b@x SIP/2.0', ...HEAD.slice(1), bad]))?.respondable,
    ).toBeUndefined();
    expect(refusal(wire(['SIP/2.0 200 OK', ...HEAD.slice(1), bad]))?.respondable).toBeUndefined();
    expect(refusal(wire([HEAD[0] ?? '', bad]))?.respondable).toBeUndefined();
  });

  test('never throws for arbitrary bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void parseMessage(bytes)));
    const valid = wire(HEAD, 'body');
    fc.assert(
      fc.property(fc.nat(valid.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const bytes = Buffer.from(valid);
        bytes[at] = byte;
        const result = parseMessage(bytes);
        if (result.ok && result.message.kind === 'request') validateRequest(result.message);
      }),
    );
  });
});

const TOKEN_CHARS = [..."abzAZ09-.!%*_+`'~"];
const token = fc.string({ unit: fc.constantFrom(...TOKEN_CHARS), minLength: 1, maxLength: 12 });
const value = fc
  .string({ unit: 'grapheme', maxLength: 40 })
  .map((text) => text.replace(/[\r\n\ufffd]/g, '').replace(/^[ \t]+|[ \t]+$/g, ''));
const header = fc.tuple(
  token.filter((name) => !/^(l|content-length)$/i.test(name)),
  value,
);

describe('serialising', () => {
  test('parse ∘ serialize is the identity', () => {
    const property = fc.property(
      token.filter((name) => !/^sip\//i.test(name)),
      fc.array(header, { maxLength: 8 }),
      fc.uint8Array({ maxLength: 60 }),
      (method, headers, body) => {
        const request = createRequest({ method, requestUri: 'sip:b@x', headers, body });
        const again = parsedRequest(serialize(request));
        expect(again.method).toBe(method);
        expect(again.fields.slice(0, -1)).toEqual(request.fields);
        expect(Buffer.from(again.body)).toEqual(Buffer.from(body));
        expect(serialize(again)).toEqual(serialize(request));
      },
    );
    fc.assert(property);
  });

  test('always writes the correct Content-Length', () => {
    const request = sketch({ extra: [['Content-Length', '999']] });
    expect(parsedRequest(serialize(request)).headers('content-length')).toEqual(['0']);
  });

  test('throws BugError for a line break in a local value', () => {
    expect(() => sketch({ extra: [['Subject', 'a\r\nVia: forged']] })).toThrow(/line break/);
  });
});

describe('messages', () => {
  test('finds headers in any spelling and over several lines', () => {
    const message = parsed(
      wire([...HEAD, 'v: SIP/2.0/UDP b, SIP/2.0/UDP c', 'ALLOW: INVITE, , ACK']),
    );
    expect(message.list('Via')).toHaveLength(3);
    expect(message.tokens('allow')).toEqual(['invite', 'ack']);
    expect(message.header('t')).toBe('<sip:bob@example.com>');
  });

  test('changes create a new message and leave the old one unchanged', () => {
    const request = sketch();
    const changed = request
      .withHeader('Max-Forwards', '69')
      .withAddedHeader('Supported', 'timer')
      .withPrependedHeader('Via', 'SIP/2.0/UDP new;branch=z9hG4bKn')
      .withoutHeader('contact')
      .withBody(Buffer.from('x'), 'text/plain');
    expect(request.maxForwards).toBe(70);
    expect([changed.maxForwards, changed.via.host, changed.contacts]).toEqual([69, 'new', []]);
    expect(changed.list('via')).toHaveLength(2);
    expect(changed.contentType?.essence).toBe('text/plain');
  });

  test('replaces only the topmost Via, even on a shared line', () => {
    const message = sketch({ via: 'SIP/2.0/UDP a;branch=z9hG4bK1, SIP/2.0/UDP b' });
    const changed = message.withTopHeader('Via', 'SIP/2.0/UDP z;branch=z9hG4bK2');
    expect(changed.list('via')).toEqual(['SIP/2.0/UDP z;branch=z9hG4bK2', 'SIP/2.0/UDP b']);
  });

  test('one malformed Contact makes the whole header unusable', () => {
    expect(sketch({ extra: [['Contact', '<sip:x']] }).contacts).toBeUndefined();
  });
});

describe('responses (RFC 3261 §8.2.6)', () => {
  const request = sketch({
    extra: [
      ['Record-Route', '<sip:p1;lr>'],
      ['Record-Route', '<sip:p2;lr>'],
      ['Timestamp', '54'],
    ],
  }).withPrependedHeader('Via', 'SIP/2.0/UDP proxy;branch=z9hG4bKp');

  test('§8.2.6.2: copies From, Call-ID, CSeq and all Via in order from the request', () => {
    const response = createResponse(request, 404, { toTag: 't' });
    for (const name of ['via', 'from', 'call-id', 'cseq']) {
      expect(response.headers(name)).toEqual(request.headers(name));
    }
    expect(response.reason).toBe('Not Found');
  });

  test('copies a repeated single header only once', () => {
    const many = sketch({ extra: Array.from({ length: 50 }, () => ['CSeq', '1 INVITE'] as const) });
    const response = createResponse(many, 400, { toTag: 't' });
    for (const name of ['from', 'to', 'call-id', 'cseq']) {
      expect(response.headers(name)).toHaveLength(1);
    }
  });

  test('§8.2.6.2: adds a tag to To unless it has one or the status is 100', () => {
    expect(createResponse(request, 180, { toTag: 't' }).to.tag).toBe('t');
    expect(createResponse(request, 100, { toTag: 't' }).to.tag).toBeUndefined();
    expect(createResponse(sketch({ toTag: 'own' }), 200, { toTag: 't' }).to.tag).toBe('own');
  });

  test('§12.1.1: copies Record-Route into responses that may create a dialog; §8.2.6.1: Timestamp into a 100', () => {
    expect(createResponse(request, 200, { toTag: 't' }).recordRoute).toHaveLength(2);
    expect(createResponse(request, 183, { toTag: 't' }).recordRoute).toHaveLength(2);
    expect(createResponse(request, 486, { toTag: 't' }).recordRoute).toHaveLength(0);
    expect(createResponse(request, 100).header('timestamp')).toBe('54');
    expect(createResponse(request, 200).header('timestamp')).toBeUndefined();
  });

  test('parses a response with its status and phrase', () => {
    const message = parsed(
      serialize(createResponse(request, 486, { toTag: 't', reason: 'Besetzt \u00fc' })),
    );
    expect(message).toBeInstanceOf(SipResponse);
    expect(message).not.toBeInstanceOf(SipRequest);
    expect(message.kind === 'response' && [message.status, message.reason]).toEqual([
      486,
      'Besetzt \u00fc',
    ]);
  });
});
