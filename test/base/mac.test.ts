import { expect, it } from 'vitest';
import { hmacSha256, Mac } from '../../src/base/hash.ts';

it.each([0, 1, 32, 64])('is HMAC-SHA-256 with a key of %i bytes', (length) => {
  const key = Uint8Array.from({ length }, (_, i) => i * 3 + 1);
  for (const text of ['', 'abc', 'ü'.repeat(200), 'ü'.repeat(400)]) {
    expect(new Mac(key).of(text)).toEqual(hmacSha256(key, text));
  }
});
