/** The tables of docs/guides/plivo.md name what the tests call, and nothing else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const page = readFileSync(join(ROOT, 'docs/guides/plivo.md'), 'utf8');
const calls = readFileSync(join(ROOT, 'test/edge/rest/plivo-sdk.test.ts'), 'utf8');

const sectionOf = (title: string): string =>
  page.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';

it('every method that is said to work or to differ is called in a test, and every called one is there', () => {
  const works = sectionOf('Works')
    .split('\n')
    .flatMap((line) => {
      const [object, ...methods] = [...line.matchAll(/`(\w+)`/g)].map(([, name]) => name);
      return methods.map((method) => `${object}.${method}`);
    });
  const differs = [...sectionOf('Differs').matchAll(/^\| `([\w.]+)` /gm)].map(([, name]) => name);
  const called = [...calls.matchAll(/client\.(\w+\.\w+)\(/g)].map(([, name]) => name);
  expect([...works, ...differs].sort()).toEqual([...new Set(called)].sort());
});
