/** Compares the tables in docs/guides/plivo.md with the methods that the tests call. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const page = readFileSync(join(ROOT, 'docs/guides/plivo.md'), 'utf8');
const calls = readFileSync(join(ROOT, 'test/edge/rest/plivo-sdk.test.ts'), 'utf8');

const sectionOf = (title: string): string =>
  page.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';

it('the documented methods are exactly those called in tests', () => {
  const works = sectionOf('Supported methods')
    .split('\n')
    .flatMap((line) => {
      const [object, ...methods] = [...line.matchAll(/`(\w+)`/g)].map(([, name]) => name);
      return methods.map((method) => `${object}.${method}`);
    });
  const differs = [...sectionOf('Methods with differences').matchAll(/^\| `([\w.]+)` /gm)].map(
    ([, name]) => name,
  );
  const called = [...calls.matchAll(/client\.(\w+\.\w+)\(/g)].map(([, name]) => name);
  expect([...works, ...differs].sort()).toEqual([...new Set(called)].sort());
});
