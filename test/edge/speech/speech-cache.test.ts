import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SpeechCache } from '../../../src/edge/speech/speech-cache.ts';
import { changesOf, powerLossMissing } from '../../crash/power-loss.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-speech-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.skipIf(powerLossMissing !== undefined)(
  'speech is on the disk before it has its final name, so that a power failure leaves no empty speech (needs cc)',
  async () => {
    const cache = join(folder, 'cache');
    const program = `
      import { SpeechCache } from './src/edge/speech/speech-cache.ts';
      const cache = await SpeechCache.open('${cache}', 1000);
      await cache.put('a', Buffer.from('samples'));`;
    expect(changesOf(program, cache, folder)).toEqual([
      ...['write /a.tmp', 'sync /a.tmp', 'rename /a.tmp'],
    ]);
    const reopened = await SpeechCache.open(cache, 1000);
    expect(Buffer.from((await reopened.get('a')) ?? []).toString()).toBe('samples');
  },
);
