import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { hmacSha256, Mac } from '../../src/base/hash.ts';

const TEXTS = ['', 'abc', 'ü'.repeat(200), 'ü'.repeat(2000), 'ü'.repeat(2001)];
const byNode = (key: string | Uint8Array, text: string): Buffer =>
  createHmac('sha256', key).update(text, 'utf8').digest();

it.each([0, 1, 32, 64, 65, 200])('computes HMAC-SHA-256 with a key of %i bytes', (length) => {
  const key = Uint8Array.from({ length }, (_, i) => i * 3 + 1);
  const mac = new Mac(key);
  for (const text of TEXTS) {
    expect(mac.of(text)).toEqual(byNode(key, text));
    expect(hmacSha256(key, text)).toEqual(byNode(key, text));
  }
});

it('accepts text keys and distinguishes keys', () => {
  for (const text of TEXTS)
    for (const key of ['', 'a', 'b', 'ü'.repeat(40), 'a'])
      expect(hmacSha256(key, text)).toEqual(byNode(key, text));
});

it('matches RFC 4231, test cases 2 and 6', () => {
  expect(hmacSha256('Jefe', 'what do ya want for nothing?').toString('hex')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
  const text = 'Test Using Larger Than Block-Size Key - Hash Key First';
  expect(hmacSha256(new Uint8Array(131).fill(0xaa), text).toString('hex')).toBe(
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  );
});
