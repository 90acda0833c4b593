import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ownCopy, pieces } from '../../src/base/text.ts';

const MESSAGE_BYTES = 1024 * 1024;
const MESSAGES = 40;

it('copies a text without keeping the original in memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const before = process.memoryUsage().heapUsed;
  const retained = Array.from({ length: MESSAGES }, (_, i) => {
    const message = Buffer.alloc(MESSAGE_BYTES, `call ${i} with ü `).toString('utf8');
    return ownCopy(message.slice(0, 20));
  });
  collect();
  expect(retained[7]).toMatch(/^call 7 with ü call/);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(MESSAGES * MESSAGE_BYTES * 0.5);
});

it('splits a text between words into pieces of a maximum length, without splitting a character', () => {
  expect(pieces('one two three', 8)).toEqual(['one two', 'three']);
  expect(pieces('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
  expect(pieces('  ', 4)).toEqual([]);
  const texts = fc.array(fc.constantFrom('a', 'é', '😀', ' ', 'م'), { maxLength: 60 });
  fc.assert(
    fc.property(texts, fc.integer({ min: 2, max: 9 }), (characters, max) => {
      const text = characters.join('');
      const found = pieces(text, max);
      expect(found.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
      for (const piece of found) {
        expect(piece.length).toBeLessThanOrEqual(max);
        expect(piece.isWellFormed()).toBe(true);
        expect(piece).toBe(piece.trim());
      }
    }),
  );
});
