import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/base/system-random.ts';
import { Engine } from '../../../src/edge/store/engine.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-page-cache-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (role: 'writer' | 'reader'): Engine =>
  new Engine({
    file: join(folder, 'carillon.db'),
    role,
    synchronous: 'normal',
    checkpoints: 'elsewhere',
    key: new Uint8Array(32),
    random: systemRandom,
  });

describe('page cache', () => {
  it('is small where commits look through it, and large where lists and sums are read', () => {
    const writer = open('writer');
    const reader = open('reader');
    // Negative: KiB.
    expect(writer.pragma('cache_size')).toBe(-2000);
    expect(reader.pragma('cache_size')).toBe(-24_000);
    reader.close();
    writer.close();
  });
});
