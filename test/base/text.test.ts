import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isBase64, ownCopy, pieces } from '../../src/base/text.ts';

const TEXT = join(import.meta.dirname, '../../src/base/text.ts');
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

it.each([
  ['', true],
  ['QUJD', true],
  ['+/==', true],
  ['QUI=', true],
  ['QUJD===', false],
  ['QU=D', false],
  ['QUJD\n', false],
  ['QUJ-', false],
])('base64: %j is %s', (text, expected) => {
  expect(isBase64(text)).toBe(expected);
});

it('base64 of any length does not exhaust the stack of a regular expression', () => {
  // V8 no longer optimizes expressions in a process that has compiled many of them.
  const script = `
    const { isBase64 } = await import(${JSON.stringify(TEXT)});
    console.log(isBase64('QUJD'.repeat(8 * 2 ** 20)), isBase64('QUJD'.repeat(8 * 2 ** 20) + '-'));`;
  const flags = ['--no-regexp-optimization', '--input-type=module', '--eval', script];
  expect(execFileSync(process.execPath, flags, { encoding: 'utf8' })).toBe('true false\n');
});
