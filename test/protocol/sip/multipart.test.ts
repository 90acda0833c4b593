import { describe, expect, it } from 'vitest';
import { partOf } from '../../../src/protocol/sip/dialog/multipart.ts';
import { parseMediaType } from '../../../src/protocol/sip/header/values.ts';

const WANTED = 'text/plain';
const part = (boundary: string, head: string, body: string): string =>
  `--${boundary}\r\n${head}\r\n\r\n${body}\r\n`;
const found = (text: string, boundary: string): string | undefined => {
  const type = parseMediaType(`multipart/mixed;boundary="${boundary}"`);
  return type && partOf(text, type, WANTED);
};

/** A text in multipart bodies inside each other. */
const nested = (depth: number): string =>
  part(
    `b${depth}`,
    depth === 1
      ? `Content-Type: ${WANTED}`
      : `Content-Type: multipart/mixed;boundary=b${depth - 1}`,
    depth === 1 ? 'hello' : `${nested(depth - 1)}--b${depth - 1}--`,
  );

describe('a part of a multipart body', () => {
  it('is found in at most three levels', () => {
    expect(found(nested(3), 'b3')).toBe('hello');
    expect(found(nested(4), 'b4')).toBeUndefined();
  });

  it('is not found behind 16 others, after the last delimiter or in a longer boundary', () => {
    const others = part('b', 'Content-Type: text/html', '').repeat(16);
    const wanted = part('b', 'Content-Type: text/plain', 'hello');
    expect(found(others.slice(0, others.length / 2) + wanted, 'b')).toBe('hello\r\n');
    expect(found(others + wanted, 'b')).toBeUndefined();
    expect(found(`${part('b', '', '')}--b--\r\n${wanted}`, 'b')).toBeUndefined();
    expect(found(part('bb', 'Content-Type: text/plain', 'hello'), 'b')).toBeUndefined();
  });

  it('may have any character of RFC 2046 in its boundary, and a folded header', () => {
    const boundary = "a'()+_,-./:=? z";
    const head = 'content-type :\r\n text/plain; charset=utf-8';
    expect(found(part(boundary, head, 'hello'), boundary)).toBe('hello\r\n');
  });
});
