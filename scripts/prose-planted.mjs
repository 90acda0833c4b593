// Proves that the prose rules report bad phrases.
import { findings } from './prose.mjs';

/** Requires that the prose rules report each planted phrase, in each kind of text, and accept plain English. */
export function proseBites() {
  const bad = 'The caller is told at once.';
  const planted = [
    ['docs/planted.md', `A page.\n\n- ${bad}\n`],
    ['docs/planted.md', `| setting | use |\n|-|-|\n| a | ${bad} |\n`],
    ['docs/planted.md', `${'word '.repeat(31)}.\n`],
    ['src/planted.ts', `const a = 1;\n/**\n * The caller is\n * told later.\n */\n`],
    ['src/planted.ts', `// The caller is\n// told later.\n`],
    ['native/planted.hpp', `int a;  // ${bad}\n`],
    ['web/phone/planted.tsx', `const label = '${bad}';\n`],
    ['web/phone/planted.tsx', `const row = <p>${bad}</p>;\n`],
    ['test/planted.test.ts', `it('is told at once', () => {});\n`],
    ['test/planted.test.ts', `it.each([1])('is told at once', () => {});\n`],
  ];
  const plain = [
    ['docs/plain.md', 'The service notifies the caller. `is told at once` is code.\n'],
    ['test/plain.test.ts', `const name = 'is told at once';\n`],
  ];
  const missed = planted.filter(([file, text]) => findings(file, text).length === 0);
  const wrong = plain.filter(([file, text]) => findings(file, text).length > 0);
  const lines = [
    ...missed.map(([file, text]) => `not reported in ${file}: ${text.trim()}`),
    ...wrong.map(([file, text]) => `reported in ${file}: ${text.trim()}`),
  ];
  return { ok: lines.length === 0, output: lines.join('\n') };
}
