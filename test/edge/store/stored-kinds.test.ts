/** Compares the shapes of stored JSON with the recorded ones. A changed shape needs a new version. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { STORED_KINDS } from '../../../src/edge/store/stored-kinds.ts';

const FILE = join(import.meta.dirname, 'stored-kinds.json');
const recorded: Readonly<Record<string, string>> = JSON.parse(readFileSync(FILE, 'utf8'));

it('changes a shape only with its version (UPDATE_SHAPES=1 records a new version)', () => {
  const current = Object.fromEntries(
    STORED_KINDS.map(({ name, version, shape }) => [`${name} @${version}`, shape.text]),
  );
  const merged = { ...current, ...recorded };
  if (process.env['UPDATE_SHAPES'] === '1')
    writeFileSync(FILE, `${JSON.stringify(merged, undefined, 2)}\n`);
  else expect(recorded).toEqual(merged);
  expect(merged, 'raise the version and add an upgrade').toMatchObject(current);
});

it('gives every kind a unique name', () => {
  expect(new Set(STORED_KINDS.map(({ name }) => name)).size).toBe(STORED_KINDS.length);
});

it('knows where every kind is stored', () => {
  const folder = join(import.meta.dirname, '../../../src/edge/store/sql');
  const columns = readdirSync(folder).flatMap((file) => {
    const source = readFileSync(join(folder, file), 'utf8');
    return [...source.matchAll(/\bstored\('(\w+)'/g)].map(([, column]) => column);
  });
  const known = STORED_KINDS.flatMap(({ places }) => places).map((place) => place.split('.')[1]);
  expect(columns.length).toBeGreaterThan(20);
  expect(columns.filter((column) => !known.includes(column))).toEqual([]);
});
