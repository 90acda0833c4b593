import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { parseAnswerXml } from '../../../src/protocol/answer-xml/answer-xml.ts';
import { MAX_DOCUMENT_BYTES } from '../../../src/protocol/answer-xml/limits.ts';
import { DocumentRefused, Positions } from '../../../src/protocol/answer-xml/problem.ts';
import { checkWellFormed } from '../../../src/protocol/answer-xml/well-formed.ts';
import { cpuTimeMs } from '../../cpu-time.ts';

const ours = (text: string): boolean => {
  try {
    checkWellFormed(text);
    return true;
  } catch (error) {
    if (error instanceof DocumentRefused) return false;
    throw error;
  }
};

const saxes = (text: string): boolean => {
  try {
    new SaxesParser().write(text).close();
    return true;
  } catch {
    return false;
  }
};

/** Fragments that are combined in arbitrary order. */
const piece = fc.constantFrom(
  '<Response>',
  '</Response>',
  '<Response/>',
  '<a',
  '<a>',
  '</a>',
  '</a >',
  ' x="1"',
  " y='2'",
  ' x = "é"',
  'x="3"',
  ' x=4',
  ' x',
  '"',
  "'",
  '&',
  '&amp;',
  '&lt;',
  '&bogus;',
  '&#65;',
  '&#x41;',
  '&#X41;',
  '&#0;',
  '&#xFFFF;',
  '&#1114112;',
  '&#;',
  '<!--',
  '-->',
  '--',
  '<!---->',
  '<![CDATA[',
  ']]>',
  '<?pi some?>',
  '<?pi?>',
  '<?',
  '?>',
  '<?xml version="1.0"?>',
  '<?xml version="1.0" encoding="UTF-8" ?>',
  '<?xml encoding="UTF-8"?>',
  '/>',
  '>',
  '<',
  '=',
  '/',
  ' ',
  '\n',
  '\r\n',
  '\t',
  'text',
  '\u0001',
  '\u007f',
  '\uFFFE',
  '😀',
  'é',
  '<é/>',
  '<-a/>',
  '<a:b/>',
  '<1/>',
);

describe('well-formedness (XML 1.0)', () => {
  it('accepts the same documents as a conforming parser, for any order of fragments', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        expect({ text, accepted: ours(text) }).toEqual({ text, accepted: saxes(text) });
      }),
      { numRuns: 4000 },
    );
  });

  it.each([
    ['CDATA in front of the root', '<![CDATA[ ]]><Response/>'],
    ['CDATA behind the root', '<Response/><![CDATA[ ]]>'],
    ['text behind the root', '<Response/>&#32;'],
    ['a second root', '<Response/><Response/>'],
    ['an end tag behind the root', '<Response/></Response>'],
    ['a document type', '<!doctype html><Response/>'],
    ['a surrogate as character number', '<Response>&#xD800;</Response>'],
    ['a bare & behind an entity', '<Response>&amp;&</Response>'],
    ['attributes without white space', '<Response a="1"b="2"/>'],
    ['a declaration behind a line break', '\n<?xml version="1.0"?><Response/>'],
    ['only a comment', '<!-- -->'],
  ])('rejects %s, like a conforming parser', (_what, text) => {
    expect([ours(text), saxes(text)]).toEqual([false, false]);
  });

  it('accepts comments, processing instructions and white space around the root', () => {
    const text = '<?xml version="1.0"?>\n<!-- a --><?b c?>\r\n<Response/>\t<!-- d --><?e?> ';
    expect([ours(text), saxes(text)]).toEqual([true, true]);
  });

  it('accepts the same content inside a root element, for any order of fragments', () => {
    let count = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = `<Response>${pieces.join('')}</Response>`;
        const accepted = ours(text);
        expect({ text, accepted }).toEqual({ text, accepted: saxes(text) });
        if (accepted) count += 1;
      }),
      { numRuns: 4000 },
    );
    expect(count).toBeGreaterThan(100);
  });

  it('accepts no one-character mutation that a conforming parser rejects', () => {
    const document =
      '<?xml version="1.0"?>\n<Response>\n<Speak voice="WOMAN">a &amp; b<!-- c --></Speak><Play loop=\'2\'>https://a.example/?x=1&amp;y=2</Play></Response>';
    let accepted = 0;
    fc.assert(
      fc.property(
        fc.nat(document.length - 1),
        fc.constantFrom('<', '>', '&', '"', "'", '=', '/', ' ', ';', '!', '-', '?', 'a', ''),
        (at, character) => {
          const text = document.slice(0, at) + character + document.slice(at + 1);
          if (!parseAnswerXml(text, { allowInsecureStreams: false }).ok) return;
          accepted += 1;
          expect(saxes(text)).toBe(true);
        },
      ),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});

describe('arbitrary input', () => {
  // The reference parser accepts a lone surrogate followed by another character, so it cannot serve as reference here.
  it.each(['\uD800', '\uDC00', '\uDC00\uD800'])('rejects a lone surrogate (§2.2)', (lone) => {
    expect(ours(`<Response>${lone}</Response>`)).toBe(false);
  });

  it('never throws for random bytes and reports a position inside the document', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes).toString('utf8')),
          fc.string({ unit: 'binary', maxLength: 200 }),
          fc.array(piece, { maxLength: 40 }).map((pieces) => `<Response>${pieces.join('')}`),
        ),
        (text) => {
          const result = parseAnswerXml(text, { allowInsecureStreams: true });
          if (result.ok) return;
          expect(result.error.line).toBeGreaterThan(0);
          expect(result.error.line).toBeLessThanOrEqual(text.split(/\r\n?|\n/).length);
          expect(result.error.column).toBeGreaterThan(0);
          expect(result.error.message).not.toBe('');
          expect(result.error.expected).not.toBe('');
        },
      ),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['an element named __proto__', '<Response><__proto__/></Response>'],
    ['an attribute named __proto__', '<Response><Hangup __proto__="1"/></Response>'],
    ['an element named constructor', '<Response><constructor/></Response>'],
    ['an element named toString', '<Response><toString/></Response>'],
  ])('rejects %s without side effects', (_what, text) => {
    expect(parseAnswerXml(text, { allowInsecureStreams: false }).ok).toBe(false);
    expect(Object.hasOwn(Object.prototype, '1')).toBe(false);
  });

  it('limits the size of a document in bytes of UTF-8', () => {
    const document = (fill: string): string => `<Response><!--${fill}--></Response>`;
    const free = MAX_DOCUMENT_BYTES - document('').length;
    expect(ours(document('a'.repeat(free)))).toBe(true);
    expect(ours(document('a'.repeat(free + 1)))).toBe(false);
    expect(ours(document(`${'a'.repeat(free - 2)}é`))).toBe(true);
    expect(ours(document(`${'a'.repeat(free - 1)}é`))).toBe(false);
  });

  it('bounds the cost of many attributes, deep nesting and large size', () => {
    const bombs = [
      `<Response ${Array.from({ length: 9000 }, (_, i) => `a${i}="1"`).join(' ')}/>`,
      '<Response>'.repeat(9000),
      '<a>'.repeat(30_000),
      `<Response>${'&amp;'.repeat(20_000)}</Response>`,
      `<Response><Speak>${' '.repeat(101_000)}</Speak></Response>`,
      `<Response><Dial digitsMatch="${'1,'.repeat(40_000)}1"><Number>1</Number></Dial></Response>`,
      `<${'a'.repeat(100_000)}`,
      `<Response><!--${'-'.repeat(100_000)}`,
    ];
    const timeMs = cpuTimeMs(() => {
      for (const bomb of bombs) parseAnswerXml(bomb, { allowInsecureStreams: false });
    });
    expect(timeMs).toBeLessThan(1000);
  });
});

describe('places', () => {
  it.each([
    ['LF', 'a\nbc'],
    ['CR', 'a\rbc'],
    ['CRLF', 'a\r\nbc'],
  ])('ends a line with %s (XML 1.0 §2.11)', (_name, text) => {
    expect(new Positions(text).at(text.indexOf('c'))).toEqual({ line: 2, column: 2 });
  });
});
