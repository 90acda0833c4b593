import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Spool } from '../../../src/edge/store/spool.ts';
import type { Unit } from '../../../src/edge/store/unit.ts';
import { Vault } from '../../../src/edge/store/vault.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-spool-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const unit = (operation: string): Unit => ({
  repository: 'calls',
  operation,
  given: [],
  nowUs: 0,
});

it('sets a damaged line aside and keeps the other units in order', async () => {
  const vault = new Vault(Buffer.alloc(32, 7));
  const first = new Spool(folder, vault, 100_000);
  for (const name of ['a', 'b', 'c']) await first.add(unit(name));
  await first.close();
  const file = join(folder, 'units');
  const lines = readFileSync(file, 'utf8').split('\n');
  lines[1] = 'AAAA';
  writeFileSync(file, lines.join('\n'));
  const again = new Spool(folder, vault, 100_000);
  expect(again.next(10).map((one) => one?.operation)).toEqual(['a', undefined, 'c']);
  const path = again.setAside(3);
  expect(readFileSync(path ?? '', 'utf8')).toBe('AAAA\n');
  again.done(3);
  expect(again.size).toBe(0);
  expect(again.setAside(3)).toBeUndefined();
  await again.close();
});
